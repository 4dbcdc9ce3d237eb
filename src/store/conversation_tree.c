/* The records of a journal form a tree by parentUuid; the newest one's ancestors are the conversation. */
#include <stdlib.h>

#include "store/conversation_impl.h"
#include "store/journal_scan.h"
#include "store/records.h"

#define NONE ((size_t)-1)

struct node {
    int64_t offset;
    uint64_t uuid, parent; /* hashes; parent 0: it names none */
    uint64_t answer;       /* hash of the answer's id, 0: none */
    uint32_t len;
    bool root; /* parentUuid is null */
    bool message, user, blocks, boundary, on_path;
};

struct tree {
    struct node *nodes;
    size_t n, cap;
    size_t unread; /* lines that are no records, or messages without an id */
    /* open addressing, uuid to node + 1; made when the order of the file is not enough */
    size_t *slots;
    size_t n_slots;
};

static uint64_t
hash_of(struct str s)
{
    uint64_t h = s.len ? str_hash(s) : 0;
    return s.len && !h ? 1 : h;
}

/* ---- one record ---- */

enum { TYPE, UUID, PARENT, SIDE, ANSWER, SUBTYPE, LOGICAL, HEADS };

static void
add_node(struct tree *t, const struct journal_want *w, struct str line, int64_t offset)
{
    struct str uuid = journal_plain(w[UUID].raw), type = journal_plain(w[TYPE].raw);
    struct str parent = journal_plain(w[PARENT].raw);
    /* Sub-agents of other programs write into the same file. */
    if (!uuid.len || str_is(w[SIDE].raw, "true"))
        return;
    ARRAY_GROW(t->nodes, t->n, t->cap);
    struct node *n = &t->nodes[t->n++];
    *n = (struct node){.offset = offset,
                       .uuid = hash_of(uuid),
                       .parent = hash_of(parent),
                       .len = (uint32_t)line.len,
                       .root = str_is(w[PARENT].raw, "null"),
                       .user = str_is(type, "user")};
    n->message = n->user || str_is(type, "assistant");
    n->boundary =
        str_is(type, "system") && str_is(journal_plain(w[SUBTYPE].raw), "compact_boundary");
    if (n->boundary && n->root)
        n->parent = hash_of(journal_plain(w[LOGICAL].raw));
    if (n->message && !n->user) {
        n->answer = hash_of(journal_plain(w[ANSWER].raw));
        n->blocks = true;
    }
}

/* Answers of other programs come a block a line, all with the id of the answer inside the message. */
static void
look_inside(struct node *n, struct str line)
{
    struct journal_want outer = {.key = "message"}, in[] = {{.key = "id"}, {.key = "content"}};
    journal_scan(line, &outer, 1);
    journal_scan(outer.raw, in, ARRAY_LEN(in));
    if (!n->answer)
        n->answer = hash_of(journal_plain(in[0].raw));
    n->blocks = str_starts(in[1].raw, "[") && str_starts(str_trim(str_sub(in[1].raw, 1, 64)), "{");
}

/* A message that nothing can hang on, and that hangs on nothing. */
static bool
is_lost(const struct journal_want *w)
{
    struct str type = journal_plain(w[TYPE].raw);
    return (str_is(type, "user") || str_is(type, "assistant")) && !journal_plain(w[UUID].raw).len &&
           !str_is(w[SIDE].raw, "true");
}

static void
take_line(struct tree *t, struct str line, int64_t offset, conversation_note note, void *user)
{
    struct journal_want w[HEADS] = {[TYPE] = {.key = "type"},
                                    [UUID] = {.key = "uuid"},
                                    [PARENT] = {.key = "parentUuid"},
                                    [SIDE] = {.key = "isSidechain"},
                                    [ANSWER] = {.key = "apiId"},
                                    [SUBTYPE] = {.key = "subtype"},
                                    [LOGICAL] = {.key = "logicalParentUuid"}};
    if (!journal_scan_head(line, w, HEADS, "message")) {
        t->unread++;
        return;
    }
    /* In yare's own records all that matters stands before the message, which need not be looked at. */
    bool own = w[TYPE].raw.ptr && w[UUID].raw.ptr && w[PARENT].raw.ptr && !w[SIDE].raw.ptr;
    if (!own)
        journal_scan(line, w, HEADS);
    t->unread += !w[TYPE].raw.ptr || is_lost(w);
    size_t before = t->n;
    add_node(t, w, line, offset);
    struct node *n = t->n > before ? &t->nodes[before] : NULL;
    if (n && n->message && !n->user && !own)
        look_inside(n, line);
    if (note && !(n && n->message))
        note(user, journal_plain(w[TYPE].raw), line);
}

