#include "headless_linear.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/slash.h"
#include "base/text.h"
#include "headless_linear_private.h"

#define TWICE_MS 2000

/* ---- to the engine ---- */

static void
submit(struct linear *l, const char *text)
{
    l->talked = true;
    if (l->open_submits && l->n_steered >= LINEAR_STEERS_MAX) {
        linear_line(l, "too much was typed while the turn runs; this line was not taken");
        return;
    }
    if (l->open_submits) {
        ARRAY_GROW(l->steered, l->n_steered, l->cap_steered);
        l->steered[l->n_steered++] = xstrdup(text);
        engine_post(l->engine, op_new(OP_STEER, text));
        return;
    }
    l->open_submits++;
    free(l->submitted);
    l->submitted = xstrdup(text);
    engine_post(l->engine, op_new(OP_SUBMIT, text));
}

/* Ops are done in order: when this question is answered, the command before it has been. */
static void
ask_for_the_end(struct linear *l)
{
    struct op *op = op_new(OP_QUERY, NULL);
    op->query = QUERY_STATE;
    op->seq = ++l->query;
    engine_post(l->engine, op);
}

static void
command(struct linear *l, const char *text)
{
    if (text[0] == '!') {
        l->talked = true;
        l->open_submits++; /* its end is a result */
    }
    engine_post(l->engine, op_new(OP_COMMAND, text));
    if (text[0] != '!')
        ask_for_the_end(l);
}

static bool
idle(const struct linear *l)
{
    return !l->open_submits && !l->n_steered && l->answered == l->query;
}

/* ---- permission requests ---- */

static void
drop_ask(struct linear *l, size_t i)
{
    event_free(l->asks[i]);
    l->n_asks--;
    memmove(l->asks + i, l->asks + i + 1, (l->n_asks - i) * sizeof(*l->asks));
    if (i == 0) {
        l->ask_shown = false;
        l->line = ASK_PROMPT;
    }
}

static void
post_answer(struct linear *l, const struct event *ask, enum perm_answer how, const char *reason)
{
    struct op *op = op_new(OP_PERM_ANSWER, NULL);
    op->perm.ask_id = ask->u.ask.id;
    op->perm.offer = ask->u.ask.offer;
    op->perm.answer = how;
    op->perm.reason = reason && *reason ? xstrdup(reason) : NULL;
    engine_post(l->engine, op);
}

/* One that waits already is told anew: its reasons or what "always" would do changed. False: none has that number. */
static bool
replace_ask(struct linear *l, struct event *take_ev)
{
    for (size_t i = 0; i < l->n_asks; i++) {
        if (l->asks[i]->u.ask.id != take_ev->u.ask.id)
            continue;
        event_free(l->asks[i]);
        l->asks[i] = take_ev;
        if (i == 0) {
            l->ask_shown = false;
            l->line = ASK_PROMPT;
        }
        return true;
    }
    return false;
}

/* One that nobody is shown would hold the turn for ever: past the most it is answered at once. */
static void
add_ask(struct linear *l, struct event *take_ev)
{
    if (replace_ask(l, take_ev))
        return;
    if (l->n_asks >= LINEAR_ASKS_MAX) {
        linear_line(l, "too many requests wait: one more is answered no");
        post_answer(l, take_ev, PERM_ANSWER_NO, "too many requests wait already");
        event_free(take_ev);
        return;
    }
    ARRAY_GROW(l->asks, l->n_asks, l->cap_asks);
    l->asks[l->n_asks++] = take_ev;
}

static void
decided(struct linear *l, uint64_t id)
{
    for (size_t i = 0; id && i < l->n_asks; i++)
        if (l->asks[i]->u.ask.id == id) {
            drop_ask(l, i);
            return;
        }
}

static void
answer(struct linear *l, enum perm_answer how, const char *reason)
{
    post_answer(l, l->asks[0], how, reason);
    drop_ask(l, 0);
}

