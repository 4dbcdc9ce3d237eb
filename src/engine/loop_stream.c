/* The stream step: one answer of the model, with the attempts that make it hold. Tools start from here while
 * the model still talks. */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/record.h"
#include "engine/context.h"
#include "engine/failure.h"
#include "engine/loop_stream.h"
#include "engine/meters.h"
#include "engine/outgoing.h"
#include "engine/permit.h"
#include "engine/rebuild.h"
#include "engine/spend.h"

#define PAUSES_MAX 8

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

/* ---- silence ---- */

#define STALL_S 90
#define STALL_FIRST 4  /* times that until the first word: a model may have much to read */
#define STALL_PINGS 10 /* times that with nothing but pings: they keep it alive, not for ever */

struct silence {
    int64_t limit_ms, last_ms, word_ms; /* since the last sign of life, the last that was no ping */
    bool spoke;
};

static int64_t
stall_limit(const struct core *c)
{
    if (c->seams.stall_ms)
        return c->seams.stall_ms;
    return config_int(permit_config(c->permit), "api.stall", !c->trusted, STALL_S) * 1000;
}

static void
heard(struct silence *q, enum delta_kind kind)
{
    q->last_ms = clock_mono_ms();
    if (kind == DELTA_PING || kind == DELTA_RAW)
        return;
    q->word_ms = q->last_ms;
    q->spoke = true;
}

/* Milliseconds until it has been silent for too long; negative: it has. */
static int64_t
patience(const struct silence *q)
{
    int64_t now = clock_mono_ms();
    int64_t quiet = q->last_ms + q->limit_ms * (q->spoke ? 1 : STALL_FIRST) - now;
    int64_t empty = q->word_ms + q->limit_ms * STALL_PINGS - now;
    return quiet < empty ? quiet : empty;
}

/* When the next look is due: the executor's deadline or the end of patience, whichever comes first. -1: never. */
static int
next_look(const struct core *c, const struct silence *q)
{
    int tools = executor_timeout_ms(c->executor);
    if (q->limit_ms <= 0)
        return tools;
    int64_t left = patience(q);
    if (left > INT_MAX)
        left = INT_MAX;
    left = left < 0 ? 0 : left;
    return tools >= 0 && tools < left ? tools : (int)left;
}

static enum attempt
say_stalled(const struct silence *q, struct err *err)
{
    err_set(err, ERR_TIMEOUT, "nothing came from the server for %lld s",
            (long long)(clock_mono_ms() - q->word_ms + 500) / 1000);
    err->retryable = true;
    memcpy(err->kind, "stall", sizeof "stall");
    return ATTEMPT_BROKE;
}

static enum attempt
pump_stream(struct loop *l, struct round *r, struct model_stream *s, struct err *err)
{
    struct core *c = l->core;
    struct silence q = {.limit_ms = stall_limit(c)};
    q.last_ms = q.word_ms = clock_mono_ms();
    for (;;) {
        struct delta d = {0};
        enum model_step step = model_stream_next(s, c->wake->fd, next_look(c, &q), &d, err);
        if (step == MODEL_DELTA) {
            heard(&q, d.kind);
            loop_take_delta(l, r, &d);
        }
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
        if (q.limit_ms > 0 && step != MODEL_DELTA && patience(&q) < 0)
            return say_stalled(&q, err);
    }
}

/* ---- one attempt ---- */

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
        spend_note(c);
        meters_answered(c, &done);
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

/* Of a server that did not know one of them. */
static void
leave_out_options(struct model_request *req)
{
    req->betas = req->context_management = req->effort = NULL;
    req->fast = false;
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
    enum attempt a = ATTEMPT_BROKE;
    struct model_stream *s = NULL;
    if (c->plain_requests)
        leave_out_options(&r->req);
    if (outgoing_prepare(&c->outgoing, c, &r->req, err))
        s = c->provider->start(c->provider->self, &r->req, err);
    if (s) {
        meters_watch(c, &r->req);
        c->state.n_sent = c->state.n;
        a = pump_stream(l, r, s, err);
        memcpy(l->result->request_id, s->request_id, sizeof l->result->request_id);
        if (s->betas_refused[0])
            latches_refused(c, s->betas_refused);
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

/* ---- asked on ---- */

/* The answer as received so far goes into the history and the same turn is asked on. */
static bool
keep_and_rebuild(struct loop *l, struct round *r)
{
    return loop_append_part(l, stream_blocks_message(r->blocks, l->core->model, false)) &&
           loop_build_request(l, r);
}

#define NUDGE "Your last answer was empty. Go on with the task, or say in words that it is done."

bool
loop_says_something(const struct message *m)
{
    for (size_t i = 0; m && i < m->n_blocks; i++)
        if (!rebuild_is_thinking(&m->blocks[i]))
            return true;
    return false;
}

static bool
is_empty_answer(const struct loop *l, const struct round *r)
{
    if (r->stop != STOP_END_TURN || r->calls)
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

/* ---- the step ---- */

/* Too long: the loop decides how it gets shorter. What was received of it is nothing. */
static enum flow
leave_shorter(struct loop *l, struct round *r, const struct err *err)
{
    executor_discard(l->core->executor);
    r->shorter = true;
    r->err = *err;
    return FLOW_NEXT;
}

/* A blank screen would leave the person to wait for what does not come. */
static bool
say_empty(struct core *c)
{
    const struct failure *f = failure_at(FAIL_EMPTY);
    core_notice(c, "%s; %s", f->what, f->advice);
    return true;
}

/* A whole answer came. False: the same turn is asked on, or (l->result->err) it failed. */
static bool
is_the_end(struct loop *l, struct round *r, struct tries *t, bool *ret_ok)
{
    *ret_ok = true;
    l->broken = 0;
    if (r->stop == STOP_PAUSE_TURN && !r->calls && t->pauses++ < PAUSES_MAX)
        *ret_ok = keep_and_rebuild(l, r);
    else if (!is_empty_answer(l, r))
        return true;
    else if (!l->core->state.nudged)
        *ret_ok = nudge(l, r);
    else
        return say_empty(l->core);
    return false;
}

static bool
may_be_longer(const struct loop *l)
{
    const struct core *c = l->core;
    int now = loop_max_tokens(c);
    return !c->state.max_output_override && now < LOOP_OUTPUT_MAX &&
           (!c->info || now < c->info->max_output);
}

enum flow
step_stream(struct loop *l, struct round *r)
{
    struct tries t = {0};
    for (;;) {
        struct err err = {0};
        bool ok = true;
        enum flow gate = loop_spend(l, r);
        if (gate != FLOW_NEXT)
            return gate;
        enum attempt a = run_attempt(l, r, &err);
        if (a == ATTEMPT_ABORTED)
            return loop_abort_streaming(l, r);
        if (a == ATTEMPT_DONE && is_the_end(l, r, &t, &ok)) {
            r->cut = r->stop == STOP_MAX_TOKENS && !r->calls && may_be_longer(l);
            return FLOW_NEXT;
        }
        if (!ok)
            return loop_fail(l, &l->result->err);
        if (a == ATTEMPT_DONE)
            continue;
        switch (loop_after_break(l, r, &t, &err)) {
        case NEXT_TRY:
            continue;
        case NEXT_KEEP:
            return FLOW_NEXT;
        case NEXT_SHORTER:
            return leave_shorter(l, r, &err);
        case NEXT_ABORT:
            return loop_abort_streaming(l, r);
        case NEXT_FAIL:
            return loop_fail(l, &l->result->err);
        case NEXT_GIVE_UP:
            return loop_give_up(l, r, &err);
        }
    }
}
