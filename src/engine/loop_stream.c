/* The stream step: one answer of the model, with the attempts that make it hold. Tools start from here while
 * the model still talks. */
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/record.h"
#include "engine/context.h"
#include "engine/loop_private.h"
#include "engine/meters.h"
#include "engine/retry.h"

#define PAUSES_MAX 8

/* ---- one attempt ---- */

enum attempt {
    ATTEMPT_DONE,
    ATTEMPT_ABORTED,
    ATTEMPT_BROKE, /* err says why */
};

/* Some servers end a message inside a block. What is whole counts: an input that is not will say so when it is parsed. */
static void
close_left_open(struct loop *l, struct round *r)
{
    while (r->n_open) {
        const struct delta stop = {.kind = DELTA_BLOCK_STOP, .index = r->open[0]};
        loop_take_delta(l, r, &stop);
    }
}

static enum attempt
pump_stream(struct loop *l, struct round *r, struct model_stream *s, struct err *err)
{
    struct core *c = l->core;
    for (;;) {
        struct delta d = {0};
        enum model_step step =
            model_stream_next(s, c->wake->fd, executor_timeout_ms(c->executor), &d, err);
        if (step == MODEL_DELTA)
            loop_take_delta(l, r, &d);
        if (step == MODEL_DONE) {
            close_left_open(l, r);
            return ATTEMPT_DONE;
        }
        if (step == MODEL_FAILED)
            return ATTEMPT_BROKE;
        if ((step == MODEL_IDLE || waker_is_set(c->wake)) && !loop_attend(l))
            return ATTEMPT_ABORTED;
        if (cancel_fired(l->turn) != CANCEL_NONE)
            return ATTEMPT_ABORTED;
    }
}

static size_t
answer_bytes(const struct stream_blocks *b)
{
    size_t n = 0;
    for (size_t i = 0; i < stream_blocks_len(b); i++) {
        const struct stream_block *k = stream_blocks_at(b, i);
        n += k->text.len + k->input.len;
    }
    return n;
}

/* A server that gives no usage leaves the meter at an estimate, marked as one, never at 0. */
static void
commit_usage(struct loop *l, struct round *r)
{
    struct core *c = l->core;
    struct usage *u = &c->usage.running;
    *u = *stream_blocks_usage(r->blocks);
    size_t out_bytes = answer_bytes(r->blocks);
    if (!u->input && !u->output && !u->cache_read && !u->cache_write && out_bytes) {
        u->input = context_used(c);
        u->output = (int64_t)(out_bytes / 4 + 1);
        u->estimated = true;
    }
    struct usage done = *u;
    if (done.input || done.output || done.cache_read || done.cache_write) {
        struct buf note;
        buf_init(&note, 4096);
        c->usage.turn = c->passport.turns + c->state.turn;
        usage_write_note(&c->usage, c->model, &done, &note);
        core_note(c, "usage", NULL, buf_str(&note));
        buf_release(&note);
        usage_commit(&c->usage, &c->passport, c->model, c->info);
    }
    core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
}

static void
record_request(struct loop *l, const struct round *r, enum attempt a, int64_t ms)
{
    const struct usage *u = stream_blocks_usage(r->blocks);
    const struct record_field f[] = {
        REC_S("model", l->core->model),
        REC_S("outcome", a == ATTEMPT_DONE      ? "ok"
                         : a == ATTEMPT_ABORTED ? "aborted"
                                                : "failed"),
        REC_I("duration_ms", ms),
        REC_I("input_tokens", u->input),
        REC_I("output_tokens", u->output),
        REC_I("cache_read_tokens", u->cache_read),
    };
    record_event("api_request", l->core->session_id, f, ARRAY_LEN(f));
}

static enum attempt
run_attempt(struct loop *l, struct round *r, struct err *err)
{
    struct core *c = l->core;
    stream_blocks_free(r->blocks);
    r->blocks = stream_blocks_new();
    r->calls = 0;
    r->stop = STOP_NONE;
    executor_begin(c->executor, l->turn, false);
    int64_t began = clock_mono_ms();
    struct model_stream *s = c->provider->start(c->provider->self, &r->req, err);
    enum attempt a = ATTEMPT_BROKE;
    if (s) {
        meters_watch(c);
        c->state.n_sent = c->state.n;
        a = pump_stream(l, r, s, err);
        memcpy(r->request_id, s->request_id, sizeof r->request_id);
        memcpy(l->result->request_id, s->request_id, sizeof r->request_id);
        model_stream_free(s); /* closes the connection */
    }
    int64_t ms = clock_mono_ms() - began;
    l->result->api_ms += ms;
    c->passport.api_ms += ms;
    loop_end_open_blocks(l, r);
    record_request(l, r, a, ms);
    commit_usage(l, r);
    r->stop = stream_blocks_stop(r->blocks);
    return a;
}

