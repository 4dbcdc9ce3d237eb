/* The question for a summary: in one piece where it fits, in parts else, each told what came before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/compact_private.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/retry.h"
#include "engine/side.h"

#define PARTS_MAX 6   /* what is older than that is left out */
#define SHORTER_MAX 3 /* times the question is halved because the server finds it too long */
#define THINKING_ROOM 2000
#define TIMEOUT_MS 300000
#define RETRIES 4
#define WINDOW_UNKNOWN 60000

extern const char prompt_summary_md[];
extern const size_t prompt_summary_md_len;

struct asking {
    struct engine *e;
    struct cancel *turn;
    const char *keep;
    size_t room;    /* bytes of conversation in one question */
    int max_tokens; /* of the answer */
    size_t words;   /* ... and what it is asked to keep to */
    bool cut;       /* a part's answer was cut off, the shorter one too */
    struct buf prompt;
};

/* ---- one request ---- */

static void
fill_prompt(struct buf *out, size_t words)
{
    static const char mark[] = "{{words}}";
    struct str s = str_make(prompt_summary_md, prompt_summary_md_len);
    const char *at = memmem(s.ptr, s.len, mark, sizeof mark - 1);
    size_t before = at ? (size_t)(at - s.ptr) : s.len;
    buf_add_str(out, str_sub(s, 0, before));
    if (at) {
        buf_addf(out, "%zu", words);
        buf_add_str(out, str_sub(s, before + sizeof mark - 1, s.len));
    }
}

/* *ret_cut: the answer, such as it is, or its lack, ends at the limit of its length. */
static bool
ask_model(struct asking *a, struct str question, struct summary *ret, bool *ret_cut,
          struct err *err)
{
    struct engine *e = a->e;
    struct core *c = &e->core;
    const struct side_question q = {
        .purpose = "compact",
        .system = buf_str(&a->prompt),
        .ask = question,
        .max_tokens = a->max_tokens,
        .timeout_ms = TIMEOUT_MS,
        .retries = c->given.max_retries < RETRIES ? c->given.max_retries : RETRIES,
    };
    struct side_call *s = side_start(c, &q, a->turn);
    for (;;) {
        waker_clear(c->wake);
        ops_drain(e);
        if (side_done(s))
            break;
        waker_wait(c->wake, -1);
    }
    struct side_answer answer;
    side_take(c, s, &answer);
    const char *why = NULL;
    bool ok = answer.ok && summary_parse(str_from(answer.text), ret, &why);
    if (answer.ok && !ok)
        err_set(err, ERR_INVALID, "%s", why);
    else if (!ok)
        *err = answer.err;
    *ret_cut = (answer.stop == STOP_MAX_TOKENS || answer.stop == STOP_CONTEXT_EXCEEDED) &&
               (ok || !retry_is_too_long(err));
    if (*ret_cut && !ok)
        err_set(err, ERR_INVALID,
                "the answer was cut off at its limit of length before it was a summary");
    free(answer.text);
    return ok;
}

/* ---- the question ---- */

static void
add_head(struct buf *q, size_t part, size_t parts, const struct summary *before)
{
    if (parts > 1)
        buf_addf(q, "The conversation is too long for one question; this is part %zu of %zu.\n",
                 part + 1, parts);
    if (before) {
        buf_adds(q, "The summary of the parts before it, which yours takes the place of:\n");
        summary_write(before, q);
        buf_addc(q, '\n');
    }
}

static void
add_tail(const struct asking *a, bool shorter, struct buf *q)
{
    buf_adds(q, "</conversation>\n\nWrite the summary now, in its sections.");
    if (shorter)
        buf_addf(q,
                 " An answer before this one was cut off at the limit of its length, and its last "
                 "sections were lost: all of them must be there this time, in at most %zu words.",
                 a->words / 2);
    if (a->keep && a->keep[0])
        buf_addf(q, " The person asks that this in particular is kept, in detail: %s", a->keep);
}

/* Messages [from, to), the n-th part of so many. */
struct part {
    const struct compact_texts *texts;
    size_t from, to, n, of;
    const struct summary *before; /* of the parts before it; NULL: it is the first */
};

static bool
ask_once(struct asking *a, const struct part *p, bool shorter, struct summary *ret, bool *ret_cut,
         struct err *err)
{
    struct buf q;
    buf_init(&q, BUF_MAX);
    add_head(&q, p->n, p->of, p->before);
    buf_adds(&q, "<conversation>\n");
    for (size_t i = p->from; i < p->to; i++)
        buf_adds(&q, p->texts->list[i]);
    add_tail(a, shorter, &q);
    bool ok = ask_model(a, buf_str(&q), ret, ret_cut, err);
    buf_release(&q);
    return ok;
}

