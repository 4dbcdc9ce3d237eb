#pragma once
/*
 * The whole screen on a pseudo terminal, with an engine that answers by the prompt's text (tests/fakes/engine_fake.h). A test
 * sends keys as bytes and waits for what is drawn or for what the engine was told.
 *
 *     struct run r;
 *     run_plain(&r);
 *     submit(&r, "hello");               // typed, sent, and the engine has it
 *     assert_true(shows(&r, "you said"));
 *     leave(&r);                         // Ctrl+D, exit code 0, the terminal as it was
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "../fakes/engine_fake.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "pty.h"
#include "ui/app.h"

#define READY "\x1b[?2004h"
#define TOLD_MS 30000

struct child {
    int fd; /* what the engine is told goes here */
    bool untrusted, fails, forbid;
    int *gate; /* start_fake comes back once a byte can be read here; or NULL: at once */
    const char *prompt, *history, *keys, *events, *settings;
};

static inline struct engine *
start_fake(void *user, struct err *err)
{
    struct child *c = user;
    char byte;
    if (c->gate && read(c->gate[0], &byte, 1) != 1)
        _exit(99);
    if (c->fails || (c->gate && byte == 's')) {
        (void)err_set(err, ERR_INVALID, "no provider 'xyz'");
        return NULL;
    }
    if (c->settings)
        engine_fake_settings(c->settings);
    return engine_fake_new(c->fd, !c->untrusted);
}

static inline void
stop_fake(void *user)
{
    struct child *c = user;
    if (c->gate && write(c->gate[1], "s", 1) != 1)
        _exit(98);
}

static inline int
app_child(void *user)
{
    struct child *c = user;
    sigset_t set;
    sigemptyset(&set);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct app_options o = {.prompt = c->prompt,
                            .history_file = c->history,
                            .keys_file = c->keys,
                            .events_file = c->events,
                            .signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                            .start_engine = start_fake,
                            .stop_start = stop_fake,
                            .user = c};
    return app_run(&o, NULL);
}

struct run {
    struct pty p;
    int told; /* reading end */
    struct buf log;
};

static inline void
run_start_at(struct run *r, struct child *c, int w, int h)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    c->fd = fds[1];
    buf_init(&r->log, BUF_MAX);
    pty_start(&r->p, w, h, app_child, c);
    close(fds[1]);
    r->told = fds[0];
    assert_true(pty_until(&r->p, 0, READY, 10000));
    (void)pty_until(&r->p, 0, NULL, 60);
}

static inline void
run_start(struct run *r, struct child *c)
{
    run_start_at(r, c, 80, 24);
}

static inline void
keys(struct run *r, const char *s)
{
    pty_sends(&r->p, s);
}

/* Waits until the engine was told so. */
static inline bool
told(struct run *r, const char *line)
{
    /* A limit for what never comes: rounds would be used up by a screen that draws. */
    for (int64_t end = clock_mono_ms() + TOLD_MS; clock_mono_ms() < end;) {
        if (r->log.len && memmem(r->log.data, r->log.len, line, strlen(line)))
            return true;
        struct pollfd f[2] = {{r->told, POLLIN, 0}, {r->p.fd, POLLIN, 0}};
        if (poll(f, 2, 20) <= 0)
            continue;
        char bytes[4096];
        if (f[1].revents)
            (void)pty_until(&r->p, r->p.out.len, "\x01never", 0);
        if (f[0].revents) {
            ssize_t n = read(r->told, bytes, sizeof(bytes));
            if (n <= 0)
                return r->log.len && memmem(r->log.data, r->log.len, line, strlen(line));
            buf_add(&r->log, bytes, (size_t)n);
        }
    }
    print_error("engine was told:\n%s", buf_cstr(&r->log));
    return false;
}

/* Until nothing more is drawn: what was posted has come back. */
static inline void
settle(struct run *r)
{
    (void)pty_until(&r->p, r->p.out.len, "\x01never", 150);
}

static inline bool
shows(struct run *r, const char *s)
{
    return pty_until(&r->p, 0, s, 5000);
}

static inline int
run_end(struct run *r)
{
    int status = pty_wait(&r->p);
    assert_true(WIFEXITED(status));
    assert_true(pty_restored(&r->p));
    return WEXITSTATUS(status);
}

static inline void
run_finish(struct run *r)
{
    close(r->told);
    buf_release(&r->log);
    pty_finish(&r->p);
}

static inline void
quit_twice(struct run *r, int want)
{
    keys(r, "\x03");
    (void)pty_until(&r->p, r->p.out.len, "again", 2000);
    keys(r, "\x03");
    assert_int_equal(run_end(r), want);
}

static inline char *
temp_file(const char *content)
{
    char name[] = "/tmp/yare-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    return xstrdup(name);
}

static inline size_t
times_told(const struct run *r, const char *line)
{
    size_t n = 0;
    for (const char *s = buf_cstr(&r->log); (s = strstr(s, line)); s++)
        n++;
    return n;
}

static inline void
run_plain(struct run *r)
{
    static struct child c; /* what the child process has of it is a copy */
    c = (struct child){0};
    run_start(r, &c);
}

/* Types a prompt and sends it; the engine has it. */
static inline void
submit(struct run *r, const char *text)
{
    struct buf b;
    buf_init(&b, 4096);
    buf_addf(&b, "%s\r", text);
    keys(r, buf_cstr(&b));
    buf_clear(&b);
    buf_addf(&b, "submit %s\n", text);
    assert_true(told(r, buf_cstr(&b)));
    buf_release(&b);
}

/* Ctrl+D on an empty prompt. */
static inline void
leave(struct run *r)
{
    keys(r, "\x04");
    assert_int_equal(run_end(r), 0);
    run_finish(r);
}

static inline void
app_rig_environment(void)
{
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLORFGBG");
    unsetenv("NO_COLOR");
    unsetenv("YARE_EXIT_LINES");
    unsetenv("YARE_AMBIGUOUS_WIDTH");
    unsetenv("YARE_HYPERLINKS");
}
