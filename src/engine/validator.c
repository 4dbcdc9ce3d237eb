#include "engine/validator.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str_set.h"

/* Lines of the report; the count goes on. */
#define REPORT_MAX 2000
#define ID_MAX 128 /* of a tool_use */
#define NO_RESULT "no result was recorded: the call was interrupted before it finished"
#define NO_START "(the beginning of this conversation is not available)"

struct list {
    const struct message **m; /* each a reference */
    size_t n, cap;
};

void
validator_report_init(struct validator_report *r)
{
    r->changes = 0;
    buf_init(&r->text, REPORT_MAX);
}

void
validator_report_release(struct validator_report *r)
{
    buf_release(&r->text);
}

static void note(struct validator_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
note(struct validator_report *r, const char *fmt, ...)
{
    r->changes++;
    if (r->text.len && !buf_full(&r->text))
        buf_addc(&r->text, '\n');
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&r->text, fmt, ap);
    va_end(ap);
}

static void
push(struct list *l, const struct message *take_m)
{
    ARRAY_GROW(l->m, l->n, l->cap);
    l->m[l->n++] = take_m;
}

static bool
is_blank(struct str s)
{
    return str_trim(s).len == 0;
}

/* The built message with the old one's identity: journals and panes know it by its uuid. */
static const struct message *
finish(struct message_builder *take_b, const struct message *like)
{
    struct message *m = message_build(take_b);
    if (!m || !like)
        return m;
    memcpy(m->uuid, like->uuid, sizeof m->uuid);
    free(m->model);
    free(m->api_id);
    m->model = xstrdup(like->model);
    m->api_id = xstrdup(like->api_id);
    m->hidden = like->hidden;
    m->partial = like->partial;
    m->wall_ms = like->wall_ms;
    return m;
}

/* A message whose content is a bare string has a text block without JSON of its own. */
static void
copy_block(struct message_builder *b, const struct block *blk)
{
    if (blk->kind == BLOCK_TEXT && (!blk->raw.len || blk->raw.ptr[0] != '{'))
        message_add_text(b, blk->text);
    else
        message_add_raw(b, blk->raw);
}

/* ---- pass 1: blocks that may not stand where they stand ---- */

static const char *
why_illegal(const struct message *m, size_t i)
{
    const struct block *b = &m->blocks[i];
    switch (b->kind) {
    case BLOCK_TEXT:
        return is_blank(b->text) ? "an empty text block" : NULL;
    case BLOCK_THINKING:
        if (m->role == ROLE_USER)
            return "a thinking block in a user message";
        return b->signature.len ? NULL : "a thinking block without its signature";
    case BLOCK_REDACTED_THINKING:
        return m->role == ROLE_USER ? "a thinking block in a user message" : NULL;
    case BLOCK_TOOL_USE:
        if (m->role == ROLE_USER)
            return "a tool_use in a user message";
        if (!b->id.len)
            return "a tool_use without an id";
        for (size_t k = 0; k < i; k++)
            if (m->blocks[k].kind == BLOCK_TOOL_USE && str_eq(m->blocks[k].id, b->id))
                return "a second tool_use with the same id";
        return NULL;
    case BLOCK_TOOL_RESULT:
        return m->role == ROLE_ASSISTANT ? "a tool_result in an assistant message" : NULL;
    case BLOCK_OTHER:
        return json_raw_member(b->raw, "type").ptr ? NULL : "a block without a type";
    case BLOCK_IMAGE:
        return NULL;
    }
    return NULL;
}

static bool
is_thinking(const struct block *b)
{
    return b->kind == BLOCK_THINKING || b->kind == BLOCK_REDACTED_THINKING;
}

/* Blocks [0, end) without thinking at the end: the API refuses a message that ends in thinking. */
static size_t
useful_end(const struct message *m)
{
    size_t end = m->n_blocks;
    while (end > 0 && m->role == ROLE_ASSISTANT &&
           (is_thinking(&m->blocks[end - 1]) || why_illegal(m, end - 1)))
        end--;
    return end;
}

static void
drop_illegal(const struct message *m, struct list *out, struct validator_report *r)
{
    size_t end = useful_end(m), bad = m->n_blocks - end;
    for (size_t i = 0; i < end; i++)
        bad += why_illegal(m, i) != NULL;
    if (!bad && m->n_blocks) {
        push(out, message_ref(m));
        return;
    }
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0; i < m->n_blocks; i++) {
        const char *why = i < end ? why_illegal(m, i) : "thinking with nothing after it";
        if (why)
            note(r, "left out %s", why);
        else
            copy_block(b, &m->blocks[i]);
    }
    const struct message *left = finish(b, m);
    if (left)
        push(out, left);
    else
        note(r, "left out a message without content");
}

/* ---- pass 2: neighbours of one role become one message ---- */

