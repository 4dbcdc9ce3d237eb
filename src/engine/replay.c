/*
 * engine_replay: the thread reads the recording by lines and gives each event when its time has come. The time that counts is the
 * recording's own (wall_ms); pausing and speed only change how fast it goes by.
 */
#include "engine/replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine_private.h"

#define BAD_TOLD 5 /* lines that were not understood; the rest is only counted */
#define SKIP_MAX 1000
#define SPEED_MIN 0.05
#define SPEED_MAX 1000.0

static void
notice(struct engine *e, const char *fmt, ...)
{
    struct buf b;
    va_list ap;
    buf_init(&b, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    struct event *ev = event_new(EV_NOTICE);
    ev->u.notice.text = buf_take(&b);
    queue_push(e->out, ev);
}

/* What the prompt's line shows of the replay. */
static void
tell_state(struct engine *e)
{
    const struct replay *r = e->replay;
    struct event *ev = event_new(EV_TASK);
    ev->u.task.json = xasprintf("{\"replay\":{\"speed\":%g,\"paused\":%s,\"over\":%s}}", r->speed,
                                r->paused ? "true" : "false", r->over ? "true" : "false");
    queue_push(e->out, ev);
}

/* ---- time ---- */

static void
go_on_until_now(struct replay *r)
{
    int64_t now = clock_mono_us();
    if (!r->paused && r->speed > 0)
        r->at_ms += (double)(now - r->since_us) / 1000 * r->speed;
    r->since_us = now;
}

static bool
is_due(const struct replay *r)
{
    if (!r->next)
        return false;
    return r->skip > 0 || (!r->paused && (r->speed <= 0 || (double)r->next->wall_ms <= r->at_ms));
}

/* Milliseconds until something is due; -1: nothing will be, unless somebody asks. */
static int
wait_ms(const struct replay *r)
{
    if (!r->next || r->paused)
        return -1;
    double ms = ((double)r->next->wall_ms - r->at_ms) / r->speed;
    return ms < 1 ? 1 : ms > 3600000 ? 3600000 : (int)ceil(ms);
}

/* ---- events ---- */

/* Answers belong to questions of then, offers cannot be taken up now, and the end of that engine is not the end of this one. */
static bool
is_played(const struct event *ev)
{
    return ev->kind != EV_ANSWER && ev->kind != EV_OFFER && ev->kind != EV_CLOSED;
}

static void
tell_bad(struct engine *e, const struct recording_line *l)
{
    if (++e->replay->bad <= BAD_TOLD)
        notice(e, "line %d of the recording was left out: %s", l->number, l->err.text);
    else if (e->replay->bad == BAD_TOLD + 1)
        notice(e, "more lines were left out; the end says how many");
}

static void
tell_end(struct engine *e)
{
    const struct replay *r = e->replay;
    if (r->bad)
        notice(e, "the recording ends here: %" PRId64 " events, %" PRId64 " lines left out",
               r->events, r->bad);
    else
        notice(e, "the recording ends here: %" PRId64 " events", r->events);
    tell_state(e);
}

/* Reads on to the next event that is played. */
static void
fetch(struct engine *e)
{
    struct replay *r = e->replay;
    struct recording_line l;
    bool new_part = !r->had_event;
    while (recording_read(&r->in, &l)) {
        if (l.kind == RECORDING_BAD) {
            tell_bad(e, &l);
        } else if (l.kind == RECORDING_PART) {
            new_part = true;
        } else if (l.kind == RECORDING_EVENT && !is_played(l.event)) {
            event_free(l.event);
        } else if (l.kind == RECORDING_EVENT) {
            /* Nobody waits for what lay between two runs, or for a clock that was set back. */
            if (new_part || (double)l.event->wall_ms < r->at_ms)
                r->at_ms = (double)l.event->wall_ms;
            r->next = l.event;
            r->next_offset = l.offset;
            r->had_event = true;
            return;
        }
    }
    r->over = true;
    tell_end(e);
}

static void
publish_session(struct engine *e, const struct event *ev)
{
    if (ev->kind != EV_SESSION || !ev->u.session.id)
        return;
    snprintf(e->core.session_id, sizeof e->core.session_id, "%s", ev->u.session.id);
    engine_publish_id(e);
}

static void
note_place(struct replay *r, const struct event *ev)
{
    if (ev->kind == EV_SESSION && ev->u.session.cleared)
        r->n_places = 0; /* another conversation from here on */
    if (ev->place <= 0 || (r->n_places && ev->place <= r->places[r->n_places - 1].place))
        return;
    ARRAY_GROW(r->places, r->n_places, r->cap_places);
    r->places[r->n_places++] = (struct replay_place){ev->place, r->next_offset};
}

static void
play(struct engine *e)
{
    struct replay *r = e->replay;
    struct event *ev = r->next;
    r->next = NULL;
    r->skip -= r->skip > 0;
    r->events++;
    r->played_to = r->in.taken; /* nothing was read past it */
    if ((double)ev->wall_ms > r->at_ms)
        r->at_ms = (double)ev->wall_ms;
    note_place(r, ev);
    publish_session(e, ev);
    queue_push(e->out, ev);
}

/* ---- ops ---- */

static void
set_speed(struct engine *e, struct str arg)
{
    struct replay *r = e->replay;
    char *text = str_dup(str_trim(arg)), *end = text;
    bool max = strcmp(text, "max") == 0;
    double v = max ? 0 : strtod(text, &end);
    if (!max && (end == text || *end || !(v >= 0) || (v > 0 && (v < SPEED_MIN || v > SPEED_MAX)))) {
        notice(e, "the speed is a number from %g to %g, or max; 1 is as it was recorded", SPEED_MIN,
               SPEED_MAX);
    } else {
        r->speed = v;
        tell_state(e);
    }
    free(text);
}

static void
step_speed(struct engine *e, bool up)
{
    struct replay *r = e->replay;
    double v = up ? r->speed * 2 : r->speed / 2;
    if (r->speed <= 0)
        v = up ? 0 : SPEED_MAX; /* slower than at once */
    r->speed = v > SPEED_MAX ? SPEED_MAX : v < SPEED_MIN && v > 0 ? SPEED_MIN : v;
    tell_state(e);
}

static void
pause_or_go(struct engine *e)
{
    struct replay *r = e->replay;
    r->paused = !r->paused && !r->over;
    tell_state(e);
}

static void
run_command(struct engine *e, struct str line)
{
    if (str_is(line, "/pause"))
        pause_or_go(e);
    else if (str_is(line, "/next"))
        e->replay->skip += e->replay->skip < SKIP_MAX;
    else if (str_is(line, "/faster") || str_is(line, "/slower"))
        step_speed(e, str_is(line, "/faster"));
    else if (str_starts(line, "/speed"))
        set_speed(e, str_sub(line, 6, line.len));
    else if (str_is(line, "/exit") || str_is(line, "/quit"))
        e->quit = true;
    else
        notice(
            e,
            "this is a replay, nothing is done in it: /pause, /next, /faster, /slower, /speed N, "
            "/quit");
}

static void
answer_query(struct engine *e, const struct op *op)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    replay_answer(e->replay, op, &b);
    struct event *ev = event_new(EV_ANSWER);
    ev->seq = op->seq;
    ev->u.answer.json =
        b.len && !buf_full(&b) ? buf_take(&b) : xstrdup("{\"error\":\"the answer is too large\"}");
    buf_release(&b);
    queue_push(e->out, ev);
}

