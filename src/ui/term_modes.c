#include "ui/term_modes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Everything a signal handler needs stands still once `armed` is set. */
static struct {
    int in_fd, out_fd;
    struct termios line; /* as it was found */
    char undo[256];
    size_t undo_len;
    char leave[128];
    size_t leave_len;
    atomic_bool armed;
} modes = {.in_fd = -1, .out_fd = -1};

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
static struct sigaction crash_old[ARRAY_LEN(crash_signals)];
static bool crash_caught;

bool
modes_save(int in_fd, int out_fd, struct err *err)
{
    struct termios t;
    if (tcgetattr(in_fd, &t) != 0)
        return err_sys(err, errno, "cannot read the terminal's settings");
    modes.line = t;
    modes.in_fd = in_fd;
    modes.out_fd = out_fd;
    return true;
}

void
modes_write(struct str bytes)
{
    size_t off = 0;
    while (off < bytes.len) {
        ssize_t n = write(modes.out_fd, bytes.ptr + off, bytes.len - off);
        if (n > 0) {
            off += (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {modes.out_fd, POLLOUT, 0};
            if (poll(&p, 1, 1000) <= 0)
                return;
        } else if (!(n < 0 && errno == EINTR)) {
            return; /* the terminal is gone; reading will say so */
        }
    }
}

static void
undo_add(char *to, size_t cap, size_t *len, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    if (*len + n <= cap && n) {
        memcpy(to + *len, s, n);
        *len += n;
    }
}

static void
undo_make(const struct modes_wish *w)
{
    modes.leave_len = modes.undo_len = 0;
    if (w->ansi) {
        undo_add(modes.leave, sizeof(modes.leave), &modes.leave_len,
                 w->mouse ? "\x1b[<u\x1b[?1004l\x1b[?1006l\x1b[?1002l\x1b[?2004l"
                          : "\x1b[<u\x1b[?1004l\x1b[?2004l");
        undo_add(modes.undo, sizeof(modes.undo), &modes.undo_len, "\x1b[?2026l");
    }
    if (modes.undo_len + modes.leave_len <= sizeof(modes.undo)) {
        memcpy(modes.undo + modes.undo_len, modes.leave, modes.leave_len);
        modes.undo_len += modes.leave_len;
    }
    undo_add(modes.undo, sizeof(modes.undo), &modes.undo_len, w->plain);
    undo_add(modes.undo, sizeof(modes.undo), &modes.undo_len, w->show_cursor);
    if (w->alt_screen)
        undo_add(modes.undo, sizeof(modes.undo), &modes.undo_len, w->exit_alt);
    else
        undo_add(modes.undo, sizeof(modes.undo), &modes.undo_len,
                 w->ansi ? "\x1b[999;1H\r\n" : "\r\n");
}

void
modes_arm(const struct modes_wish *w)
{
    undo_make(w);
    atomic_store(&modes.armed, true);
}

void
modes_enter(const struct modes_wish *w)
{
    if (w->ansi) {
        modes_write(STR("\x1b[?2004h\x1b[?1004h\x1b[>1u"));
        if (w->mouse)
            modes_write(STR("\x1b[?1002h\x1b[?1006h"));
        if (w->ask)
            modes_write(STR("\x1b[?2026$p\x1b]11;?\x1b\\"));
    }
}

void
modes_mouse(const struct modes_wish *w)
{
    undo_make(w);
    if (w->ansi)
        modes_write(w->mouse ? STR("\x1b[?1002h\x1b[?1006h") : STR("\x1b[?1006l\x1b[?1002l"));
}

void
modes_leave(void)
{
    if (atomic_exchange(&modes.armed, false))
        modes_write(str_make(modes.leave, modes.leave_len));
}

void
modes_line_restore(void)
{
    /* FLUSH drops answers of the terminal that nobody will read, else the shell would */
    if (modes.in_fd >= 0)
        (void)tcsetattr(modes.in_fd, TCSAFLUSH, &modes.line);
}

void
modes_emergency(void)
{
    if (!atomic_exchange(&modes.armed, false))
        return;
    int saved = errno;
    ssize_t n = write(modes.out_fd, modes.undo, modes.undo_len);
    (void)n;
    (void)tcsetattr(modes.in_fd, TCSAFLUSH, &modes.line);
    errno = saved;
}

static void
on_crash(int sig)
{
    modes_emergency();
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++) {
        if (crash_signals[i] == sig)
            (void)sigaction(sig, &crash_old[i], NULL);
    }
    /* pending until this handler returns; a fault comes again by itself */
    (void)raise(sig);
}

void
modes_catch_crashes(void)
{
    static char stack[65536]; /* a handler for an overflown stack needs one of its own */
    stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)}, old;
    if (crash_caught)
        return;
    crash_caught = true;
    if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
        (void)sigaltstack(&ss, NULL);
    struct sigaction sa = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        (void)sigaction(crash_signals[i], &sa, &crash_old[i]);
}

void
modes_uncatch_crashes(void)
{
    if (!crash_caught)
        return;
    crash_caught = false;
    for (size_t i = 0; i < ARRAY_LEN(crash_signals); i++)
        (void)sigaction(crash_signals[i], &crash_old[i], NULL);
}