static const struct message *
join(const struct message *a, const struct message *b)
{
    struct message_builder *mb = message_builder_new(a->role);
    for (size_t i = 0; i < a->n_blocks; i++)
        copy_block(mb, &a->blocks[i]);
    for (size_t i = 0; i < b->n_blocks; i++)
        copy_block(mb, &b->blocks[i]);
    const struct message *m = finish(mb, a);
    if (m && !b->hidden)
        ((struct message *)m)->hidden = false; /* fresh: nobody else holds it yet */
    return m;
}

static void
merge_roles(struct list *l, struct validator_report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct message *m = l->m[i];
        if (n && l->m[n - 1]->role == m->role) {
            const struct message *both = join(l->m[n - 1], m);
            if (!both) { /* larger than any message may be */
                l->m[n++] = m;
                continue;
            }
            message_free(l->m[n - 1]);
            message_free(m);
            l->m[n - 1] = both;
            r->changes++;
        } else {
            l->m[n++] = m;
        }
    }
    l->n = n;
}

/* ---- pass 3: a tool_use id stands for one call only ---- */

/* The same tool_result under another id. Its bytes are kept but for the id, so that images stay. */
static void
add_result_renamed(struct message_builder *b, const struct block *blk, struct str id)
{
    struct buf old, raw;
    buf_init(&old, BUF_MAX);
    buf_init(&raw, BUF_MAX);
    buf_adds(&old, "\"tool_use_id\":");
    json_quote(&old, blk->id);
    const char *at = memmem(blk->raw.ptr, blk->raw.len, old.data, old.len);
    if (at) {
        size_t before = (size_t)(at - blk->raw.ptr);
        buf_add(&raw, blk->raw.ptr, before);
        buf_adds(&raw, "\"tool_use_id\":");
        json_quote(&raw, id);
        buf_add(&raw, at + old.len, blk->raw.len - before - old.len);
        message_add_raw(b, buf_str(&raw));
    } else {
        message_add_tool_result(b, id, blk->text, blk->is_error);
    }
    buf_release(&old);
    buf_release(&raw);
}

static const struct message *
rename_id(const struct message *m, struct str from, struct str to)
{
    struct message_builder *b = message_builder_new(m->role);
    bool done = false;
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *blk = &m->blocks[i];
        bool hit = !done && str_eq(blk->id, from);
        if (hit && blk->kind == BLOCK_TOOL_USE)
            message_add_tool_use(b, to, blk->name, blk->input);
        else if (hit && blk->kind == BLOCK_TOOL_RESULT)
            add_result_renamed(b, blk, to);
        else
            copy_block(b, blk);
        done |= hit && (blk->kind == BLOCK_TOOL_USE || blk->kind == BLOCK_TOOL_RESULT);
    }
    return finish(b, m);
}

static void
rename_at(struct list *l, size_t i, struct str from, struct str to)
{
    const struct message *fresh = rename_id(l->m[i], from, to);
    if (!fresh)
        return;
    message_free(l->m[i]);
    l->m[i] = fresh;
}

static bool
is_id_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* What the API takes. Other servers hand out other ids, and theirs would be refused on the way back. */
static bool
is_legal_id(struct str id)
{
    bool ok = id.len > 0 && id.len <= ID_MAX;
    for (size_t i = 0; ok && i < id.len; i++)
        ok = is_id_byte(id.ptr[i]);
    return ok;
}

static char *
legal_id(struct str id)
{
    char *out = str_dup(str_sub(id, 0, id.len < ID_MAX - 8 ? id.len : ID_MAX - 8));
    for (char *p = out; *p; p++)
        if (!is_id_byte(*p))
            *p = '_';
    return out;
}

/* Gives the tool_use at block k of message i, and its result, an id of its own. */
static void
rename_call(struct list *l, size_t i, size_t k, const struct str_set *seen)
{
    char *old = str_dup(l->m[i]->blocks[k].id), *base = legal_id(str_from(old));
    char *id = NULL;
    for (int n = 2; !id; n++) {
        char *tried = xasprintf("%s_%d", base, n);
        if (str_set_has(seen, str_from(tried)))
            free(tried);
        else
            id = tried;
    }
    rename_at(l, i, str_from(old), str_from(id));
    if (i + 1 < l->n && l->m[i + 1]->role == ROLE_USER)
        rename_at(l, i + 1, str_from(old), str_from(id));
    free(old);
    free(base);
    free(id);
}

static void
unique_ids(struct list *l, struct validator_report *r)
{
    struct str_set seen = {0};
    for (size_t i = 0; i < l->n; i++) {
        if (l->m[i]->role != ROLE_ASSISTANT)
            continue;
        for (size_t k = 0; k < l->m[i]->n_blocks; k++) {
            struct str id = l->m[i]->blocks[k].id;
            bool legal = is_legal_id(id);
            if (l->m[i]->blocks[k].kind != BLOCK_TOOL_USE || (legal && !str_set_has(&seen, id)))
                continue;
            note(r, legal ? "gave a tool_use an id of its own: it was used before"
                          : "gave a tool_use an id that may be sent");
            rename_call(l, i, k, &seen);
        }
        for (size_t k = 0; k < l->m[i]->n_blocks; k++)
            if (l->m[i]->blocks[k].kind == BLOCK_TOOL_USE)
                (void)str_set_add(&seen, l->m[i]->blocks[k].id);
    }
    str_set_release(&seen);
}

