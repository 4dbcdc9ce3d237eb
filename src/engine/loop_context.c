/* The context step, and what the loop does when a conversation does not fit: folds are committed, then everything is compacted, once. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/compact.h"
#include "engine/context.h"
#include "engine/count.h"
#include "engine/loop_stream.h"
#include "engine/retry.h"

/* Below this share of the window, and so few bytes, a bare 413 is not for the conversation's length. */
#define UNLIKELY_PERCENT 30
#define GATEWAY_BYTES ((size_t)512 << 10)
#define GUESSED_LEAST 16000 /* below this it is bytes that a gateway counts, not tokens */
#define WINDOW_LEAST 1000   /* a smaller limit is a misread one */

/* ---- before each request ---- */

static enum flow
end_too_long(struct loop *l, enum loop_exit x, const char *why)
{
    struct core *c = l->core;
    struct buf sizes;
    buf_init(&sizes, 1024);
    compact_say_sizes(c, &sizes);
    err_set(&l->result->err, ERR_LIMIT, "%s: %s. %s", why, buf_cstr(&sizes),
            x == EXIT_BLOCKING_LIMIT
                ? "/compact shrinks it, /clear starts anew"
                : "Shorten the instruction files or the message, unpin (/pin), take a model with a "
                  "larger window, or start anew with /clear");
    buf_release(&sizes);
    core_error(c, &l->result->err, NULL);
    return LOOP_END(l, x);
}

/* Near a limit an estimate is not good enough to compact, or to stop, by. */
static void
count_if_near(struct loop *l)
{
    const struct core *c = l->core;
    int64_t used = context_used(c), tokens;
    if (context_is_near(used, compact_limit(l->core)) ||
        context_is_near(used, context_window(c) - context_reserve(context_window(c))))
        (void)context_count(l->core, &tokens);
}

/* Automatic compaction, where it is due. What it left must fit below the limit: another one would change nothing. */
static enum flow
compact_if_due(struct loop *l)
{
    struct core *c = l->core;
    struct compact_report r;
    const char *why;
    if (!compact_is_due(l->e))
        return FLOW_NEXT;
    if (compact_must_stay(c) >= compact_limit(l->core))
        return end_too_long(
            l, EXIT_PROMPT_TOO_LONG,
            "instructions and pins alone are over the limit of automatic compaction");
    compact_run(l->e, COMPACT_AUTO, NULL, l->turn, &r);
    if (cancel_fired(l->turn) != CANCEL_NONE)
        return LOOP_END(l, EXIT_ABORTED_STREAMING);
    if (compact_breaker_open(l->e, &why))
        core_notice(
            c, "the conversation is not compacted by itself any more: %s; /compact tries again",
            why);
    if (r.done && context_used(c) >= compact_limit(l->core))
        return end_too_long(l, EXIT_PROMPT_TOO_LONG,
                            "what must stay is over the limit even after compacting");
    return FLOW_NEXT;
}

enum flow
step_context(struct loop *l, struct round *r)
{
    (void)r;
    struct core *c = l->core;
    if (cancel_fired(l->turn) != CANCEL_NONE)
        return LOOP_END(l, EXIT_ABORTED_STREAMING);
    count_if_near(l);
    context_run_tiers(c);
    enum flow f = compact_if_due(l);
    if (f != FLOW_NEXT)
        return f;
    context_emit(c);
    if (!context_is_blocking(context_used(c), context_window(c)))
        return FLOW_NEXT;
    bool off = compact_limit(l->core) <= 0 || compact_breaker_open(l->e, NULL);
    return end_too_long(l, off ? EXIT_BLOCKING_LIMIT : EXIT_PROMPT_TOO_LONG,
                        "the context is full; nothing was sent");
}

/* ---- after a refusal ---- */

/* FLOW_AGAIN: it is shorter now; FLOW_EXIT: interrupted; FLOW_NEXT: it cannot be made so. */
static enum flow
make_shorter(struct loop *l)
{
    struct core *c = l->core;
    struct state *st = &c->state;
    struct compact_report r;
    bool drained = st->last.name && strcmp(st->last.name, "collapse_drain_retry") == 0;
    if (!drained && !st->reactive_compact_attempted && context_drain_folds(c)) {
        context_emit(c);
        return LOOP_GO(l, TR_COLLAPSE_DRAIN_RETRY);
    }
    if (st->reactive_compact_attempted)
        return FLOW_NEXT;
    st->reactive_compact_attempted = true;
    compact_run(l->e, COMPACT_REACTIVE, NULL, l->turn, &r);
    if (cancel_fired(l->turn) != CANCEL_NONE)
        return LOOP_END(l, EXIT_ABORTED_STREAMING);
    return r.done ? LOOP_GO(l, TR_REACTIVE_COMPACT_RETRY) : FLOW_NEXT;
}