static void
always(struct linear *l)
{
    const struct event *ev = l->asks[0];
    if (ev->u.ask.n_rules == 0) {
        linear_line(l, "There is no rule for this: %s",
                    ev->u.ask.rules_why ? ev->u.ask.rules_why : "answer y or n");
        return;
    }
    linear_show_rules(l);
    l->line = ASK_ALWAYS;
}

static void
take_answer(struct linear *l, struct str s)
{
    char *reason;
    if (str_is(s, "y") || str_is(s, "yes")) {
        answer(l, PERM_ANSWER_ONCE, NULL);
    } else if (str_is(s, "a") || str_is(s, "always")) {
        always(l);
    } else if (str_is(s, "w") || str_is(s, "why")) {
        linear_show_ask(l, true);
    } else if (str_is(s, "n") || str_is(s, "no")) {
        l->line = ASK_REASON;
    } else if (str_starts(s, "n ") || str_starts(s, "no ")) {
        reason = str_dup(str_trim(str_sub(s, s.ptr[1] == 'o' ? 2 : 1, s.len)));
        answer(l, PERM_ANSWER_NO, reason);
        free(reason);
    } else {
        linear_line(l,
                    "A request waits: answer y, %sn (with a reason behind it) or w. Ctrl+C "
                    "interrupts the turn.",
                    l->asks[0]->u.ask.n_rules ? "a, " : "");
    }
}

/* ---- what is typed ---- */

/* True: it was one of the front end's own. */
static bool
own_command(struct linear *l, struct str s)
{
    if (str_is(s, "/exit") || str_is(s, "/quit")) {
        l->quit = true;
    } else if (str_is(s, "/trust")) {
        engine_post(l->engine, op_new(OP_TRUST, NULL));
        ask_for_the_end(l);
        linear_line(l, "the folder is trusted from here on");
    } else {
        return false;
    }
    return true;
}

static void
take_prompt(struct linear *l, struct str s)
{
    if (!s.len || own_command(l, s))
        return;
    char *text = str_dup(s);
    if (slash_is_command(s) || (s.len > 1 && s.ptr[0] == '!'))
        command(l, text);
    else
        submit(l, text);
    free(text);
}

static void
take_line(struct linear *l, struct str s)
{
    char *text;
    s = str_trim(s);
    l->prompted = l->mid_line = false; /* the terminal has gone to the next line */
    l->interrupt_ms = 0;
    switch (l->n_asks && l->ask_shown ? l->line : ASK_PROMPT) {
    case ASK_PERMISSION:
        if (str_starts(s, "/") && own_command(l, s))
            break;
        take_answer(l, s);
        break;
    case ASK_ALWAYS:
        if (!s.len || str_is(s, "y") || str_is(s, "yes")) /* as in the panes */
            answer(l, PERM_ANSWER_ALWAYS, NULL);
        else
            l->line = ASK_PERMISSION;
        break;
    case ASK_REASON:
        text = str_dup(s);
        answer(l, PERM_ANSWER_NO, text);
        free(text);
        break;
    case ASK_PROMPT:
        take_prompt(l, s);
        break;
    }
}

static void
take_input(struct linear *l)
{
    char *at = buf_reserve(&l->in, 4096);
    if (!at)
        linear_line(l, "a line may have %zu bytes at most: yare ends", l->in.max);
    ssize_t n = at ? read(STDIN_FILENO, at, 4096) : 0;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0)
        buf_commit(&l->in, (size_t)n);
    else
        l->in_open = false;
    struct str rest = buf_str(&l->in);
    size_t nl;
    while (!l->quit && (nl = str_find(rest, '\n', 0)) != (size_t)-1) {
        struct str line = str_sub(rest, 0, nl);
        rest = str_sub(rest, nl + 1, rest.len);
        take_line(l, line);
    }
    buf_remove_front(&l->in, l->in.len - rest.len);
    if (!l->in_open)
        l->quit = true;
}

/* ---- events, signals ---- */

static void
record(struct linear *l, const struct event *ev)
{
    struct err err;
    if (!l->recording || recording_event(l->recording, ev, &err))
        return;
    linear_line(l, "recording stops: %s", err.text);
    recording_close(l->recording);
    l->recording = NULL;
}