/* ---- parents ---- */

static size_t
slot_of(const struct tree *t, uint64_t uuid)
{
    size_t at = (size_t)(uuid ^ (uuid >> 32)) & (t->n_slots - 1);
    while (t->slots[at] && t->nodes[t->slots[at] - 1].uuid != uuid)
        at = (at + 1) & (t->n_slots - 1);
    return at;
}

static void
fill_slots(struct tree *t)
{
    t->n_slots = 64;
    while (t->n_slots < t->n * 2)
        t->n_slots *= 2;
    t->slots = xcalloc(t->n_slots, sizeof *t->slots);
    for (size_t i = 0; i < t->n; i++)
        t->slots[slot_of(t, t->nodes[i].uuid)] = i + 1; /* of two with one uuid the newer counts */
}

static size_t
message_before(const struct tree *t, size_t i)
{
    while (i-- > 0)
        if (t->nodes[i].message)
            return i;
    return NONE;
}

static size_t
parent_of(struct tree *t, size_t i)
{
    const struct node *n = &t->nodes[i];
    if (n->root && !(n->boundary && n->parent))
        return NONE;
    if (!n->parent)
        return message_before(t, i);
    if (!t->slots)
        fill_slots(t);
    size_t found = t->slots[slot_of(t, n->parent)];
    return found ? found - 1 : message_before(t, i);
}

/* The boundary that a compaction left before message i, which hangs on nothing. */
static size_t
boundary_before(const struct tree *t, size_t i)
{
    while (i-- > 0 && !t->nodes[i].message)
        if (t->nodes[i].boundary)
            return i;
    return NONE;
}

/* Marks the newest record's ancestors; a ring ends where it meets itself. Gives the node with which begins what the
 * model still knows. */
static size_t
mark_path(struct tree *t)
{
    size_t i = t->n ? t->n - 1 : NONE, live = NONE;
    bool after =
        false; /* a message stands behind it: a boundary alone is a compaction that did not come about */
    while (i != NONE && !t->nodes[i].on_path) {
        t->nodes[i].on_path = true;
        size_t up = parent_of(t, i);
        if (up == NONE && t->nodes[i].boundary)
            up = message_before(t, i);
        if (t->nodes[i].boundary && live == NONE && after)
            live = i;
        after |= t->nodes[i].message;
        if (up == NONE && t->nodes[i].root)
            up = boundary_before(t, i);
        i = up;
    }
    return live;
}

static void
collect(struct conversation *t, const struct tree *tree, size_t live)
{
    const struct node *last = NULL;
    for (size_t i = 0; i < tree->n; i++) {
        const struct node *n = &tree->nodes[i];
        if (i == live)
            t->live = t->n_messages;
        if (!n->on_path || !n->message)
            continue;
        bool more = last && !last->user && !n->user && n->answer && n->answer == last->answer &&
                    last->blocks && n->blocks;
        conversation_take_entry(t, &(struct conversation_entry){.offset = n->offset,
                                                                .uuid = n->uuid,
                                                                .len = n->len,
                                                                .user = n->user,
                                                                .more = more});
        last = n;
    }
}

bool
conversation_scan(struct conversation *t, conversation_note note, void *user, struct err *err)
{
    struct records l;
    struct tree tree = {0};
    struct str line;
    int64_t offset;
    if (!records_open(&l, t->path, err))
        return false;
    t->torn_bytes = l.torn_bytes;
    while (records_next(&l, &line, &offset))
        take_line(&tree, line, offset, note, user);
    bool ok = records_close(&l, t->path, err);
    t->unread = tree.unread;
    if (ok)
        collect(t, &tree, mark_path(&tree));
    free(tree.nodes);
    free(tree.slots);
    return ok;
}