/* A gateway that refuses by limits of its own says nothing of the model's window: a bare 413 to a small request. */
static bool
is_for_its_length(const struct loop *l, const struct err *err)
{
    const struct core *c = l->core;
    int64_t window = context_window(c);
    if (err->http != 413 || strstr(err->kind, "request_too_large") ||
        strstr(err->text, "request_too_large"))
        return true;
    return c->state.bytes + prompt_bytes(&c->prompt) >= GATEWAY_BYTES || window <= 0 ||
           context_used(c) >= window / 100 * UNLIKELY_PERCENT;
}

static int64_t
number_after(const char *text, const char *words)
{
    const char *at = strcasestr(text, words);
    if (!at)
        return 0;
    at += strlen(words);
    long long n = strtoll(at, NULL, 10);
    return n > 0 && n < INT64_C(1) << 40 ? n : 0;
}

/* One refusal without a number may be a gateway's mood; the second says that there is a limit, below both. 0: not yet. */
static int64_t
refused_again(struct state *st, int64_t tokens)
{
    int64_t before = st->compact.refused;
    st->compact.refused = before > 0 && before < tokens ? before : tokens;
    return before > 0 && st->compact.refused >= GUESSED_LEAST ? st->compact.refused - 1 : 0;
}

/* What the server takes in, where it says so or shows it, so that the tiers act before the next refusal. */
static void
learn_limit(struct core *c, const struct err *err)
{
    static const char *const limit_words[] = {"tokens > ", "maximum context length is ",
                                              "context size (", "context window of ",
                                              "maximum of "};
    int64_t limit = 0, was = context_window(c),
            sent = number_after(err->text, "prompt is too long: ");
    for (size_t i = 0; i < ARRAY_LEN(limit_words) && !limit; i++)
        limit = number_after(err->text, limit_words[i]);
    /* its count is better than any estimate; one that cannot be of this conversation says that its limit is none either */
    bool counted = sent > 0 && context_take_count(c, sent);
    if (sent > 0 && !counted)
        return;
    if (limit <= 0)
        limit = refused_again(&c->state, counted ? sent : context_used(c));
    /* one below what is in every request is no limit of tokens, and would end all work here */
    if (limit < WINDOW_LEAST || limit <= compact_must_stay(c) || (was > 0 && limit >= was))
        return;
    c->window.tokens = limit;
    log_info("context", "the server takes in %lld tokens, not %lld", (long long)limit,
             (long long)was);
    core_notice(c, "the server takes in %lld tokens; the conversation is kept below that",
                (long long)limit);
}

/* No shorter conversation helps against that. */
static void
blame_gateway(struct err *err)
{
    const struct err said = *err;
    err_set(err, ERR_HTTP, "%s", said.text);
    memcpy(err->kind, "gateway_limit", sizeof "gateway_limit");
}

enum flow
loop_shorter(struct loop *l, struct round *r)
{
    enum flow f = FLOW_NEXT;
    if (is_for_its_length(l, &r->err)) {
        learn_limit(l->core, &r->err);
        f = make_shorter(l);
    } else {
        blame_gateway(&r->err);
    }
    return f == FLOW_NEXT ? loop_give_up(l, r, &r->err) : f;
}

enum flow
loop_exceeded(struct loop *l)
{
    struct core *c = l->core;
    enum flow f = make_shorter(l);
    if (f == FLOW_AGAIN) {
        const struct message *last =
            state_last(&c->state); /* the answer so far, unless it was compacted */
        if (last && last->role == ROLE_ASSISTANT && !loop_append_hidden(l, LOOP_GO_ON_CUT))
            return loop_fail(l, &l->result->err);
        return f;
    }
    return f == FLOW_EXIT ? f
                          : end_too_long(l, EXIT_PROMPT_TOO_LONG,
                                         "the model's window is full; what it said so far is kept");
}

bool
loop_is_short_of_room(const struct loop *l)
{
    const struct core *c = l->core;
    int64_t window = context_window(c), left = window - context_used(c);
    return window > 0 && !c->state.reactive_compact_attempted && left < window / 10 &&
           left < loop_wanted_tokens(c);
}