static bool
replay_is_over(const struct event *ev)
{
    return ev->kind == EV_TASK && ev->u.task.json && strstr(ev->u.task.json, "\"over\":true");
}

static void
drop_steered(struct linear *l, size_t from, size_t to)
{
    if (from >= to)
        return;
    for (size_t i = from; i < to; i++)
        free(l->steered[i]);
    memmove(l->steered + from, l->steered + to, (l->n_steered - to) * sizeof(*l->steered));
    l->n_steered -= to - from;
}

/* An interrupt came before what was typed meanwhile: it is not sent by itself, and not lost. */
static void
say_unsent(struct linear *l, const struct event *ev)
{
    if (!l->n_steered || !ev->u.result.exit || strncmp(ev->u.result.exit, "aborted", 7) != 0)
        return;
    linear_line(l, "not sent, since you interrupted:");
    for (size_t i = 0; i < l->n_steered; i++)
        linear_lines(l, "  ", str_from(l->steered[i]), 0);
    drop_steered(l, 0, l->n_steered);
}

/* How many of those from i on the text is made of: what did not join a turn becomes one prompt, with an empty line between. 0: none. */
static size_t
steers_in(const struct linear *l, size_t i, struct str text)
{
    for (size_t n = 1; i + n <= l->n_steered; n++) {
        struct str one = str_from(l->steered[i + n - 1]);
        if (!str_starts(text, l->steered[i + n - 1]))
            return 0;
        text = str_sub(text, one.len, text.len);
        if (!text.len)
            return n;
        if (!str_starts(text, "\n\n"))
            return 0;
        text = str_sub(text, 2, text.len);
    }
    return 0;
}

/* What was typed meanwhile is in the conversation: of the turn that ran, or, where that has ended, of one of its own. The rest still
 * waits. A text that is none of them is of a command; where no turn is open, nothing more is known of them. */
static void
heard(struct linear *l, struct str text)
{
    if (l->submitted && str_is(text, l->submitted)) {
        free(l->submitted);
        l->submitted = NULL;
        return;
    }
    size_t i = 0, n = 0;
    while (i < l->n_steered && !(n = steers_in(l, i, text)))
        i++;
    if (!n && l->open_submits)
        return;
    if (l->n_steered && !l->open_submits)
        l->open_submits = 1;
    drop_steered(l, n ? i : 0, n ? i + n : l->n_steered);
}

static void
take_event(struct linear *l, struct event *ev)
{
    record(l, ev);
    if (ev->kind == EV_PERM_ASK && !l->o->replay) {
        add_ask(l, ev);
        return;
    }
    linear_show(l, ev);
    if (ev->kind == EV_PERM_DECIDED)
        decided(l, ev->u.decided.ask_id);
    if (ev->kind == EV_ANSWER)
        l->answered = ev->seq;
    if (ev->kind == EV_CLOSED)
        l->closed = true;
    if (ev->kind == EV_USER && !ev->u.user.replayed && !ev->u.user.hidden)
        heard(l, str_from(ev->u.user.text));
    if (ev->kind == EV_RESULT) {
        say_unsent(l, ev);
        if (!l->open_submits) /* an end that was not expected: nothing more is to come */
            drop_steered(l, 0, l->n_steered);
        l->open_submits -= l->open_submits > 0;
        while (l->n_asks) /* the turn has ended without an answer */
            drop_ask(l, l->n_asks - 1);
    }
    if (l->o->replay && replay_is_over(ev))
        l->quit = true;
    event_free(ev);
}

static void
interrupt(struct linear *l)
{
    int64_t now = clock_mono_ms();
    l->prompted = true; /* the terminal shows ^C there */
    if (l->open_submits || l->n_steered) {
        engine_cancel(l->engine, CANCEL_USER);
        linear_line(l, "interrupting");
    } else if (l->interrupt_ms && now - l->interrupt_ms <= TWICE_MS) {
        l->quit = true;
    } else {
        l->interrupt_ms = now;
        linear_line(l, "Ctrl+C again ends yare");
    }
}