static void
handle(struct engine *e, const struct op *op)
{
    switch (op->kind) {
    case OP_QUIT:
        e->quit = true;
        break;
    case OP_QUERY:
        answer_query(e, op);
        break;
    default:
        run_command(e, str_trim(str_from(op->text)));
        break;
    }
}

static void
take_ops(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    struct op **ops = e->inbox;
    size_t n = e->n_inbox;
    e->inbox = NULL;
    e->n_inbox = e->cap_inbox = 0;
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < n; i++) {
        handle(e, ops[i]);
        op_free(ops[i]);
    }
    free(ops);
}

/* ---- the thread ---- */

static void *
replay_main(void *arg)
{
    struct engine *e = arg;
    struct replay *r = e->replay;
    r->since_us = clock_mono_us();
    tell_state(e);
    for (;;) {
        waker_clear(&e->wake);
        go_on_until_now(r);
        take_ops(e);
        if (e->quit || cancel_fired(e->cancel) != CANCEL_NONE)
            break;
        if (!r->next && !r->over)
            fetch(e);
        if (is_due(r))
            play(e);
        else
            (void)waker_wait(&e->wake, wait_ms(r));
    }
    queue_push(e->out, event_new(EV_CLOSED));
    queue_close(e->out);
    return NULL;
}

void
replay_free(struct replay *r)
{
    if (!r)
        return;
    event_free(r->next);
    free(r->places);
    recording_read_close(&r->in);
    free(r->path);
    free(r);
}

struct engine *
engine_replay(const char *path, double speed, struct err *err)
{
    struct replay *r = xcalloc(1, sizeof *r);
    if (!recording_read_open(&r->in, path, err)) {
        free(r);
        return NULL;
    }
    r->path = xstrdup(path);
    r->speed = speed;
    return engine_start_replay(r, replay_main, err);
}
