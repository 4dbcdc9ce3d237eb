/* The conversation inside a journal: records form a tree by parentUuid, the newest record's ancestors are what counts. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"
#include "store/journal.h"
#include "store/journal_scan.h"

#define NONE ((size_t)-1)

struct node {
    size_t entry;
    struct str uuid, parent; /* parent: ptr NULL when the record names none */
    bool root;               /* parentUuid is null */
    bool message, on_path;
};

struct tree {
    struct node *nodes;
    size_t n, cap;
    size_t *slots; /* open addressing, uuid to node + 1 */
    size_t n_slots;
};

static size_t
slot_of(const struct tree *t, struct str uuid)
{
    uint64_t h = str_hash(uuid);
    size_t at = (size_t)(h ^ (h >> 32)) & (t->n_slots - 1);
    while (t->slots[at] && !str_eq(t->nodes[t->slots[at] - 1].uuid, uuid))
        at = (at + 1) & (t->n_slots - 1);
    return at;
}

static void
add_node(struct tree *t, const struct journal_index *ix, size_t entry)
{
    struct journal_want want[] = {{.key = "uuid"}, {.key = "parentUuid"}, {.key = "isSidechain"}};
    journal_scan(journal_record(ix, entry), want, ARRAY_LEN(want));
    struct str uuid = journal_plain(want[0].raw);
    const char *type = ix->entries[entry].type;
    /* Sub-agents of other programs write into the same file. */
    if (!uuid.len || str_is(want[2].raw, "true"))
        return;
    ARRAY_GROW(t->nodes, t->n, t->cap);
    t->nodes[t->n++] =
        (struct node){.entry = entry,
                      .uuid = uuid,
                      .parent = journal_plain(want[1].raw),
                      .root = str_is(want[1].raw, "null"),
                      .message = !strcmp(type, "user") || !strcmp(type, "assistant")};
}

static void
build_tree(struct tree *t, const struct journal_index *ix)
{
    for (size_t i = 0; i < ix->n; i++)
        add_node(t, ix, i);
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
parent_of(const struct tree *t, size_t i)
{
    const struct node *n = &t->nodes[i];
    if (n->root)
        return NONE;
    size_t found = n->parent.len ? t->slots[slot_of(t, n->parent)] : 0;
    return found ? found - 1 : message_before(t, i);
}

/* Marks the newest record's ancestors; a ring ends where it meets itself. */
static void
mark_path(struct tree *t)
{
    size_t i = t->n ? t->n - 1 : NONE;
    while (i != NONE && !t->nodes[i].on_path) {
        t->nodes[i].on_path = true;
        i = parent_of(t, i);
    }
}

/* A message as the API takes it: role and content alone, byte for byte. Other programs keep more in there. */
static struct message *
parse_message(struct str raw)
{
    struct journal_want want[] = {
        {.key = "role"}, {.key = "content"}, {.key = "id"}, {.key = "model"}};
    if (!journal_scan(raw, want, ARRAY_LEN(want)))
        return NULL;
    if (journal_scan_count(raw) == 2)
        return message_parse(raw, NULL);
    struct buf json;
    struct jw w;
    buf_init(&json, BUF_MAX);
    jw_init(&w, &json);
    jw_object(&w);
    if (want[0].raw.len && want[1].raw.len) {
        jw_kraw(&w, "role", want[0].raw);
        jw_kraw(&w, "content", want[1].raw);
    }
    jw_end(&w);
    struct message *m = buf_full(&json) ? NULL : message_parse(buf_str(&json), NULL);
    if (m && !m->api_id)
        m->api_id = journal_decode(want[2].raw);
    if (m && !m->model)
        m->model = journal_decode(want[3].raw);
    buf_release(&json);
    return m;
}

static struct message *
load_message(const struct journal_index *ix, const struct node *n)
{
    struct journal_want want[] = {{.key = "message"},   {.key = "isMeta"}, {.key = "partial"},
                                  {.key = "timestamp"}, {.key = "model"},  {.key = "apiId"}};
    journal_scan(journal_record(ix, n->entry), want, ARRAY_LEN(want));
    struct message *m = parse_message(want[0].raw);
    if (!m)
        return NULL;
    if (n->uuid.len == UUID_LEN) {
        memcpy(m->uuid, n->uuid.ptr, UUID_LEN);
        m->uuid[UUID_LEN] = '\0';
    }
    m->hidden = str_is(want[1].raw, "true");
    m->partial = str_is(want[2].raw, "true");
    m->wall_ms = journal_time(want[3].raw);
    if (want[4].raw.ptr) {
        free(m->model);
        m->model = journal_decode(want[4].raw);
    }
    if (want[5].raw.ptr) {
        free(m->api_id);
        m->api_id = journal_decode(want[5].raw);
    }
    return m;
}

static bool
has_blocks(const struct message *m)
{
    return m->n_blocks && str_starts(m->blocks[0].raw, "{");
}

static bool
is_continued(const struct message *last, const struct message *m)
{
    return last && last->role == ROLE_ASSISTANT && m->role == ROLE_ASSISTANT && last->api_id &&
           m->api_id && !strcmp(last->api_id, m->api_id) && has_blocks(last) && has_blocks(m);
}

/* One message out of two lines that hold blocks of one answer. Takes both. */
static struct message *
join(struct message *take_a, struct message *take_b)
{
    struct buf json;
    buf_init(&json, BUF_MAX);
    buf_adds(&json, "{\"role\":\"assistant\",\"content\":[");
    const struct message *both[] = {take_a, take_b};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->n_blocks; i++) {
            if (json.data[json.len - 1] != '[')
                buf_addc(&json, ',');
            buf_add_str(&json, both[k]->blocks[i].raw);
        }
    buf_adds(&json, "]}");
    struct message *m = buf_full(&json) ? NULL : message_parse(buf_str(&json), NULL);
    buf_release(&json);
    if (!m) { /* larger than anything may be */
        message_free(take_b);
        return take_a;
    }
    memcpy(m->uuid, take_b->uuid, sizeof m->uuid);
    m->model = take_b->model ? xstrdup(take_b->model) : NULL;
    m->api_id = xstrdup(take_b->api_id);
    m->hidden = take_b->hidden;
    m->partial = take_b->partial;
    m->wall_ms = take_b->wall_ms;
    message_free(take_a);
    message_free(take_b);
    return m;
}

struct message **
journal_messages(const struct journal_index *ix, size_t *ret_n, struct err *err)
{
    struct tree t = {0};
    size_t n = 0, lost = 0;
    (void)err; /* nothing here fails: what cannot be read is left out */
    build_tree(&t, ix);
    mark_path(&t);
    struct message **list = xcalloc(t.n + 1, sizeof *list);
    for (size_t i = 0; i < t.n; i++) {
        if (!t.nodes[i].on_path || !t.nodes[i].message)
            continue;
        struct message *m = load_message(ix, &t.nodes[i]);
        if (!m)
            lost++;
        else if (is_continued(n ? list[n - 1] : NULL, m))
            list[n - 1] = join(list[n - 1], m);
        else
            list[n++] = m;
    }
    if (lost)
        log_warn("store", "%zu message records could not be read", lost);
    free(t.nodes);
    free(t.slots);
    *ret_n = n;
    return list;
}
