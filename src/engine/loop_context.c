/* The context step, and what the loop does when a conversation does not fit: folds are committed, then everything is compacted, once. */
#include <string.h>

#include "engine/compact.h"
#include "engine/context.h"
#include "engine/loop_stream.h"
#include "engine/retry.h"

/* Below this share of the window by the server's own count a refusal is not for the conversation's length. */
#define UNLIKELY_PERCENT 30

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

/* Automatic compaction, where it is due. What it left must fit below the limit: another one would change nothing. */
static enum flow
compact_if_due(struct loop *l)
{
    struct core *c = l->core;
    struct compact_report r;
    const char *why;
    if (!compact_is_due(l->e))
        return FLOW_NEXT;
    compact_run(l->e, COMPACT_AUTO, NULL, l->turn, &r);
    if (cancel_fired(l->turn) != CANCEL_NONE)
        return LOOP_END(l, EXIT_ABORTED_STREAMING);
    if (!r.done && compact_breaker_open(l->e, &why))
        core_notice(
            c, "the conversation is not compacted by itself any more: %s; /compact tries again",
            why);
    if (r.done && context_used(c) >= compact_limit(l->e))
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
    context_run_tiers(c);
    enum flow f = compact_if_due(l);
    if (f != FLOW_NEXT)
        return f;
    context_emit(c);
    if (!context_is_blocking(context_used(c), context_window(c)))
        return FLOW_NEXT;
    bool off = compact_limit(l->e) <= 0 || compact_breaker_open(l->e, NULL);
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

/* A gateway that refuses by its own limits says nothing of the model's window. A provider that names the reason is believed. */
static bool
is_for_its_length(const struct loop *l, const struct err *err)
{
    const struct core *c = l->core;
    int64_t window = context_window(c), counted = c->state.context_tokens;
    if (strcmp(err->kind, "prompt_too_long") == 0 || window <= 0 || counted <= 0)
        return true;
    return context_used(c) >= window / 100 * UNLIKELY_PERCENT;
}

enum flow
loop_shorter(struct loop *l, struct round *r)
{
    enum flow f = is_for_its_length(l, &r->err) ? make_shorter(l) : FLOW_NEXT;
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
