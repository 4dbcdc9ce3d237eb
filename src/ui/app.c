#include "ui/app.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/text.h"
#include "ui/app_private.h"
#include "ui/app_transcript.h"
#include "ui/term.h"

#define KEYS_A_ROUND 512
#define EVENTS_A_ROUND 256
#define CLOSING_MS 5000
#define EXIT_LINES_MAX 1000

bool
app_running(const struct app *a)
{
    return !a->o->replay &&
           (a->view.running || a->submitted); /* a recorded turn is nobody's to interrupt */
}

void
app_note(struct app *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(a->note, sizeof(a->note), fmt, ap);
    va_end(ap);
    a->note_until_ms = clock_mono_ms() + NOTE_MS;
    a->dirty = true;
}

void
app_post(struct app *a, enum op_kind kind, const char *text)
{
    if (kind == OP_COMMAND && app_tour_takes(a, kind, text))
        return; /* an offer of it was taken up */
    if (a->engine && !a->engine_closed)
        engine_post(a->engine, op_new(kind, text));
}

void
app_quit(struct app *a, int code)
{
    a->quit = true;
    a->exit_code = code;
}

void
app_error(struct app *a, const struct err *err)
{
    struct event *ev = event_new(EV_ERROR);
    ev->u.error.err = *err;
    view_apply(&a->view, ev);
    a->dirty = true;
}

void
app_init(struct app *a, const struct app_options *o, int width, int height)
{
    *a = (struct app){.o = o, .exit_lines = EXIT_LINES};
    view_init(&a->view);
    a->transcript = transcript_new();
    approval_init(&a->approval);
    input_init(&a->input);
    complete_init(&a->complete);
    history_init(&a->history, o->history_file, o->history_project);
    commands_init(&a->commands);
    a->complete.commands = &a->commands;
    page_init(&a->page);
    a->page.commands = &a->commands;
    picker_init(&a->picker);
    trust_box_init(&a->trust);
    app_activity_init(a);
    field_init(&a->field);
    canvas_init(&a->canvas, width, height);
}

void
app_release(struct app *a)
{
    app_queue_clear(a);
    free(a->queued);
    free(a->taking_back);
    canvas_release(&a->canvas);
    field_release(&a->field);
    app_offers_release(a);
    trust_box_release(&a->trust);
    picker_release(&a->picker);
    page_release(&a->page);
    commands_release(&a->commands);
    app_activity_release(a);
    history_release(&a->history);
    complete_release(&a->complete);
    input_release(&a->input);
    approval_release(&a->approval);
    transcript_free(a->transcript);
    view_release(&a->view);
    recording_close(a->recording);
    free(a->tour.session);
    free(a->tour.filled);
}

static void
load_keys(struct app *a)
{
    struct buf b;
    struct err err;
    bool found = false;
    buf_init(&b, (size_t)1 << 20);
    if (a->o->keys_file && (!fs_read_if(a->o->keys_file, b.max, &b, &found, &err) ||
                            (found && !keys_load(buf_str(&b), &err))))
        app_error(a, &err);
    buf_release(&b);
}

/* What can wait until the first frame stands. */
static void
start(struct app *a)
{
    struct err err = {0};
    load_keys(a);
    if (a->o->events_file) {
        a->recording = recording_open(a->o->events_file, a->canvas.w, a->canvas.h, &err);
        if (!a->recording)
            app_error(a, &err);
    }
    app_start_begin(a);
    if (a->o->prompt && *a->o->prompt)
        app_submit_text(a, str_from(a->o->prompt));
}

/* From outside: SIGINT interrupts the turn, and ends the program when there is none. */
static void
take_signal(struct app *a, int sig)
{
    switch (sig) {
    case SIGINT:
        if (app_running(a))
            app_interrupt(a);
        else
            app_quit(a, 130);
        break;
    case SIGTERM:
    case SIGHUP:
        if (a->engine)
            engine_cancel(a->engine, CANCEL_TERM);
        app_quit(a, 143);
        break;
    case SIGCONT:
        term_continue();
        a->urgent = true;
        break;
    case SIGWINCH:
        if (term_resized())
            app_record_size(a);
        a->urgent = true;
        break;
    default:
        break;
    }
}