/* ---- between attempts ---- */

static uint32_t
random_bits(void)
{
    uint32_t v = 0;
    return getrandom(&v, sizeof v, 0) == (ssize_t)sizeof v ? v : 0;
}

/* Waits, answering ops; false: cancelled. */
static bool
wait_retry(struct loop *l, int64_t delay_ms)
{
    int64_t until = clock_mono_ms() + delay_ms, left;
    while ((left = until - clock_mono_ms()) > 0) {
        if (waker_wait(l->core->wake, (int)left) && !loop_attend(l))
            return false;
        if (cancel_fired(l->turn) != CANCEL_NONE)
            return false;
    }
    return true;
}

static bool
use_fallback(struct loop *l, struct round *r, const struct err *err)
{
    struct core *c = l->core;
    if (!c->fallback_model || c->on_fallback || !(retry_is_overload(err) || err->http == 404))
        return false;
    core_notice(c, "%s does not answer (%s); going on with %s", c->model, err->text,
                c->fallback_model);
    core_set_model(c, c->fallback_model);
    c->on_fallback = true;
    r->req.model = c->model;
    r->req.max_tokens = loop_max_tokens(c);
    return true;
}

struct tries {
    int failed, pauses;
    int64_t waited_ms;
};

enum next { NEXT_TRY, NEXT_KEEP, NEXT_ABORT, NEXT_GIVE_UP };

static enum next
after_break(struct loop *l, struct round *r, struct tries *t, const struct err *err)
{
    struct core *c = l->core;
    if (executor_started(c->executor)) {
        /* What ran must not run again: what is complete is kept and the model goes on from the results. */
        if (++l->broken <= c->max_retries) {
            core_notice(c, "the answer broke off (%s); going on with what was complete", err->text);
            r->broken = true;
            return NEXT_KEEP;
        }
        return NEXT_GIVE_UP;
    }
    const struct retry_policy p = {c->seams.retry_base_ms, c->max_retries};
    int64_t delay = retry_delay(&p, err, ++t->failed, t->waited_ms, random_bits());
    if (delay < 0) {
        if (!use_fallback(l, r, err))
            return NEXT_GIVE_UP;
        *t = (struct tries){.pauses = t->pauses};
        executor_discard(c->executor);
        return NEXT_TRY;
    }
    executor_discard(c->executor);
    struct event *e = event_new(EV_RETRY);
    e->u.retry.attempt = t->failed;
    e->u.retry.max_attempts = c->max_retries;
    e->u.retry.delay_ms = delay;
    e->u.retry.err = *err;
    core_emit(c, e);
    t->waited_ms += delay;
    return wait_retry(l, delay) ? NEXT_TRY : NEXT_ABORT;
}

/* The answer as received so far goes into the history and the same turn is asked on. */
static bool
keep_and_rebuild(struct loop *l, struct round *r)
{
    struct message *m = stream_blocks_message(r->blocks, l->core->model, false);
    return core_append(l->core, m, &l->result->err) && loop_build_request(l, r);
}

#define NUDGE "Your last answer was empty. Go on with the task, or say in words that it is done."

bool
loop_says_something(const struct message *m)
{
    for (size_t i = 0; m && i < m->n_blocks; i++)
        if (m->blocks[i].kind != BLOCK_THINKING && m->blocks[i].kind != BLOCK_REDACTED_THINKING)
            return true;
    return false;
}

static bool
is_empty_answer(const struct loop *l, const struct round *r)
{
    if (r->stop != STOP_END_TURN || r->calls || l->core->state.nudged)
        return false;
    const struct message *last = state_last(&l->core->state);
    bool after_results = last && last->role == ROLE_USER && last->n_blocks &&
                         last->blocks[0].kind == BLOCK_TOOL_RESULT;
    if (!after_results)
        return false;
    struct message *m = stream_blocks_message(r->blocks, l->core->model, false);
    bool says = loop_says_something(m);
    message_free(m);
    return !says;
}

static bool
nudge(struct loop *l, struct round *r)
{
    l->core->state.nudged = true;
    return loop_append_stub(l, "(empty answer)") && loop_append_hidden(l, NUDGE) &&
           loop_build_request(l, r);
}

/* ---- ends of the step ---- */

/* No model says more in one answer; a server that never stops must not fill the context for good. */
#define PARTIAL_MAX ((size_t)512 << 10)

static struct str
start_of(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && ((unsigned char)text.ptr[max] & 0xc0) == 0x80)
        max--;
    return str_sub(text, 0, max);
}

