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

static const char *
check_ids(const struct message *const *m, size_t upto, const struct message *last)
{
    for (size_t k = 0; k < last->n_blocks; k++) {
        if (last->blocks[k].kind != BLOCK_TOOL_USE)
            continue;
        for (size_t i = 0; i <= upto; i++)
            for (size_t j = 0; j < m[i]->n_blocks && (i < upto || j < k); j++)
                if (m[i]->blocks[j].kind == BLOCK_TOOL_USE &&
                    str_eq(m[i]->blocks[j].id, last->blocks[k].id))
                    return "a tool_use id twice";
    }
    return NULL;
}

const char *
legal_check(const struct message *const *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!m[i]->n_blocks)
            return "an empty message";
        if (i == 0 && m[i]->role != ROLE_USER)
            return "the first message is not the user's";
        if (i > 0 && m[i]->role == m[i - 1]->role)
            return "two messages of one role";
        for (size_t k = 0; k < m[i]->n_blocks; k++)
            if (m[i]->blocks[k].kind == BLOCK_TEXT && !str_trim(m[i]->blocks[k].text).len)
                return "an empty text block";
        const char *why =
            m[i]->role == ROLE_USER ? check_user(i ? m[i - 1] : NULL, m[i]) : check_assistant(m[i]);
        if (!why && m[i]->role == ROLE_ASSISTANT)
            why = check_ids(m, i, m[i]);
        if (why)
            return why;
    }
    if (n && m[n - 1]->role == ROLE_ASSISTANT)
        for (size_t k = 0; k < m[n - 1]->n_blocks; k++)
            if (m[n - 1]->blocks[k].kind == BLOCK_TOOL_USE)
                return "a tool_use without its result at the end";
    return NULL;
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