static void
take_signals(struct app *a)
{
    struct signalfd_siginfo info;
    while (read(a->o->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        take_signal(a, (int)info.ssi_signo);
}

/* Every key that is there, before anything is painted. How long until a split key must be looked at again: -1 none. */
static int
take_keys(struct app *a)
{
    struct str paste;
    int wait = -1;
    for (int i = 0; i < KEYS_A_ROUND && !a->quit; i++) {
        int key = term_key(&paste, &wait);
        if (key < 0)
            break;
        a->urgent = true;
        app_key(a, key, paste, clock_mono_ms());
        if (i + 1 == KEYS_A_ROUND)
            wait = 0;
    }
    if (term_gone())
        take_signal(a, SIGHUP);
    a->urgent = a->urgent || term_stale();
    return wait;
}

static void
sooner(int64_t *at, int64_t candidate)
{
    if (*at < 0 || candidate < *at)
        *at = candidate;
}

/* Something on the screen counts seconds. */
static bool
counts(const struct app *a)
{
    return app_running(a) || a->view.running || a->view.n_asks || a->view.retry;
}

/* A request that came since the person left the pane. */
static bool
has_new_ask(const struct app *a)
{
    for (size_t i = 0; i < a->view.n_asks; i++)
        if (a->view.asks[i].serial > a->asks_left)
            return true;
    return false;
}

static bool
wants_focus(const struct app *a)
{
    return !a->o->replay && a->focus == PANE_PROMPT && a->line == LINE_PROMPT && !a->log.id &&
           !app_box_open(a) && input_empty(&a->input) && !a->held && has_new_ask(a) &&
           !app_shows_trust_box(a) && approval_waiting(&a->approval, &a->view);
}

/* When something is due though nothing happens, or -1: an idle program sleeps. */
static int64_t
next_due(const struct app *a)
{
    int64_t at = -1;
    if (a->dirty)
        sooner(&at, a->paint_ms + FRAME_MS);
    if (counts(a))
        sooner(&at, a->tick_ms + 1000);
    if (a->note_until_ms)
        sooner(&at, a->note_until_ms);
    if (wants_focus(a))
        sooner(&at, a->last_key_ms + FOCUS_QUIET_MS);
    if (approval_holds_until(&a->approval) >= 0)
        sooner(&at, approval_holds_until(&a->approval));
    if (app_trust_due(a) >= 0)
        sooner(&at, app_trust_due(a));
    if (a->held_key)
        sooner(&at, a->held_ms + KEY_HOLD_MS);
    if (app_start_due(a) >= 0)
        sooner(&at, app_start_due(a));
    if (app_activity_due(a) >= 0)
        sooner(&at, app_activity_due(a));
    return at;
}

static void
take_time(struct app *a, int64_t now)
{
    app_start_tick(a, now);
    if (a->note_until_ms && now >= a->note_until_ms) {
        a->note_until_ms = 0;
        a->dirty = true;
    }
    if (counts(a) && now >= a->tick_ms + 1000) {
        a->tick_ms = now;
        a->dirty = true;
        app_ask_processes(a);
    }
    app_activity_time(a, now);
    if (app_trust_due(a) >= 0 && now >= app_trust_due(a))
        app_held_is_answer(a);
    if (a->held_key && now >= a->held_ms + KEY_HOLD_MS)
        app_held_key_acts(a, now);
    if (wants_focus(a) && now >= a->last_key_ms + FOCUS_QUIET_MS) {
        a->focus = PANE_APPROVAL;
        a->focus_taken = true;
        a->approval.shown_since_ms = now; /* the guard against a key that was meant elsewhere */
        a->dirty = true;
    }
    if (now >= approval_holds_until(&a->approval))
        approval_let_go(&a->approval);
    if (a->focus == PANE_APPROVAL && !a->view.n_asks && approval_holds_until(&a->approval) < 0) {
        a->focus = PANE_PROMPT;
        a->dirty = true;
    }
}

void
app_tick(struct app *a, int64_t now)
{
    approval_sync(&a->approval, &a->view, now);
    take_time(a, now);
}

/* The phases, in order: wait, signals, keys, events, time, paint. */
static void
loop(struct app *a)
{
    int key_wait = take_keys(a);
    while (!a->quit) {
        struct pollfd fds[3] = {
            {term_fd(), POLLIN, 0}, {a->o->signal_fd, POLLIN, 0}, {app_start_fd(a), POLLIN, 0}};
        int64_t now = clock_mono_ms(), due = next_due(a);
        /* While a turn runs events are looked at once a frame: they would wake us for nothing in between. */
        bool hold = app_running(a) && now < a->paint_ms + FRAME_MS;
        if (hold)
            sooner(&due, a->paint_ms + FRAME_MS);
        if (a->engine && !a->engine_closed)
            fds[2] = (struct pollfd){hold ? -1 : engine_event_fd(a->engine), POLLIN, 0};
        int timeout = due < 0 ? -1 : due <= now ? 0 : (int)(due - now);
        if (key_wait >= 0 && (timeout < 0 || key_wait < timeout))
            timeout = key_wait;
        if (poll(fds, 3, timeout) < 0 && errno != EINTR)
            app_quit(a, 1);
        if (fds[1].revents)
            take_signals(a);
        if (fds[0].revents || key_wait >= 0)
            key_wait = take_keys(a);
        if (fds[2].revents && a->start)
            app_start_take(a);
        else if (fds[2].revents)
            app_drain(a, EVENTS_A_ROUND);
        now = clock_mono_ms();
        app_tick(a, now);
        app_ask_past(a);
        if (a->urgent || (a->dirty && !hold && now - a->paint_ms >= FRAME_MS))
            app_paint(a);
    }
}

/* The variable wins over the setting. */
static int
exit_lines(const struct app *a)
{
    const char *own = getenv("YARE_EXIT_LINES");
    int64_t n = own && *own ? strtol(own, NULL, 10) : a->exit_lines;
    return n < 0 ? 0 : n > EXIT_LINES_MAX ? EXIT_LINES_MAX : (int)n;
}

/* Where the last so many rows of a text begin on a screen of this width. */
static size_t
tail_start(struct str s, int width, int lines)
{
    size_t from = s.len, row = 0;
    for (int rows = 1; from > 0; from--) {
        unsigned char c = (unsigned char)s.ptr[from - 1];
        row = c == '\n' ? 0 : row + ((c & 0xC0) != 0x80);
        bool full = width > 0 && row > (size_t)width;
        if ((c == '\n' || full) && ++rows > lines)
            break;
        if (full)
            row = 1;
    }
    while (from < s.len && ((unsigned char)s.ptr[from] & 0xC0) == 0x80)
        from++;
    return from;
}

/* The last lines of the last answer, and how to come back, on the normal screen. */
static void
say_goodbye(const struct app *a)
{
    struct buf b;
    buf_init(&b, (size_t)1 << 20);
    int lines = exit_lines(a);
    struct str answer = lines ? str_trim(str_from(a->view.last_answer)) : STR("");
    size_t from = tail_start(answer, a->canvas.w, lines);
    if (answer.len) {
        if (from)
            buf_adds(&b, "[...]\n");
        text_visible(&b, str_sub(answer, from, answer.len));
        buf_addc(&b, '\n');
    }
    if (a->view.session_id && a->talked)
        buf_addf(&b, "%syare resume %s\n", answer.len ? "\n" : "", a->view.session_id);
    struct err err;
    if (!fs_write_all(STDOUT_FILENO, buf_str(&b), &err))
        log_warn("ui", "last words: %s", err.text);
    buf_release(&b);
}

/* What ends with the program, in a line: nobody shall find out later that it did. Before the engine stops. */
static void
say_stopped(const struct app *a, struct buf *out)
{
    size_t n = 0;
    const struct activity *last = NULL;
    for (size_t i = 0; i < a->view.n_acts; i++) {
        const struct activity *t = &a->view.acts[i];
        if (!t->task || (t->state != TOOL_RUNNING && t->state != TOOL_WAITING))
            continue;
        n++;
        last = t;
    }
    if (app_running(a))
        buf_adds(out, "The running turn was interrupted; what was done is kept.\n");
    if (!n)
        return;
    buf_adds(out, "Stopped with the session: ");
    text_visible(out, str_from(last->what ? last->what : last->task));
    if (n > 1)
        buf_addf(out, " and %zu more in the background", n - 1);
    buf_addc(out, '\n');
}

/* The engine answers what is open and syncs; its last events are still taken. */
static void
stop_engine(struct app *a)
{
    if (!a->engine)
        return;
    engine_stop(a->engine);
    int64_t until = clock_mono_ms() + CLOSING_MS;
    while (!a->engine_closed && clock_mono_ms() < until) {
        struct pollfd f = {engine_event_fd(a->engine), POLLIN, 0};
        if (poll(&f, 1, (int)(until - clock_mono_ms() + 1)) <= 0 && errno != EINTR)
            break;
        app_drain(a, EVENTS_A_ROUND);
    }
}

int
app_run(const struct app_options *o, bool *ret_left_behind)
{
    struct app a;
    struct err err;
    struct term_options t = {.no_color = o->no_color || getenv("NO_COLOR"),
                             .no_mouse = o->no_mouse,
                             .no_alt_screen = o->no_alt_screen};
    if (!term_open(&t, &err)) {
        fprintf(stderr, "yare: %s\n", err.text);
        return 2;
    }
    int w, h;
    term_size(&w, &h);
    app_init(&a, o, w, h);
    a.ascii = term_ascii();
    app_paint(&a);
    start(&a);
    loop(&a);
    term_close();
    if (a.start_err.code != ERR_NONE)
        fprintf(stderr, "yare: %s\n", a.start_err.text);
    bool left_behind = !app_start_stop(&a);
    if (ret_left_behind)
        *ret_left_behind = left_behind;
    struct buf stopped;
    buf_init(&stopped, 1 << 16);
    say_stopped(&a, &stopped);
    stop_engine(&a);
    if (!fs_write_all(STDOUT_FILENO, buf_str(&stopped), &err))
        log_warn("ui", "last words: %s", err.text);
    buf_release(&stopped);
    if (!o->tour && !(o->ret_tour && *o->ret_tour))
        say_goodbye(&a);
    if (o->stop_helpers && !left_behind)
        o->stop_helpers(o->user);
    engine_free(a.engine);
    int code = a.exit_code;
    app_release(&a);
    return code;
}
