#include "fakes/legal.h"

#include <stdlib.h>

#include "base/json.h"

static const char *
check_user(const struct message *prev, const struct message *m)
{
    size_t results = 0, uses = 0;
    bool other = false;
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_TOOL_USE || b->kind == BLOCK_THINKING ||
            b->kind == BLOCK_REDACTED_THINKING)
            return "a block of the assistant in a user message";
        if (b->kind != BLOCK_TOOL_RESULT) {
            other = true;
            continue;
        }
        if (other)
            return "a tool_result after other content";
        bool asked = false;
        for (size_t k = 0; prev && k < prev->n_blocks; k++)
            asked |= prev->blocks[k].kind == BLOCK_TOOL_USE && str_eq(prev->blocks[k].id, b->id);
        if (!asked)
            return "a tool_result without its tool_use";
        for (size_t k = 0; k < i; k++)
            if (m->blocks[k].kind == BLOCK_TOOL_RESULT && str_eq(m->blocks[k].id, b->id))
                return "two results of one call";
        results++;
    }
    for (size_t k = 0; prev && k < prev->n_blocks; k++)
        uses += prev->blocks[k].kind == BLOCK_TOOL_USE;
    return results == uses ? NULL : "a tool_use without its result";
}

static const char *
check_assistant(const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_TOOL_RESULT)
            return "a tool_result in an assistant message";
        if (b->kind == BLOCK_THINKING && !b->signature.len)
            return "thinking without a signature";
    }
    enum block_kind last = m->blocks[m->n_blocks - 1].kind;
    if (last == BLOCK_THINKING || last == BLOCK_REDACTED_THINKING)
        return "thinking at the end of a message";
    return NULL;
}

/* Ids of all calls, in a table: a long conversation has thousands. */
static const char *
check_ids(const struct message *const *m, size_t n)
{
    size_t calls = 0, cap = 16;
    for (size_t i = 0; i < n; i++)
        calls += m[i]->role == ROLE_ASSISTANT ? m[i]->n_blocks : 0;
    while (cap < 2 * calls)
        cap *= 2;
    struct str *seen = xcalloc(cap, sizeof *seen);
    const char *why = NULL;
    for (size_t i = 0; i < n && !why; i++)
        for (size_t k = 0; k < m[i]->n_blocks && !why; k++) {
            if (m[i]->blocks[k].kind != BLOCK_TOOL_USE)
                continue;
            struct str id = m[i]->blocks[k].id;
            size_t at = (size_t)str_hash(id) & (cap - 1);
            while (seen[at].ptr && !str_eq(seen[at], id))
                at = (at + 1) & (cap - 1);
            if (seen[at].ptr)
                why = "a tool_use id twice";
            seen[at] = id;
        }
    free(seen);
    return why;
}

static const char *
check_one(const struct message *prev, const struct message *m)
{
    if (!m->n_blocks)
        return "an empty message";
    if (!prev && m->role != ROLE_USER)
        return "the first message is not the user's";
    if (prev && m->role == prev->role)
        return "two messages of one role";
    for (size_t k = 0; k < m->n_blocks; k++)
        if (m->blocks[k].kind == BLOCK_TEXT && !str_trim(m->blocks[k].text).len)
            return "an empty text block";
    return m->role == ROLE_USER ? check_user(prev, m) : check_assistant(m);
}

const char *
legal_check_from(const struct message *const *m, size_t n, size_t from)
{
    for (size_t i = from; i < n; i++) {
        const char *why = check_one(i ? m[i - 1] : NULL, m[i]);
        if (why)
            return why;
    }
    if (n && m[n - 1]->role == ROLE_ASSISTANT)
        for (size_t k = 0; k < m[n - 1]->n_blocks; k++)
            if (m[n - 1]->blocks[k].kind == BLOCK_TOOL_USE)
                return "a tool_use without its result at the end";
    return check_ids(m, n);
}

const char *
legal_check(const struct message *const *m, size_t n)
{
    return legal_check_from(m, n, 0);
}

const char *
legal_check_json(struct str array)
{
    struct err err = {0};
    struct cJSON *tree = json_parse(array, &err);
    if (!tree)
        return "no JSON";
    size_t n = 0, len = json_len(tree);
    const struct message **m = xcalloc(len + 1, sizeof *m);
    const char *why = NULL;
    for (const struct cJSON *e = json_first(tree); e && !why; e = json_next(e)) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        json_print(e, &b);
        m[n] = message_parse(buf_str(&b), &err);
        buf_release(&b);
        if (!m[n++])
            why = "no message";
    }
    if (!why)
        why = legal_check(m, n);
    for (size_t i = 0; i < n; i++)
        message_free(m[i]);
    free(m);
    json_free(tree);
    return why;
}