/* In the place of an answer that was cut off and has lost its later sections (*got, if has). False: there is neither. */
static bool
ask_shorter(struct asking *a, const struct part *p, bool has, struct summary *got, struct err *err)
{
    struct summary again;
    struct err why = {0};
    bool cut;
    summary_init(&again);
    bool better = ask_once(a, p, true, &again, &cut, &why);
    if (better) {
        summary_release(got);
        *got = again;
    } else {
        summary_release(&again);
    }
    a->cut |= !better || cut;
    if (better && !cut)
        return true;
    if (cancel_fired(a->turn) != CANCEL_NONE)
        has = better = false;
    if (!better && !has) {
        *err = why;
        return false;
    }
    compact_fill(&a->e->core, got);
    return true;
}

/* The answer replaces *s. */
static bool
ask_part(struct asking *a, const struct part *p, struct summary *s, struct err *err)
{
    struct summary got;
    bool cut;
    summary_init(&got);
    bool ok = ask_once(a, p, false, &got, &cut, err);
    if (cut)
        ok = ask_shorter(a, p, ok, &got, err);
    if (!ok) {
        summary_release(&got);
        return false;
    }
    err_clear(err);
    summary_release(s);
    *s = got;
    summary_bound(s, a->room / 4);
    return true;
}

/* Where parts of at most `room` bytes begin, cut from the end, so that the newest stand together; the oldest may fall away. */
static size_t
cut_parts(const struct compact_texts *t, size_t room, size_t starts[PARTS_MAX + 1])
{
    size_t n = 0, at = t->n;
    size_t found[PARTS_MAX];
    while (at > 0 && n < PARTS_MAX) {
        size_t bytes = strlen(t->list[--at]);
        while (at > 0 && bytes + strlen(t->list[at - 1]) <= room)
            bytes += strlen(t->list[--at]);
        found[n++] = at;
    }
    for (size_t i = 0; i < n; i++)
        starts[i] = found[n - 1 - i];
    starts[n] = t->n;
    return n;
}

static bool
ask_in_parts(struct asking *a, const struct compact_texts *t, struct summary *s, struct err *err)
{
    size_t starts[PARTS_MAX + 1];
    size_t n = cut_parts(t, a->room, starts);
    for (size_t i = 0; i < n; i++) {
        const struct part p = {t, starts[i], starts[i + 1], i, n, i ? s : NULL};
        if (!ask_part(a, &p, s, err))
            return false;
    }
    return n > 0 || err_set(err, ERR_INVALID, "there is nothing to summarise");
}

/* Results are told the shorter the less room there is. */
static void
make_texts(const struct asking *a, struct compact_texts *t)
{
    static const size_t caps[] = {4000, 1500, 500, 200};
    for (size_t i = 0; i < ARRAY_LEN(caps); i++) {
        size_t cap = caps[i] < a->room / 4 ? caps[i] : a->room / 4;
        compact_texts_make(&a->e->core, cap, t);
        if (t->bytes <= a->room || i + 1 == ARRAY_LEN(caps))
            return;
        compact_texts_release(t);
    }
}

static void
measure(struct asking *a)
{
    const struct core *c = &a->e->core;
    int64_t window = context_window(c), answer = COMPACT_SUMMARY_TOKENS;
    double ratio = context_bytes_per_token(c);
    if (window <= 0)
        window = WINDOW_UNKNOWN;
    if (window * COMPACT_SUMMARY_PERCENT / 100 < answer)
        answer = window * COMPACT_SUMMARY_PERCENT / 100;
    /* a token is about 0.7 words; a fifth less, since models say more than they are asked for */
    a->words = (size_t)(answer > 200 ? answer / 2 : 100);
    fill_prompt(&a->prompt, a->words);
    a->max_tokens = (int)(answer + answer / 4 + (window > 40000 ? THINKING_ROOM : 200));
    if (c->info && c->info->max_output > 0 && a->max_tokens > c->info->max_output)
        a->max_tokens = (int)c->info->max_output;
    int64_t left = window - a->max_tokens - (int64_t)((double)a->prompt.len / ratio) - 500;
    /* the estimate may be a sixth off */
    a->room = left > 1000 ? (size_t)((double)left * ratio / 6 * 5) : 2000;
}

bool
compact_ask(struct engine *e, const char *keep, struct cancel *turn, struct summary *ret,
            bool *ret_cut, struct err *err)
{
    struct asking a = {.e = e, .turn = turn, .keep = keep};
    bool ok = false;
    buf_init(&a.prompt, BUF_MAX);
    measure(&a);
    for (int i = 0; !ok && i <= SHORTER_MAX; i++) {
        struct compact_texts t;
        make_texts(&a, &t);
        err_clear(err);
        a.cut = false;
        ok = ask_in_parts(&a, &t, ret, err);
        compact_texts_release(&t);
        if (ok || !retry_is_too_long(err))
            break;
        a.room /= 2;
    }
    buf_release(&a.prompt);
    *ret_cut = ok && a.cut;
    return ok;
}
