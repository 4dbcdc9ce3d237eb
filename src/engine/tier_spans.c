#include "engine/tier_spans.h"

#include <stdlib.h>
#include <string.h>

#include "engine/tier_private.h"

#define SPAN_MESSAGES 80

struct finder {
    const struct tier_view *v;
    bool *fixed; /* of each message: it stays */
    struct tier_spans *ret;
    struct tier_span open; /* whole turns gathered so far; from == to: none */
};

/* ---- what stays ---- */

/* The answer beside a fold's message is a part of the fold. */
static bool
is_extract(const struct message *m)
{
    return m->role == ROLE_ASSISTANT && m->n_blocks && m->blocks[0].kind == BLOCK_TEXT &&
           str_starts(m->blocks[0].text, TIER_EXTRACT);
}

static void
fix_folds(struct finder *f)
{
    const struct tier_view *v = f->v;
    for (size_t i = 0; i < v->n; i++) {
        if (!tier_is_fold(v->messages[i]))
            continue;
        f->fixed[i] = true;
        if (i > 0 && is_extract(v->messages[i - 1]))
            f->fixed[i - 1] = true;
        if (i + 1 < v->n && is_extract(v->messages[i + 1]))
            f->fixed[i + 1] = true;
    }
}

static void
fix_pinned(struct finder *f)
{
    const struct tier_view *v = f->v;
    struct tier_calls calls = {0};
    f->fixed = xcalloc(v->n + 1, sizeof *f->fixed);
    for (size_t i = 0; i < v->n && v->n_pins; i++)
        f->fixed[i] = tier_message_is_pinned(v, v->messages[i]);
    if (v->n_pins)
        tier_calls_read(v, v->n, &calls);
    for (size_t i = 0; i < calls.n; i++)
        if (calls.list[i].reads && tier_call_is_pinned(v, &calls.list[i]))
            f->fixed[calls.list[i].use_at] = f->fixed[calls.list[i].result_at] = true;
    tier_calls_release(&calls);
}

/* ---- spans ---- */

static void
close_turns(struct finder *f)
{
    if (f->open.to > f->open.from) {
        ARRAY_GROW(f->ret->list, f->ret->n, f->ret->cap);
        f->ret->list[f->ret->n++] = f->open;
    }
    f->open = (struct tier_span){0};
}

static int64_t
tokens_of(const struct finder *f, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += tier_tokens(f->v, f->v->messages[i]);
    return sum;
}

/* A prompt: a user message that brings no results. */
static bool
begins_turn(const struct message *m)
{
    return m->role == ROLE_USER && m->n_blocks && m->blocks[0].kind != BLOCK_TOOL_RESULT;
}

/* Does from..to-1 alternate, so that one of each role may stand for it? */
static bool
alternates(const struct tier_view *v, size_t from, size_t to)
{
    for (size_t i = from; i <= to && i < v->n; i++)
        if (i && v->messages[i]->role == v->messages[i - 1]->role)
            return false;
    return from > 0 && to > from && (to - from) % 2 == 0;
}

static bool
holds_fixed(const struct finder *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (f->fixed[i])
            return true;
    return false;
}

/* The answers and results of from..to-1, where both stand at answers: in pieces, around what stays. */
static void
add_parts(struct finder *f, size_t from, size_t to)
{
    close_turns(f);
    if (from >= to || !alternates(f->v, from, to) || f->v->messages[from]->role != ROLE_ASSISTANT)
        return;
    struct tier_span s = {from, from, 0};
    for (size_t i = from; i < to; i += 2) {
        int64_t tokens = tokens_of(f, i, i + 2);
        bool fixed = holds_fixed(f, i, i + 2);
        if (fixed || s.tokens + tokens > TIER_SPAN * 3 / 2 || s.to - s.from >= SPAN_MESSAGES) {
            f->open = s;
            close_turns(f);
            s = (struct tier_span){i, i, 0};
        }
        if (fixed) {
            s.from = s.to = i + 2;
            continue;
        }
        s.to = i + 2;
        s.tokens += tokens;
    }
    f->open = s;
    close_turns(f);
}

/* The last answer before `end` at which a part may end. */
static size_t
last_answer(const struct tier_view *v, size_t from, size_t end)
{
    size_t i = end < v->n ? end : v->n - 1;
    while (i > from && v->messages[i]->role != ROLE_ASSISTANT)
        i--;
    return i;
}

/* The turn at..end-1. Whole turns gather until they are enough for a fold. */
static void
add_turn(struct finder *f, size_t at, size_t end)
{
    const struct tier_view *v = f->v;
    bool whole = at > 0 && end <= v->keep_from && end < v->n && alternates(v, at, end) &&
                 !holds_fixed(f, at, end);
    if (!whole) {
        add_parts(f, at + 1, last_answer(v, at, end <= v->keep_from ? end - 1 : v->keep_from));
        return;
    }
    if (f->open.to != at || f->open.from == f->open.to)
        close_turns(f);
    if (f->open.from == f->open.to)
        f->open.from = at;
    f->open.to = end;
    f->open.tokens += tokens_of(f, at, end);
    if (f->open.tokens >= TIER_SPAN || f->open.to - f->open.from >= SPAN_MESSAGES)
        close_turns(f);
}

void
tier_spans_find(const struct tier_view *v, struct tier_spans *ret)
{
    struct finder f = {.v = v, .ret = ret};
    *ret = (struct tier_spans){0};
    fix_pinned(&f);
    fix_folds(&f);
    for (size_t at = 0, end; at < v->keep_from; at = end) {
        for (end = at + 1; end < v->n && !begins_turn(v->messages[end]); end++)
            ;
        add_turn(&f, at, end);
    }
    close_turns(&f);
    free(f.fixed);
}
