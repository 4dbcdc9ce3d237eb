#include "engine/engine.h"

#include <signal.h>
#include <stdlib.h>

#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/executor.h"
#include "engine/replay.h"
#include "engine/tasks.h"
#include "model/provider.h"

#define EVENTS_MAX 256

static bool
merge_events(void *last, void *item)
{
    return event_merge(last, item);
}

static void
free_event(void *item)
{
    event_free(item);
}

/* ---- the thread ---- */

static bool
must_end(const struct engine *e)
{
    return e->quit || cancel_fired(e->cancel) != CANCEL_NONE;
}

void
engine_emit_not_run(struct engine *e, enum loop_exit why, const struct err *err)
{
    struct event *ev = event_new(EV_RESULT);
    ev->u.result.subtype = loop_exit_subtype(why);
    ev->u.result.exit = loop_exit_name(why);
    ev->u.result.is_error = true;
    ev->u.result.exit_code = loop_exit_code(why, cancel_fired(e->cancel));
    ev->u.result.cost_usd = e->core.usage.cost_usd;
    if (err)
        ev->u.result.errors = submit_errors(err);
    core_emit(&e->core, ev);
}

static void
drop_work(struct engine *e)
{
    struct work *w;
    while ((w = ops_next_work(e)) != NULL) {
        if (w->wants_result)
            engine_emit_not_run(e, EXIT_ABORTED_STREAMING, NULL);
        work_free(w);
    }
}

/* Nothing is left to do: a cancel from now on has nothing to cancel. */
static bool
is_idle(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    bool idle = e->n_inbox == 0;
    if (idle)
        e->busy = e->cancel_next = false;
    pthread_mutex_unlock(&e->lock);
    return idle;
}

static void *
engine_main(void *arg)
{
    struct engine *e = arg;
    core_emit_session(&e->core, false);
    if (e->notice)
        core_notice(&e->core, "%s", e->notice);
    core_say_window(&e->core);
    if (e->core.resumed) {
        resume_replay(&e->core);
        context_emit(&e->core);
    }
    for (;;) {
        waker_clear(&e->wake);
        ops_drain(e);
        if (must_end(e))
            break;
        struct work *w = ops_next_work(e);
        if (w)
            submit_run(e, w);
        else if (is_idle(e))
            waker_wait(&e->wake, -1);
    }
    drop_work(e);
    query_files_stop(e);
    tasks_close(&e->core);
    core_save_passport(&e->core, SESSION_IDLE, NULL);
    struct err err = {0};
    if (!core_sync(&e->core, &err))
        core_error(&e->core, &err, NULL);
    core_emit(&e->core, event_new(EV_CLOSED));
    queue_close(e->out);
    return NULL;
}

/* ---- turns ---- */

struct cancel *
engine_begin_turn(struct engine *e)
{
    struct cancel *turn = cancel_new(e->cancel);
    pthread_mutex_lock(&e->lock);
    e->turn = cancel_ref(turn);
    bool fired = e->cancel_next;
    e->cancel_next = false;
    pthread_mutex_unlock(&e->lock);
    if (fired)
        cancel_fire(turn, CANCEL_USER);
    e->running = true;
    return turn;
}

void
engine_end_turn(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    struct cancel *turn = e->turn;
    e->turn = NULL;
    /* A cancel that comes just after the turn's end was meant for it, not for a prompt that is still to be typed. */
    e->busy = e->n_work > 0 || e->n_steer > 0;
    pthread_mutex_unlock(&e->lock);
    cancel_free(turn);
    e->running = false;
    core_recheck_window(&e->core);
}

void
engine_publish_id(struct engine *e)
{
    ARRAY_GROW(e->ids, e->n_ids, e->cap_ids);
    e->ids[e->n_ids] = xstrdup(e->core.session_id);
    atomic_store(&e->id, e->ids[e->n_ids++]);
}

/* ---- start and end ---- */

static void
free_parts(struct engine *e)
{
    bool all_back = e->replay || core_release(&e->core);
    replay_free(e->replay);
    if (all_back)
        queue_free(e->out);
    else
        queue_close(e->out);
    waker_release(&e->wake);
    cancel_free(e->cancel);
    for (size_t i = 0; i < e->n_inbox; i++)
        op_free(e->inbox[i]);
    free(e->inbox);
    for (size_t i = 0; i < e->n_steer; i++)
        free(e->steer[i]);
    free(e->steer);
    free(e->notice);
    for (size_t i = 0; i < e->n_ids; i++)
        free(e->ids[i]);
    free(e->ids);
    pthread_mutex_destroy(&e->lock);
    if (all_back)
        free(e);
}