static void
take_signals(struct linear *l)
{
    struct signalfd_siginfo info;
    while (read(l->o->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGINT) {
            interrupt(l);
        } else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
            engine_cancel(l->engine, CANCEL_TERM);
            l->code = 143;
            l->quit = true;
        } else if (info.ssi_signo == SIGCONT) {
            l->prompted = false; /* ask again: the shell has written there */
        }
    }
}

/* ---- the loop ---- */

/* A line that was typed before a request could be seen does not answer it. */
static bool
input_waits(void)
{
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    return poll(&p, 1, 0) > 0;
}

static void
ask_or_prompt(struct linear *l)
{
    if (l->o->replay || l->quit)
        return;
    if (l->n_asks && !l->ask_shown) {
        while (l->in_open && !l->quit && input_waits())
            take_input(l);
        linear_show_ask(l, false);
        l->ask_shown = true;
        l->line = ASK_PERMISSION;
        l->prompted = false;
    }
    if (!l->prompted && (l->n_asks || idle(l)) && l->greeted)
        linear_prompt(l);
}

static void
wait_for_news(struct linear *l)
{
    bool reads = l->in_open && !l->o->replay;
    struct pollfd p[3] = {{.fd = engine_event_fd(l->engine), .events = POLLIN},
                          {.fd = l->o->signal_fd, .events = POLLIN},
                          {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN}};
    struct event *ev;
    if (poll(p, 3, -1) < 0 && errno != EINTR)
        l->quit = true;
    if (p[1].revents)
        take_signals(l);
    if (p[2].revents)
        take_input(l);
    while (!l->closed && (ev = engine_next_event(l->engine, 0)) != NULL)
        take_event(l, ev);
}

static void
last_events(struct linear *l)
{
    struct event *ev;
    engine_stop(l->engine);
    while (!l->closed && (ev = engine_next_event(l->engine, -1)) != NULL) {
        if (l->o->replay || ev->kind == EV_CLOSED) {
            l->closed = ev->kind == EV_CLOSED;
            event_free(ev);
        } else {
            take_event(l, ev);
        }
    }
    if (!l->o->replay && l->talked && l->session_id)
        linear_line(l, "yare resume %s", l->session_id);
    else
        linear_fresh_line(l);
    linear_flush(l);
}

static bool
is_ascii_terminal(void)
{
    const char *set = setlocale(LC_CTYPE, "") ? nl_langinfo(CODESET) : NULL;
    return !set || strcmp(set, "UTF-8") != 0;
}

static void
release(struct linear *l)
{
    while (l->n_asks)
        drop_ask(l, l->n_asks - 1);
    free(l->asks);
    free(l->session_id);
    recording_close(l->recording);
    buf_release(&l->in);
    buf_release(&l->out);
    buf_release(&l->part);
    drop_steered(l, 0, l->n_steered);
    free(l->steered);
    free(l->submitted);
}

int
headless_linear_run(struct engine *e, const struct linear_options *o)
{
    struct linear l = {.engine = e, .o = o, .in_open = true, .ascii = is_ascii_terminal()};
    struct err err = {0};
    buf_init(&l.in, (size_t)1 << 20);
    buf_init(&l.out, BUF_MAX);
    buf_init(&l.part, BUF_MAX);
    if (o->events_file && !(l.recording = recording_open(o->events_file, 0, 0, &err))) {
        fprintf(stderr, "yare: %s\n", err.text);
        release(&l);
        return 2;
    }
    if (o->notice)
        linear_line(&l, "%s", o->notice);
    if (o->prompt && *o->prompt)
        take_prompt(&l, str_trim(str_from(o->prompt)));
    while (!l.quit && !l.closed && !l.failed) {
        ask_or_prompt(&l);
        linear_flush(&l);
        wait_for_news(&l);
    }
    last_events(&l);
    if (l.failed && !l.code)
        l.code = 1;
    int code = l.code;
    release(&l);
    return code;
}
