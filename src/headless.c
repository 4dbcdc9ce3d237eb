#include "headless.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/engine.h"
#include "headless_json.h"

#define BACKGROUND_MS 5000

struct run {
    struct engine *engine;
    const struct options *options;
    struct headless_ids ids;
    struct buf in;         /* standard input not yet taken apart (stream input) */
    bool in_open;          /* more may come */
    int open_submits;      /* prompts without their result yet */
    int64_t behind;        /* commands that run in the background */
    int code, signal_code; /* signal_code: 130 or 143 once a signal came */
    bool write_failed, closed;
    bool to_terminal;            /* standard output is one: what it would obey is shown instead */
    bool bad_input;              /* a line of stream input could not be read */
    struct recording *recording; /* --events; NULL: none */
};

static void
put_line(struct run *r, struct str line)
{
    if (fwrite(line.ptr, 1, line.len, stdout) != line.len || putchar('\n') == EOF ||
        fflush(stdout) != 0) {
        if (!r->write_failed)
            fprintf(stderr, "yare: cannot write to standard output\n");
        r->write_failed = true;
        engine_cancel(r->engine, CANCEL_TERM); /* nobody listens any more */
    }
}

static void
record(struct run *r, const struct event *e)
{
    struct err err = {0};
    if (!r->recording || recording_event(r->recording, e, &err))
        return;
    fprintf(stderr, "yare: %s: recording stops\n", err.text);
    recording_close(r->recording);
    r->recording = NULL;
}

/* Standard error is for people: servers, files and models name things in it, and none of them may command the terminal. */
static void
complain(const char *text)
{
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    text_visible(&shown, str_from(text));
    fprintf(stderr, "yare: %s\n", buf_cstr(&shown));
    buf_release(&shown);
}

static void
show_plain(const struct event *e)
{
    if (e->kind == EV_NOTICE) {
        if (!e->u.notice.answer) /* the result says it */
            complain(e->u.notice.text);
    } else if (e->kind == EV_ERROR) {
        complain(e->u.error.err.text);
    } else if (headless_is_compaction(e) && e->u.compact.text) {
        if (!e->u.compact.answer)
            complain(e->u.compact.text);
    } else if (e->kind == EV_RETRY) {
        char *text =
            xasprintf("attempt %d failed (%s), the next one in %lld ms", e->u.retry.attempt,
                      e->u.retry.err.text, (long long)e->u.retry.delay_ms);
        complain(text);
        free(text);
    }
}

/* The finding that stands against a call: the one that denies by a rule, else that asked what nobody could answer. */
static const struct finding *
reason_of(const struct decision *d)
{
    const struct finding *best = NULL;
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct finding *f = &d->findings[i];
        bool against = f->verdict == VERDICT_ASK || f->verdict == VERDICT_DENY;
        if (against && strcmp(f->layer, "mode") != 0 && (!best || f->verdict > best->verdict))
            best = f;
    }
    return best;
}

/* What did not run is told by yare itself: the model may not say it. */
static void
tell_denied(const struct event *e)
{
    const struct finding *f = reason_of(&e->u.decided.decision);
    const char *reason = f ? f->reason : "it needs an approval and nobody is here to answer";
    char *rule = f && f->rule ? xasprintf(" (rule %s)", f->rule) : xstrdup("");
    char *text =
        xasprintf("denied: %s %s: %s%s", e->u.decided.tool, e->u.decided.what, reason, rule);
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    complain(text);
    free(rule);
    free(text);
}

/* An end that no error was told of before it. */
static void
tell_end(const struct event *e)
{
    struct cJSON *errors = json_parse(str_from(e->u.result.errors), NULL);
    struct str why = json_value_str(json_first(errors));
    if (why.len && strcmp(e->u.result.exit, "max_budget") == 0) {
        char *text = xasprintf("%.*s; --max-budget-usd and budget.session or budget.day in your "
                               "settings say how much may be spent",
                               (int)why.len, why.ptr);
        complain(text);
        free(text);
    }
    json_free(errors);
    fprintf(stderr, "yare: the run ended: %s\n", event_end_words(e->u.result.exit));
}

static void
put_answer(struct run *r, const char *text)
{
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    if (r->to_terminal)
        text_visible(&shown, str_from(text));
    put_line(r, r->to_terminal ? buf_str(&shown) : str_from(text));
    buf_release(&shown);
}

static void
show(struct run *r, const struct event *e)
{
    struct buf line;
    buf_init(&line, BUF_MAX);
    bool has = headless_json(e, &r->ids, &line);
    switch (r->options->output) {
    case OUTPUT_STREAM_JSON:
        if (has)
            put_line(r, buf_str(&line));
        break;
    case OUTPUT_JSON:
        if (e->kind == EV_RESULT)
            put_line(r, buf_str(&line));
        else
            show_plain(e);
        break;
    case OUTPUT_TEXT:
        if (e->kind == EV_PERM_DECIDED && !e->u.decided.allowed &&
            strcmp(e->u.decided.who, "abort") != 0)
            tell_denied(e);
        else if (e->kind != EV_RESULT)
            show_plain(e);
        else if (e->u.result.text && e->u.result.text[0])
            put_answer(r, e->u.result.text);
        if (e->kind == EV_RESULT && e->u.result.is_error)
            tell_end(e);
        break;
    }
    buf_release(&line);
}

static void
note_tasks(struct run *r, const struct event *e)
{
    struct err err = {0};
    struct cJSON *tree = json_parse(str_from(e->u.task.json), &err);
    r->behind = json_int(tree, "running", r->behind);
    json_free(tree);
}

