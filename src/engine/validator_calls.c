/* Calls and their results: the validator's passes over ids and pairs. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/rebuild.h"
#include "engine/validator_private.h"

#define ID_MAX 128 /* of a tool_use, and of a tool's name */
#define NO_RESULT "no result was recorded: the call was interrupted before it finished"

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
            rebuild_block(b, blk);
        done |= hit && (blk->kind == BLOCK_TOOL_USE || blk->kind == BLOCK_TOOL_RESULT);
    }
    return rebuild_finish(b, m);
}

static void
rename_at(struct mend_list *l, size_t i, struct str from, struct str to)
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

/* The tool_use at block k of message i, under a name of legal letters. */
static void
rename_tool(struct mend_list *l, size_t i, size_t k)
{
    const struct message *m = l->m[i];
    struct message_builder *b = message_builder_new(m->role);
    for (size_t at = 0; at < m->n_blocks; at++) {
        const struct block *blk = &m->blocks[at];
        if (at != k) {
            rebuild_block(b, blk);
            continue;
        }
        char *name = blk->name.len ? legal_id(blk->name) : xstrdup("unknown");
        message_add_tool_use(b, blk->id, str_from(name), blk->input);
        free(name);
    }
    const struct message *fresh = rebuild_finish(b, m);
    if (!fresh)
        return;
    message_free(m);
    l->m[i] = fresh;
}

/* Ids that are taken: of messages before the list, and in it so far. */
struct taken {
    const struct str_set *before;
    struct str_set here;
};

static bool
is_taken(const struct taken *t, struct str id)
{
    return str_set_has(&t->here, id) || str_set_has(t->before, id);
}

/* Gives the tool_use at block k of message i, and its result, an id of its own. */
static void
rename_call(struct mend_list *l, size_t i, size_t k, const struct taken *taken)
{
    char *old = str_dup(l->m[i]->blocks[k].id), *base = legal_id(str_from(old));
    char *id = NULL;
    for (int n = 2; !id; n++) {
        char *tried = xasprintf("%s_%d", base, n);
        if (is_taken(taken, str_from(tried)))
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
name_calls(struct mend_list *l, size_t i, const struct taken *taken, struct validator_report *r)
{
    for (size_t k = 0; k < l->m[i]->n_blocks; k++) {
        const struct block *b = &l->m[i]->blocks[k];
        if (b->kind != BLOCK_TOOL_USE)
            continue;
        if (!is_legal_id(b->name)) {
            mend_note(r, "gave a tool_use a name that may be sent");
            rename_tool(l, i, k);
            b = &l->m[i]->blocks[k];
        }
        bool legal = is_legal_id(b->id);
        if (legal && !is_taken(taken, b->id))
            continue;
        mend_note(r, legal ? "gave a tool_use an id of its own: it was used before"
                           : "gave a tool_use an id that may be sent");
        rename_call(l, i, k, taken);
    }
}

void
mend_ids(struct mend_list *l, const struct str_set *before, struct validator_report *r)
{
    struct taken taken = {.before = before};
    for (size_t i = 0; i < l->n; i++) {
        if (l->m[i]->role != ROLE_ASSISTANT)
            continue;
        name_calls(l, i, &taken, r);
        for (size_t k = 0; k < l->m[i]->n_blocks; k++)
            if (l->m[i]->blocks[k].kind == BLOCK_TOOL_USE)
                (void)str_set_add(&taken.here, l->m[i]->blocks[k].id);
    }
    str_set_release(&taken.here);
}

/* ---- pass 4: each tool_use its one result, first in the next user message ---- */

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
        if (i != results || !has_use(a, b->id) || message_result_of(user, b->id) != b)
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
        const struct block *res = message_result_of(user, a->blocks[i].id);
        if (res) {
            message_add_raw(b, res->raw);
            continue;
        }
        mend_note(r, "answered a call that had no result");
        message_add_tool_result(b, a->blocks[i].id, STR(NO_RESULT), true);
    }
    for (size_t i = 0; user && i < user->n_blocks; i++) {
        const struct block *blk = &user->blocks[i];
        if (blk->kind != BLOCK_TOOL_RESULT)
            rebuild_block(b, blk);
        else if (!has_use(a, blk->id) || message_result_of(user, blk->id) != blk)
            mend_note(r, "left out a result that no call asked for");
    }
    r->changes++;
    const struct message *m = rebuild_finish(b, user);
    if (m && !user)
        ((struct message *)m)->hidden = true; /* fresh */
    return m;
}

/* What follows message `prev` (NULL: the start): the mended user message, or nothing. */
static void
pair_next(struct mend_list *out, const struct message *prev, const struct message *user,
          struct validator_report *r)
{
    if (is_paired(prev, user)) {
        if (user)
            mend_push(out, message_ref(user));
        return;
    }
    const struct message *m = pair(prev, user, r);
    if (m)
        mend_push(out, m);
}

void
mend_pairs(struct mend_list *l, struct validator_report *r)
{
    struct mend_list out = {NULL, 0, 0};
    for (size_t i = 0; i < l->n; i++) {
        const struct message *m = l->m[i];
        if (m->role == ROLE_USER) {
            pair_next(&out, i ? l->m[i - 1] : NULL, m, r);
            continue;
        }
        mend_push(&out, message_ref(m));
        if (i + 1 == l->n || l->m[i + 1]->role != ROLE_USER)
            pair_next(&out, m, NULL, r);
    }
    for (size_t i = 0; i < l->n; i++)
        message_free(l->m[i]);
    free(l->m);
    *l = out;
}