/* Text that was on the screen when it ended is kept and marked; nothing that did not run is. */
static bool
keep_partial_text(struct loop *l, struct round *r, const char *else_stub)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    size_t room = PARTIAL_MAX;
    for (size_t i = 0; r->blocks && i < stream_blocks_len(r->blocks); i++) {
        const struct stream_block *k = stream_blocks_at(r->blocks, i);
        struct str text = k->kind == BLOCK_TEXT ? start_of(k->text, room) : STR("");
        room -= text.len;
        message_add_text(b, text);
    }
    struct message *m = message_build(b);
    if (!m)
        return loop_append_stub(l, else_stub);
    m->partial = true;
    m->model = xstrdup(l->core->model);
    message_ref(m);
    bool ok = core_append(l->core, m, &l->result->err);
    if (ok)
        core_emit_message(l->core, m, NULL);
    message_free(m);
    return ok;
}

static enum flow
abort_streaming(struct loop *l, struct round *r)
{
    struct core *c = l->core;
    enum cancel_reason why = cancel_fired(l->turn);
    if (executor_len(c->executor) == 0) {
        if (!keep_partial_text(l, r, "(interrupted before an answer)"))
            return loop_fail(l, &l->result->err);
        return LOOP_END(l, EXIT_ABORTED_STREAMING);
    }
    executor_abort(c->executor, why);
    struct message *m = stream_blocks_message(r->blocks, c->model, true);
    if (m)
        message_ref(m);
    bool ok = core_append(c, m, &l->result->err);
    if (ok && m)
        core_emit_message(c, m, NULL);
    message_free(m);
    if (!ok || !loop_append_results(l, &l->result->err))
        return loop_fail(l, &l->result->err);
    return LOOP_END(l, EXIT_ABORTED_STREAMING);
}

/* What in the request is large, for a person who has to decide what to drop. */
static void
say_what_is_large(struct loop *l, struct err *err)
{
    const struct state *st = &l->core->state;
    size_t largest = 0, total = 0;
    for (size_t i = 0; i < st->n; i++) {
        total += st->messages[i]->json.len;
        if (st->messages[i]->json.len > st->messages[largest]->json.len)
            largest = i;
    }
    struct err said = *err;
    err_set(
        err, ERR_LIMIT,
        "too long for %s: %zu messages of %zu kB (the largest, number %zu, has %zu kB), tools and "
        "instructions %zu kB. Start anew with /clear, or a shorter prompt. The server said: %.200s",
        l->core->model, st->n, total / 1000, largest + 1,
        st->n ? st->messages[largest]->json.len / 1000 : 0, prompt_bytes(&l->core->prompt) / 1000,
        said.text);
    err->http = said.http;
}

static enum flow
give_up(struct loop *l, struct round *r, struct err *err)
{
    struct core *c = l->core;
    bool too_long = retry_is_too_long(err);
    bool ok;
    if (executor_started(c->executor)) {
        executor_abort(c->executor, CANCEL_TIMEOUT);
        struct message *m = stream_blocks_message(r->blocks, c->model, true);
        struct err broke = {0};
        ok = core_append(c, m, &broke) && loop_append_results(l, &broke);
    } else {
        executor_discard(c->executor);
        ok = keep_partial_text(l, r, "(no answer: the request failed)");
    }
    if (!ok)
        log_error("loop", "%s", l->result->err.text);
    if (too_long)
        say_what_is_large(l, err);
    l->result->err = *err;
    core_error(c, err, l->result->request_id);
    return too_long ? LOOP_END(l, EXIT_PROMPT_TOO_LONG) : LOOP_END(l, EXIT_MODEL_ERROR);
}

/* ---- the step ---- */

enum flow
step_stream(struct loop *l, struct round *r)
{
    struct tries t = {0};
    for (;;) {
        struct err err = {0};
        enum attempt a = run_attempt(l, r, &err);
        if (a == ATTEMPT_ABORTED)
            return abort_streaming(l, r);
        if (a == ATTEMPT_BROKE) {
            switch (after_break(l, r, &t, &err)) {
            case NEXT_TRY:
                continue;
            case NEXT_KEEP:
                return FLOW_NEXT;
            case NEXT_ABORT:
                return abort_streaming(l, r);
            case NEXT_GIVE_UP:
                return give_up(l, r, &err);
            }
        }
        l->broken = 0;
        if (r->stop == STOP_PAUSE_TURN && !r->calls && t.pauses++ < PAUSES_MAX) {
            if (!keep_and_rebuild(l, r))
                return loop_fail(l, &l->result->err);
            continue;
        }
        if (is_empty_answer(l, r)) {
            if (!nudge(l, r))
                return loop_fail(l, &l->result->err);
            continue;
        }
        r->cut = r->stop == STOP_MAX_TOKENS && !r->calls && !l->core->state.max_output_override &&
                 loop_max_tokens(l->core) < 64000 &&
                 (!l->core->info || loop_max_tokens(l->core) < l->core->info->max_output);
        return FLOW_NEXT;
    }
}
