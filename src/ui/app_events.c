/* Events of the engine: recorded, looked at for what concerns the whole screen, handed to the view. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "ui/app_private.h"
#include "ui/term.h"

#define UNSTEER_SEQ (((uint64_t)1 << 43) + 3)

void
app_queue_add(struct app *a, const char *text)
{
    ARRAY_GROW(a->queued, a->n_queued, a->cap_queued);
    a->queued[a->n_queued++] = xstrdup(text);
}

static void
queue_remove(struct app *a, size_t i)
{
    free(a->queued[i]);
    a->n_queued--;
    memmove(a->queued + i, a->queued + i + 1, (a->n_queued - i) * sizeof(*a->queued));
}

bool
app_queue_take_back(struct app *a)
{
    if (!a->n_queued || !a->engine || a->engine_closed)
        return false;
    if (a->taking_back)
        return true; /* the answer is on its way */
    a->taking_back = xstrdup(a->queued[a->n_queued - 1]);
    struct op *op = op_new(OP_UNSTEER, a->taking_back);
    op->seq = UNSTEER_SEQ;
    engine_post(a->engine, op);
    return true;
}

/* It may have joined the conversation meanwhile: then there is nothing to take back. */
static void
queue_answer(struct app *a, const struct event *ev)
{
    if (ev->seq != UNSTEER_SEQ || !a->taking_back)
        return;
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), NULL);
    char *text = a->taking_back;
    a->taking_back = NULL;
    if (!json_bool(tree, "taken_back", false)) {
        app_note(a, "too late: the model has it");
    } else {
        size_t i = a->n_queued;
        while (i > 0 && strcmp(a->queued[i - 1], text) != 0)
            i--;
        if (i)
            queue_remove(a, i - 1);
        if (input_empty(&a->input))
            input_set(&a->input, str_from(text));
        else
            app_note(a, "taken back: the history has it");
    }
    free(text);
    json_free(tree);
}

void
app_queue_clear(struct app *a)
{
    while (a->n_queued)
        queue_remove(a, a->n_queued - 1);
}

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

static void
user_event(struct app *a, const struct event *ev)
{
    for (size_t i = 0; ev->u.user.text && i < a->n_queued; i++) {
        if (strstr(ev->u.user.text, a->queued[i])) {
            queue_remove(a, i);
            break;
        }
    }
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

static void
look(struct app *a, const struct event *ev)
{
    switch (ev->kind) {
    case EV_USER:
        a->submitted = a->submitted && ev->u.user.replayed;
        user_event(a, ev);
        break;
    case EV_RESULT:
        a->submitted = false;
        approval_let_go(&a->approval);
        app_queue_clear(a);
        if (strcmp(a->note, INTERRUPTING) == 0)
            a->note_until_ms = 0;
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
        queue_answer(a, ev);
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
