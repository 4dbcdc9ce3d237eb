/* Events of the engine: recorded, looked at for what concerns the whole screen, handed to the view. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "ui/app_private.h"
#include "ui/term.h"

static void
record(struct app *a, const struct event *ev)
{
    struct err err;
    if (!a->recording || recording_event(a->recording, ev, &err))
        return;
    app_note(a, "recording stopped: %s", err.text);
    recording_close(a->recording);
    a->recording = NULL;
}

void
app_record_size(struct app *a)
{
    struct err err;
    int w, h;
    term_size(&w, &h);
    if (a->recording && !recording_size(a->recording, w, h, &err))
        app_note(a, "%s", err.text);
}

/* The person looks elsewhere: say it once. */
static void
call(const struct app *a, const char *what)
{
    if (!a->away || a->notify == NOTIFY_OFF)
        return;
    if (a->notify == NOTIFY_OSC9)
        term_notify(what);
    else
        term_bell();
}

/* What was to end has ended. */
static void
interrupted(struct app *a)
{
    if (strcmp(a->note, INTERRUPTING) == 0)
        a->note_until_ms = 0;
}

static void
look(struct app *a, const struct event *ev)
{
    switch (ev->kind) {
    case EV_USER:
        if (ev->u.user.hidden)
            break;
        a->submitted = a->submitted && ev->u.user.replayed;
        if (!ev->u.user.replayed)
            app_offer_outdated(a);
        if (!ev->u.user.replayed)
            app_queue_joined(a, ev->u.user.text);
        break;
    case EV_COMPACT:
        if (ev->phase == PHASE_END)
            interrupted(a);
        break;
    case EV_RESULT:
        a->submitted = false;
        approval_let_go(&a->approval);
        interrupted(a);
        app_queue_turn_ended(a, ev->u.result.exit && strncmp(ev->u.result.exit, "aborted", 7) == 0);
        app_pages_turn_ended(a);
        call(a, "a turn has ended");
        break;
    case EV_PERM_DECIDED:
        if (ev->u.decided.allowed)
            approval_let_go(&a->approval);
        break;
    case EV_PERM_ASK:
        call(a, "a permission is asked for");
        break;
    case EV_SESSION:
        if (ev->u.session.cleared || ev->u.session.resumed)
            a->talked = ev->u.session.resumed;
        app_greet(a, ev->u.session.trusted);
        break;
    case EV_OFFER:
        app_offer(a, ev);
        break;
    case EV_ERROR:
        a->submitted = false;
        break;
    case EV_MODE:
        a->afk_set = a->afk_set && ev->u.mode.mode == PERM_AUTO;
        break;
    case EV_TASK:
        app_replay_event(a, ev);
        break;
    case EV_ANSWER:
        app_queue_answer(a, ev);
        complete_answer(&a->complete, ev);
        (void)transcript_answer(a->transcript, &a->view, ev);
        app_take_answer(a, ev);
        app_follow(a);
        a->dirty = true;
        break;
    case EV_CLOSED:
        a->engine_closed = true;
        if (!a->quit)
            app_quit(a, 0);
        break;
    default:
        break;
    }
}

void
app_take(struct app *a, struct event *take_ev)
{
    record(a, take_ev);
    look(a, take_ev);
    app_tour_event(a, take_ev);
    app_activity_event(a, take_ev);
    view_apply(&a->view, take_ev);
    app_queue_pump(a);
    app_tour_speak(a);
}

void
app_drain(struct app *a, int budget)
{
    bool counted = a->view.running;
    struct event *ev;
    while (budget-- > 0 && (ev = engine_next_event(a->engine, 0)))
        app_take(a, ev);
    if (a->view.version != a->seen_version) {
        a->seen_version = a->view.version;
        a->dirty = true;
    }
    if (!counted && a->view.running)
        a->tick_ms = clock_mono_ms();
}