/* ---- pass 4: each tool_use its one result, first in the next user message ---- */

static const struct block *
find_result(const struct message *m, struct str id)
{
    for (size_t i = 0; m && i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_RESULT && str_eq(m->blocks[i].id, id))
            return &m->blocks[i];
    return NULL;
}

static bool
has_use(const struct message *a, struct str id)
{
    for (size_t i = 0; a && i < a->n_blocks; i++)
        if (a->blocks[i].kind == BLOCK_TOOL_USE && str_eq(a->blocks[i].id, id))
            return true;
    return false;
}

static size_t
count_uses(const struct message *a)
{
    size_t n = 0;
    for (size_t i = 0; a && i < a->n_blocks; i++)
        n += a->blocks[i].kind == BLOCK_TOOL_USE;
    return n;
}

/* Are the results of `user` exactly those of `a`, each once, and before everything else? */
static bool
is_paired(const struct message *a, const struct message *user)
{
    size_t results = 0;
    for (size_t i = 0; user && i < user->n_blocks; i++) {
        const struct block *b = &user->blocks[i];
        if (b->kind != BLOCK_TOOL_RESULT)
            continue;
        if (i != results || !has_use(a, b->id) || find_result(user, b->id) != b)
            return false;
        results++;
    }
    return results == count_uses(a);
}

static const struct message *
pair(const struct message *a, const struct message *user, struct validator_report *r)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    for (size_t i = 0; a && i < a->n_blocks; i++) {
        if (a->blocks[i].kind != BLOCK_TOOL_USE)
            continue;
        const struct block *res = find_result(user, a->blocks[i].id);
        if (res) {
            message_add_raw(b, res->raw);
            continue;
        }
        note(r, "answered a call that had no result");
        message_add_tool_result(b, a->blocks[i].id, STR(NO_RESULT), true);
    }
    for (size_t i = 0; user && i < user->n_blocks; i++) {
        const struct block *blk = &user->blocks[i];
        if (blk->kind != BLOCK_TOOL_RESULT)
            copy_block(b, blk);
        else if (!has_use(a, blk->id) || find_result(user, blk->id) != blk)
            note(r, "left out a result that no call asked for");
    }
    r->changes++;
    const struct message *m = finish(b, user);
    if (m && !user)
        ((struct message *)m)->hidden = true; /* fresh */
    return m;
}

/* What follows message `prev` (NULL: the start): the mended user message, or nothing. */
static void
pair_next(struct list *out, const struct message *prev, const struct message *user,
          struct validator_report *r)
{
    if (is_paired(prev, user)) {
        if (user)
            push(out, message_ref(user));
        return;
    }
    const struct message *m = pair(prev, user, r);
    if (m)
        push(out, m);
}

static void
pair_results(struct list *l, struct validator_report *r)
{
    struct list out = {NULL, 0, 0};
    for (size_t i = 0; i < l->n; i++) {
        const struct message *m = l->m[i];
        if (m->role == ROLE_USER) {
            pair_next(&out, i ? l->m[i - 1] : NULL, m, r);
            continue;
        }
        push(&out, message_ref(m));
        if (i + 1 == l->n || l->m[i + 1]->role != ROLE_USER)
            pair_next(&out, m, NULL, r);
    }
    for (size_t i = 0; i < l->n; i++)
        message_free(l->m[i]);
    free(l->m);
    *l = out;
}

/* ---- all of it ---- */

static void
user_first(struct list *l, struct validator_report *r)
{
    if (!l->n || l->m[0]->role == ROLE_USER)
        return;
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR(NO_START));
    struct message *m = message_build(b);
    m->hidden = true;
    push(l, m);
    memmove(l->m + 1, l->m, (l->n - 1) * sizeof *l->m);
    l->m[0] = m;
    note(r, "put a user message first");
}

static size_t
mend_once(struct list *l, struct validator_report *r)
{
    size_t before = r->changes;
    struct list kept = {NULL, 0, 0};
    for (size_t i = 0; i < l->n; i++)
        drop_illegal(l->m[i], &kept, r);
    for (size_t i = 0; i < l->n; i++)
        message_free(l->m[i]);
    free(l->m);
    *l = kept;
    merge_roles(l, r);
    unique_ids(l, r);
    pair_results(l, r);
    user_first(l, r);
    return r->changes - before;
}

void
validator_mend(const struct message ***msgs, size_t *n, struct validator_report *report)
{
    struct list l = {*msgs, *n, *n};
    /* A dropped message can make neighbours of two of one role, so it goes on until nothing changes; each round that
     * changes something drops, joins, renames or answers, which all come to an end. */
    while (mend_once(&l, report) > 0)
        ;
    *msgs = l.m;
    *n = l.n;
}