static void
take_event(struct run *r, struct event *e)
{
    record(r, e);
    show(r, e);
    if (e->kind == EV_TASK)
        note_tasks(r, e);
    if (e->kind == EV_RESULT) {
        r->open_submits--;
        r->code = e->u.result.exit_code;
    } else if (e->kind == EV_CLOSED) {
        r->closed = true;
    }
    event_free(e);
}

static void
submit(struct run *r, const char *text)
{
    r->open_submits++;
    engine_post(r->engine, op_new(OP_SUBMIT, text));
}

/* One line of --input-format stream-json: a user message; its text blocks are the prompt. */
static void
take_line(struct run *r, struct str line)
{
    struct err err = {0};
    struct buf text;
    if (str_trim(line).len == 0)
        return;
    struct cJSON *tree = json_parse(line, &err);
    struct str type = json_str(tree, "type");
    buf_init(&text, BUF_MAX);
    if (!tree) {
        fprintf(stderr, "yare: standard input: %s\n", err.text);
        r->bad_input = true;
    } else if (str_is(type, "user")) {
        const struct cJSON *content = json_at(tree, "message.content");
        if (json_is_str(content))
            buf_add_str(&text, json_value_str(content));
        for (const struct cJSON *b = json_first(content); b; b = json_next(b))
            buf_add_str(&text, json_str(b, "text"));
        submit(r, buf_cstr(&text));
    } else if (!str_is(type, "keep_alive")) {
        char *why =
            xasprintf("standard input: a message of type '%.*s' is not available in yare yet",
                      (int)type.len, type.ptr ? type.ptr : "");
        complain(why);
        free(why);
    }
    buf_release(&text);
    json_free(tree);
}

static void
take_input(struct run *r)
{
    char *at = buf_reserve(&r->in, 65536);
    ssize_t n = at ? read(STDIN_FILENO, at, 65536) : 0;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (!at) {
        fprintf(stderr, "yare: a line of standard input is larger than %zu bytes\n", r->in.max);
        r->bad_input = true;
    }
    if (n > 0)
        buf_commit(&r->in, (size_t)n);
    else
        r->in_open = false;
    struct str rest = buf_str(&r->in);
    size_t nl;
    while ((nl = str_find(rest, '\n', 0)) != (size_t)-1) {
        take_line(r, str_sub(rest, 0, nl));
        rest = str_sub(rest, nl + 1, rest.len);
    }
    if (!r->in_open && rest.len) {
        take_line(r, rest);
        rest.len = 0;
    }
    buf_remove_front(&r->in, r->in.len - rest.len);
}

static void
take_signals(struct run *r, int fd)
{
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGINT) {
            r->signal_code = 130;
            engine_cancel(r->engine, CANCEL_USER);
        } else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
            r->signal_code = 143;
            engine_cancel(r->engine, CANCEL_TERM);
        }
        r->in_open = false;
    }
}

/* The answer is out. Commands in the background get a little time to end by themselves, then the engine ends them. */
static void
wait_for_background(struct run *r, int signal_fd)
{
    int64_t until = clock_mono_ms() + BACKGROUND_MS, left;
    while (!r->closed && r->behind > 0 && !r->signal_code && (left = until - clock_mono_ms()) > 0) {
        struct pollfd p[2] = {{.fd = engine_event_fd(r->engine), .events = POLLIN},
                              {.fd = signal_fd, .events = POLLIN}};
        struct event *ev;
        if (poll(p, 2, (int)left) < 0 && errno != EINTR)
            return;
        if (p[1].revents)
            take_signals(r, signal_fd);
        while (!r->closed && (ev = engine_next_event(r->engine, 0)) != NULL)
            take_event(r, ev);
    }
}

int
headless_run(struct engine *e, const struct options *o, const char *prompt, int signal_fd)
{
    struct run r = {.engine = e,
                    .options = o,
                    .in_open = o->stream_input,
                    .to_terminal = isatty(STDOUT_FILENO) == 1};
    buf_init(&r.in, BUF_MAX);
    struct err err = {0};
    if (o->events && !(r.recording = recording_open(o->events, 0, 0, &err))) {
        fprintf(stderr, "yare: %s\n", err.text);
        return 2;
    }
    if (prompt)
        submit(&r, prompt);
    while (!r.closed && (r.open_submits > 0 || r.in_open)) {
        struct pollfd p[3] = {{.fd = engine_event_fd(e), .events = POLLIN},
                              {.fd = signal_fd, .events = POLLIN},
                              {.fd = r.in_open ? STDIN_FILENO : -1, .events = POLLIN}};
        struct event *ev;
        if (poll(p, 3, -1) < 0 && errno != EINTR)
            break;
        if (p[1].revents)
            take_signals(&r, signal_fd);
        if (p[2].revents)
            take_input(&r);
        while (!r.closed && (ev = engine_next_event(e, 0)) != NULL)
            take_event(&r, ev);
    }
    wait_for_background(&r, signal_fd);
    engine_stop(e);
    while (!r.closed) {
        struct event *ev = engine_next_event(e, -1);
        if (!ev)
            break;
        take_event(&r, ev);
    }
    recording_close(r.recording);
    buf_release(&r.in);
    free(r.ids.session_id);
    free(r.ids.model);
    if (r.signal_code)
        return r.signal_code;
    if (r.write_failed) /* nobody sent the cancel that r.code speaks of */
        return 1;
    return r.code == 0 && r.bad_input ? 1 : r.code;
}
