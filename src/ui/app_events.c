/* Events of the engine: recorded, looked at for what concerns the whole screen, handed to the view. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "ui/app_private.h"
#include "ui/term.h"

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

void
app_queue_clear(struct app *a)
{
    while (a->n_queued)
        queue_remove(a, a->n_queued - 1);
}

static void
record(struct app *a, const struct event *ev)
{
    struct buf b;
    struct err err;
    buf_init(&b, BUF_MAX);
    event_write(ev, &b);
    buf_addc(&b, '\n');
    if (!fs_write_all(a->events_fd, buf_str(&b), &err)) {
        app_note(a, "recording stopped: %s", err.text);
        (void)close(a->events_fd);
        a->events_fd = -1;
    }
    buf_release(&b);
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
call(const struct app *a)
{
    if (a->away)
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
        app_queue_clear(a);
        if (strcmp(a->note, INTERRUPTING) == 0)
            a->note_until_ms = 0;
        call(a);
        break;
    case EV_PERM_ASK:
        call(a);
        break;
    case EV_ERROR:
        a->submitted = false;
        break;
    case EV_MODE:
        a->afk_set = a->afk_set && ev->u.mode.mode == PERM_AUTO;
        break;
    case EV_ANSWER:
        complete_answer(&a->complete, ev);
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
app_drain(struct app *a, int budget)
{
    bool counted = a->view.running;
    struct event *ev;
    while (budget-- > 0 && (ev = engine_next_event(a->engine, 0))) {
        if (a->events_fd >= 0)
            record(a, ev);
        look(a, ev);
        view_apply(&a->view, ev);
    }
    if (a->view.version != a->seen_version) {
        a->seen_version = a->view.version;
        a->dirty = true;
    }
    if (!counted && a->view.running)
        a->tick_ms = clock_mono_ms();
}
