/* Between the attempts of the stream step: what the table of failures says of an answer that broke, done. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/fallback.h"
#include "engine/loop_stream.h"
#include "engine/repair.h"
#include "engine/retry.h"

/* ---- waiting ---- */

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

static void
emit_retry(struct loop *l, int attempt, int max_attempts, int64_t delay_ms, const struct err *err)
{
    struct event *e = event_new(EV_RETRY);
    e->u.retry.attempt = attempt;
    e->u.retry.max_attempts = max_attempts;
    e->u.retry.delay_ms = delay_ms;
    e->u.retry.err = *err;
    core_emit(l->core, e);
}

/* ---- the last good point ---- */

/* Goes back to the last legal point: calls that have not begun never were, and what was said so far stands, so that the person
 * loses nothing they have read and the model need not say it again. */
static bool
roll_back(struct loop *l, struct round *r)
{
    executor_discard(l->core->executor);
    struct message *m = loop_received_text(l, r);
    if (!m)
        return loop_build_request(l, r);
    bool ok = loop_append_part(l, m);
    stream_blocks_free(r->blocks); /* it stands in the history now */
    r->blocks = NULL;
    return ok && loop_append_hidden(l, LOOP_GO_ON_BROKEN) && loop_build_request(l, r);
}

static enum next
again(struct loop *l, struct round *r)
{
    return roll_back(l, r) ? NEXT_TRY : NEXT_FAIL;
}

/* ---- the ways on ---- */

static enum next
other_model(struct loop *l, struct round *r, struct tries *t, const struct failure *f,
            const struct err *err)
{
    if (!f->fallback || !fallback_next(l->core, err))
        return NEXT_GIVE_UP;
    *t = (struct tries){.pauses = t->pauses, .repaired = t->repaired};
    return again(l, r);
}

static enum next
once_more(struct loop *l, struct round *r, struct tries *t, const struct failure *f,
          const struct err *err)
{
    struct core *c = l->core;
    int most = c->given.max_retries;
    if (f->fallback && most > FALLBACK_TRIES && fallback_left(c))
        most = FALLBACK_TRIES; /* minutes of waiting help nobody whom another model could answer */
    const struct retry_policy p = {c->seams.retry_base_ms, most};
    int attempt = ++t->of[f->kind];
    int64_t delay = -1;
    if (++t->failed <= most)
        delay = retry_delay(&p, err, attempt, t->waited_ms, random_bits());
    if (delay < 0)
        return other_model(l, r, t, f, err);
    emit_retry(l, attempt, retry_tries(&p, err), delay, err);
    t->waited_ms += delay;
    return wait_retry(l, delay) ? again(l, r) : NEXT_ABORT;
}

/* What the server does not know is left out for the rest of the session. */
static enum next
without_options(struct loop *l, struct round *r, const struct err *err)
{
    struct core *c = l->core;
    if (c->plain_requests)
        return NEXT_GIVE_UP;
    c->plain_requests = true;
    core_notice(c, "the server does not know an option; it is left out from now on (%.160s)",
                err->text);
    return again(l, r);
}

static enum next
with_block_mended(struct loop *l, struct round *r, struct tries *t, const struct err *err)
{
    char what[160];
    if (t->repaired || !repair_block(l->core, &r->req, err, what, sizeof what))
        return NEXT_GIVE_UP;
    t->repaired = true;
    core_notice(l->core, "the server refused a part of the history; %s, and it is sent again",
                what);
    return again(l, r);
}

/* A tool ran: what ran must not run again, so what is complete is kept and the model goes on from the results. */
static enum next
keep_complete(struct loop *l, struct round *r, const struct err *err)
{
    struct core *c = l->core;
    if (++l->broken > c->given.max_retries)
        return NEXT_GIVE_UP;
    core_notice(c, "the answer broke off (%s); going on with what was complete", err->text);
    r->broken = true;
    return NEXT_KEEP;
}

enum next
loop_after_break(struct loop *l, struct round *r, struct tries *t, const struct err *err)
{
    const struct failure *f = failure_of(err);
    log_info("loop", "attempt failed: %s, again %s: %s", f->name, failure_retry_name(f->retry),
             err->text);
    if (executor_started(l->core->executor))
        return keep_complete(l, r, err);
    if (r->req.fast && fast_rests(l->core, f, err))
        return again(l, r);
    switch (f->retry) {
    case RETRY_ONCE:
    case RETRY_BACKOFF:
        return once_more(l, r, t, f, err);
    case RETRY_FALLBACK:
        return other_model(l, r, t, f, err);
    case RETRY_SHORTER:
        return NEXT_SHORTER;
    case RETRY_WITHOUT:
        return without_options(l, r, err);
    case RETRY_REPAIRED:
        return with_block_mended(l, r, t, err);
    case RETRY_NEVER:
    case RETRY_GO_ON:
        break;
    }
    return NEXT_GIVE_UP;
}
