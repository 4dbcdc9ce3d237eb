#pragma once
/* A child of the test on a pseudo terminal, seen from the terminal's side. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

struct pty {
    int fd;    /* the terminal's side */
    int slave; /* kept open: its settings stay readable after the child */
    pid_t pid;
    struct termios before;
    struct buf out; /* everything the child wrote */
};

static inline void
pty_start(struct pty *p, int w, int h, int (*child)(void *), void *user)
{
    p->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (p->fd < 0 || grantpt(p->fd) != 0 || unlockpt(p->fd) != 0)
        abort();
    p->slave = open(ptsname(p->fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct winsize ws = {.ws_col = (unsigned short)w, .ws_row = (unsigned short)h};
    if (p->slave < 0 || ioctl(p->fd, TIOCSWINSZ, &ws) != 0 || tcgetattr(p->slave, &p->before) != 0)
        abort();
    buf_init(&p->out, BUF_MAX);
    p->pid = fork();
    if (p->pid == 0) {
        setsid();
        /* cmocka's handlers are not the child's, and no child outlives a failed test */
        (void)signal(SIGSEGV, SIG_DFL);
        (void)signal(SIGABRT, SIG_DFL);
        (void)signal(SIGBUS, SIG_DFL);
        (void)signal(SIGALRM, SIG_DFL);
        (void)alarm(60);
        int fd = open(ptsname(p->fd), O_RDWR);
        (void)ioctl(fd, TIOCSCTTY, 0);
        (void)dup2(fd, 0);
        (void)dup2(fd, 1);
        _exit(child(user));
    }
}

/* Reads what the child writes until `needle` stands behind `from` or it is silent for `ms`; true: found. NULL: silence. */
static inline bool
pty_until(struct pty *p, size_t from, const char *needle, int ms)
{
    for (;;) {
        if (needle && p->out.len > from &&
            memmem(p->out.data + from, p->out.len - from, needle, strlen(needle)))
            return true;
        struct pollfd f = {p->fd, POLLIN, 0};
        char bytes[4096];
        if (poll(&f, 1, ms) <= 0)
            return false;
        ssize_t n = read(p->fd, bytes, sizeof(bytes));
        if (n <= 0)
            return false;
        buf_add(&p->out, bytes, (size_t)n);
    }
}

static inline void
pty_send(struct pty *p, const char *bytes, size_t len)
{
    while (len) {
        struct pollfd f = {p->fd, POLLIN | POLLOUT, 0};
        if (poll(&f, 1, 5000) <= 0)
            abort();
        if (f.revents & POLLIN) {
            char in[4096];
            ssize_t n = read(p->fd, in, sizeof(in));
            if (n > 0)
                buf_add(&p->out, in, (size_t)n);
        }
        if (f.revents & POLLOUT) {
            ssize_t n = write(p->fd, bytes, len < 1024 ? len : 1024);
            if (n <= 0)
                abort();
            bytes += n;
            len -= (size_t)n;
        }
    }
}

static inline void
pty_sends(struct pty *p, const char *s)
{
    pty_send(p, s, strlen(s));
}

/* Waits for the child's end, reading what it still writes; the wait status. */
static inline int
pty_wait(struct pty *p)
{
    int status = -1;
    for (int i = 0; i < 1000; i++) {
        pid_t got = waitpid(p->pid, &status, WNOHANG);
        (void)pty_until(p, 0, NULL, got == p->pid ? 0 : 10);
        if (got == p->pid)
            return status;
    }
    (void)kill(p->pid, SIGKILL);
    (void)waitpid(p->pid, &status, 0);
    return -1;
}

/* The line settings are what they were. */
static inline bool
pty_line_same(struct pty *p)
{
    struct termios t;
    return tcgetattr(p->slave, &t) == 0 && t.c_iflag == p->before.c_iflag &&
           t.c_oflag == p->before.c_oflag && t.c_cflag == p->before.c_cflag &&
           t.c_lflag == p->before.c_lflag && memcmp(t.c_cc, p->before.c_cc, sizeof(t.c_cc)) == 0;
}

/* +1 for each `on`, -1 for each `off` that was written: 0 when the last word is `off` or neither came. */
static inline bool
pty_mode_off(const struct pty *p, const char *on, const char *off)
{
    const char *last_on = NULL, *last_off = NULL;
    for (size_t i = 0; i < p->out.len; i++) {
        struct str s = str_make(p->out.data + i, p->out.len - i);
        if (str_starts(s, on))
            last_on = s.ptr;
        if (str_starts(s, off))
            last_off = s.ptr;
    }
    return !last_on || (last_off && last_off > last_on);
}

static inline bool
pty_restored(struct pty *p)
{
    return pty_line_same(p) && pty_mode_off(p, "\x1b[?1049h", "\x1b[?1049l") &&
           pty_mode_off(p, "\x1b[?2004h", "\x1b[?2004l") &&
           pty_mode_off(p, "\x1b[?1002h", "\x1b[?1002l") &&
           pty_mode_off(p, "\x1b[?1006h", "\x1b[?1006l") &&
           pty_mode_off(p, "\x1b[?1004h", "\x1b[?1004l") &&
           pty_mode_off(p, "\x1b[>1u", "\x1b[<u") &&
           pty_mode_off(p, "\x1b[?2026h", "\x1b[?2026l") &&
           pty_mode_off(p, "\x1b[?25l", "\x1b[?25h");
}

static inline void
pty_finish(struct pty *p)
{
    (void)close(p->fd);
    (void)close(p->slave);
    buf_release(&p->out);
}