static bool
open_session(struct engine *e, const struct engine_config *cfg, struct err *err)
{
    if (!cfg->resume_id) {
        core_session_new(&e->core, cfg->session_id);
        return true;
    }
    if (!core_session_resume(&e->core, cfg->resume_id, cfg->fork, err))
        return false;
    core_restore_choices(&e->core, e->core.given.mode || cfg->print_mode);
    return true;
}

static bool
start_thread(struct engine *e, void *(*run)(void *), struct err *err)
{
    /* Signals belong to the front end. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&e->thread, NULL, run, e);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        return err_sys(err, rc, "cannot start the engine's thread");
    return true;
}

static struct engine *
new_engine(void)
{
    struct engine *e = xcalloc(1, sizeof *e);
    e->work_end = &e->work;
    pthread_mutex_init(&e->lock, NULL);
    e->out = queue_new(EVENTS_MAX, merge_events, free_event);
    e->cancel = cancel_new(NULL);
    return e;
}

struct engine *
engine_start_replay(struct replay *take_r, void *(*run)(void *), struct err *err)
{
    struct engine *e = new_engine();
    e->replay = take_r;
    e->core.out = e->out;
    engine_publish_id(e);
    if (waker_init(&e->wake, err) && start_thread(e, run, err))
        return e;
    free_parts(e);
    return NULL;
}

struct engine *
engine_start(const struct engine_config *cfg, struct err *err)
{
    struct engine *e = new_engine();
    bool ok = waker_init(&e->wake, err);
    ok = core_init(&e->core, cfg, e->out, &e->wake, e->cancel, ok ? err : NULL) && ok;
    ok = ok && open_session(e, cfg, err);
    if (ok)
        engine_publish_id(e);
    e->notice = cfg->notice ? xstrdup(cfg->notice) : NULL;
    if (ok && start_thread(e, engine_main, err))
        return e;
    free_parts(e);
    return NULL;
}

void
engine_free(struct engine *e)
{
    if (!e)
        return;
    engine_stop(e);
    struct event *ev;
    while ((ev = engine_next_event(e, -1)) != NULL)
        event_free(ev);
    pthread_join(e->thread, NULL);
    free_parts(e);
}

/* ---- from any thread ---- */

void
engine_post(struct engine *e, struct op *take_op)
{
    pthread_mutex_lock(&e->lock);
    bool ok = !e->closed && e->n_inbox < INBOX_MAX;
    if (ok) {
        ARRAY_GROW(e->inbox, e->n_inbox, e->cap_inbox);
        e->inbox[e->n_inbox++] = take_op;
    } else {
        e->overflow = true;
        e->n_refused += !e->closed && take_op->kind == OP_SUBMIT;
    }
    pthread_mutex_unlock(&e->lock);
    if (!ok)
        op_free(take_op);
    waker_signal(&e->wake);
}

void
engine_cancel(struct engine *e, enum cancel_reason reason)
{
    if (reason == CANCEL_NONE)
        return;
    if (reason == CANCEL_TERM) {
        cancel_fire(e->cancel, reason);
    } else {
        pthread_mutex_lock(&e->lock);
        struct cancel *turn = e->turn ? cancel_ref(e->turn) : NULL;
        e->cancel_next |= !turn && (e->busy || e->n_inbox);
        pthread_mutex_unlock(&e->lock);
        if (turn)
            cancel_fire(turn, reason);
        cancel_free(turn);
    }
    waker_signal(&e->wake);
}

void
engine_stop(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->closed = true;
    pthread_mutex_unlock(&e->lock);
    engine_cancel(e, CANCEL_TERM);
}

/* ---- for the reader ---- */

struct event *
engine_next_event(struct engine *e, int timeout_ms)
{
    struct event *ev = queue_pop(e->out);
    if (ev)
        return ev;
    if (!queue_wait(e->out, timeout_ms))
        return NULL;
    return queue_pop(e->out);
}

void
engine_offer(struct engine *e, const char *kind, const char *text, const char *command)
{
    struct event *ev = event_new(EV_OFFER);
    ev->u.offer.kind = xstrdup(kind);
    ev->u.offer.text = xstrdup(text);
    ev->u.offer.command = xstrdup(command);
    core_emit(&e->core, ev);
}

int
engine_event_fd(struct engine *e)
{
    return queue_fd(e->out);
}

const char *
engine_session_id(const struct engine *e)
{
    return atomic_load(&((struct engine *)(uintptr_t)e)->id);
}
