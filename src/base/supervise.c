/* One process, one thread, one poll: the death socket, signals and (after a release) the output nobody reads. */
#include "base/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
    ORPHAN_GRACE_MS = 500, /* between TERM and KILL when yare is gone */
    PASS_MIN_MS = 5,       /* pause between two KILL passes, doubling up to the maximum */
    PASS_MAX_MS = 1000,
    GRACE_MAX_MS = 60000
};

struct supervisor {
    int death, status, drain, tty, signals;
    const char *cwd;
    bool new_session, guarding, quit, killing, draining;
    struct termios found, ours; /* before yare; yare's own */
    char **argv;                /* NULL: guards the terminal only */
    pid_t child;
    long long term_at, kill_at; /* when TERM follows INT (0: it went out), and KILL that */
    int pass_ms;
    struct supervise_caps caps;
};

static long long
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
report(const struct supervisor *s, enum supervise_event event, int value)
{
    struct supervise_report r = {.event = (int32_t)event, .value = value};
    while (write(s->status, &r, sizeof r) < 0 && errno == EINTR)
        ;
}

static _Noreturn void
usage(void)
{
    static const char text[] = "yare --supervise is for yare's own use\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(3);
    _exit(2);
}

static int
fd_arg(const char *text)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : -1;
    if (!text || *end || end == text || n < 0 || n > 65535 || fcntl((int)n, F_GETFD) < 0)
        usage();
    return (int)n;
}

static void
parse(int argc, char **argv, struct supervisor *s)
{
    if (argc < 4)
        usage();
    s->death = fd_arg(argv[2]);
    s->status = fd_arg(argv[3]);
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "--")) {
            s->argv = argv[i + 1] ? &argv[i + 1] : NULL;
            return;
        }
        if (!strcmp(argv[i], "--setsid"))
            s->new_session = true;
        else if (!strcmp(argv[i], "--drain") && i + 1 < argc)
            s->drain = fd_arg(argv[++i]);
        else if (!strcmp(argv[i], "--tty") && i + 1 < argc)
            s->tty = fd_arg(argv[++i]);
        else if (!strcmp(argv[i], "--cwd") && i + 1 < argc)
            s->cwd = argv[++i];
        else if (!strcmp(argv[i], "--memory") && i + 1 < argc)
            s->caps.memory_bytes = atoll(argv[++i]);
        else if (!strcmp(argv[i], "--processes") && i + 1 < argc)
            s->caps.processes = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--note") && i + 1 < argc)
            s->caps.note = argv[++i];
        else
            usage();
    }
}

/* Whatever else came in (there should be nothing) is not the command's business, nor ours. */
static void
close_others(const struct supervisor *s)
{
    for (int fd = 3; fd < 16; fd++)
        if (fd != s->death && fd != s->status && fd != s->drain && fd != s->tty)
            close(fd);
    int last = 15;
    const int kept[] = {s->death, s->status, s->drain, s->tty};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i] > last)
            last = kept[i];
    if (close_range((unsigned)last + 1, ~0U, 0) < 0)
        for (int fd = last + 1; fd < 4096; fd++)
            close(fd);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i] >= 0)
            fcntl(kept[i], F_SETFD, FD_CLOEXEC);
}

static void
set_up(struct supervisor *s)
{
    setsid(); /* the terminal's signals are not for us */
    prctl(PR_SET_NAME, "yare-supervise");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPIPE, SIG_IGN);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGHUP);
    sigaddset(&mask, SIGQUIT);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->tty >= 0)
        s->guarding = read(STDIN_FILENO, &s->found, sizeof s->found) == (ssize_t)sizeof s->found &&
                      tcgetattr(s->tty, &s->ours) == 0;
}

/* Past libc, which refuses its own two signals though its posix_spawn leaves them ignored. */
static void
reset_signals(void)
{
    static const char by_default[64]; /* the kernel's sigaction: SIG_DFL, no flags, no mask */
    for (int sig = 1; sig < NSIG; sig++)
        syscall(SYS_rt_sigaction, sig, by_default, NULL, 8);
}

/* Runs in the supervisor's memory, which vfork shares: nothing is written there that the supervisor reads before it sets it anew (errno is
 * such a thing). What fails is told through a pipe, since a vfork that is really a fork, as under TSan, would lose a variable. */
static _Noreturn void
run_command(const struct supervisor *s, int error_fd)
{
    struct supervise_report r = {.event = SUPERVISE_NO_EXEC};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the supervisor itself be shot */
    if (s->new_session)
        setsid();
    else
        setpgid(0, 0);
    reset_signals();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!supervise_caps_enter(&s->caps))
        r.event = SUPERVISE_NO_FORK;
    else if (s->cwd && chdir(s->cwd) < 0)
        r.event = SUPERVISE_NO_CWD;
    else
        execvp(s->argv[0], s->argv);
    r.value = errno;
    if (write(error_fd, &r, sizeof r) < 0)
        _exit(126);
    _exit(127);
}

/* The pipe closes at exec; what comes out of it before is the reason why there was none. */
static bool
start_command(struct supervisor *s)
{
    int fds[2];
    supervise_caps_begin(&s->caps);
    if (pipe2(fds, O_CLOEXEC) < 0) {
        report(s, SUPERVISE_NO_FORK, errno);
        return false;
    }
    pid_t child = vfork(); /* a copy of the memory would only be thrown away */
    if (child == 0)
        run_command(s, fds[1]);
    int error = errno;
    close(fds[1]);
    if (child < 0) {
        close(fds[0]);
        report(s, SUPERVISE_NO_FORK, error);
        return false;
    }
    s->child = child;
    struct supervise_report r;
    ssize_t n;
    do
        n = read(fds[0], &r, sizeof r);
    while (n < 0 && errno == EINTR);
    close(fds[0]);
    if (n == (ssize_t)sizeof r) {
        report(s, (enum supervise_event)r.event, r.value);
        waitpid(s->child, NULL, 0);
        return false;
    }
    report(s, SUPERVISE_STARTED, s->child);
    return true;
}

/* Politely: INT comes first, TERM later. */
static void
begin_kill(struct supervisor *s, int grace_ms, bool politely)
{
    if (grace_ms < 0)
        grace_ms = 0;
    if (grace_ms > GRACE_MAX_MS)
        grace_ms = GRACE_MAX_MS;
    long long at = now_ms() + grace_ms;
    if (s->killing && s->kill_at <= at)
        return;
    if (grace_ms > 0 && !s->killing)
        supervise_signal_tree(politely ? SIGINT : SIGTERM);
    if (!politely && s->term_at) /* an order in haste overtakes the polite one */
        supervise_signal_tree(SIGTERM);
    s->term_at = grace_ms > 0 && politely && !s->killing ? now_ms() + grace_ms / 3 : 0;
    s->killing = true;
    s->kill_at = at;
    s->pass_ms = PASS_MIN_MS;
}

/* A tree that has outgrown its caps: stopped first, so that it does not outrun the killing. */
static void
end_at_once(struct supervisor *s)
{
    supervise_signal_tree(SIGSTOP);
    begin_kill(s, 0, false);
}

/* False when no child is left, and so no descendant. */
static bool
reap(struct supervisor *s)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0)
            return true;
        if (pid < 0)
            return errno == EINTR;
        if (pid == s->child)
            supervise_caps_note(&s->caps); /* whoever hears of the end reads the note */
        if (pid == s->child)
            report(s, SUPERVISE_EXITED, status);
    }
}

static void
read_requests(struct supervisor *s)
{
    struct supervise_request r;
    ssize_t n = read(s->death, &r, sizeof r);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n != (ssize_t)sizeof r) {
        close(s->death);
        s->death = -1;
        begin_kill(s, ORPHAN_GRACE_MS, false);
    } else if (r.op == SUPERVISE_KILL) {
        begin_kill(s, r.grace_ms, false);
    } else if (r.op == SUPERVISE_STOP) {
        begin_kill(s, r.grace_ms, true);
    } else if (r.op == SUPERVISE_QUIT) {
        s->quit = true;
    } else if (r.op == SUPERVISE_RELEASE && s->drain >= 0) {
        fcntl(s->drain, F_SETFL, O_NONBLOCK);
        s->draining = true;
    }
}

static void
read_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && s->argv)
            begin_kill(s, ORPHAN_GRACE_MS, false);
}

static int
kill_pass(struct supervisor *s)
{
    if (!s->killing)
        return -1;
    long long now = now_ms();
    if (s->term_at && now >= s->term_at) {
        supervise_signal_tree(SIGTERM);
        s->term_at = 0;
    }
    if (s->term_at && s->term_at < s->kill_at)
        return (int)(s->term_at - now);
    if (now < s->kill_at)
        return (int)(s->kill_at - now);
    supervise_signal_tree(SIGKILL);
    int pause = s->pass_ms;
    s->pass_ms = pause * 2 > PASS_MAX_MS ? PASS_MAX_MS : pause * 2;
    return pause;
}

/* What a released descendant writes goes nowhere: a closed pipe would kill it. */
static void
discard_output(struct supervisor *s)
{
    static char sink[65536];
    ssize_t n = read(s->drain, sink, sizeof sink);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        close(s->drain);
        s->drain = -1;
        s->draining = false;
    }
}

static void
wait_for_something(struct supervisor *s, int timeout_ms)
{
    struct pollfd p[] = {
        {.fd = s->signals, .events = POLLIN},
        {.fd = s->death, .events = POLLIN},
        {.fd = s->draining ? s->drain : -1, .events = POLLIN},
    };
    if (poll(p, 3, timeout_ms) <= 0)
        return;
    if (p[0].revents)
        read_signals(s);
    if (p[1].revents)
        read_requests(s);
    if (p[2].revents)
        discard_output(s);
}

/* Nobody has set the terminal since yare did. The shell that started yare may be back and reading a line by now. */
static bool
still_ours(const struct supervisor *s)
{
    struct termios now;
    return tcgetattr(s->tty, &now) == 0 && now.c_lflag == s->ours.c_lflag &&
           now.c_iflag == s->ours.c_iflag && now.c_oflag == s->ours.c_oflag;
}

/* Only when yare ended without a word: leave the alternate screen, mouse, focus and paste reports, key protocols. */
static void
restore_terminal(const struct supervisor *s)
{
    static const char off[] = "\033[?2026l\033[?1049l\033[?1000l\033[?1002l\033[?1003l\033[?1006l"
                              "\033[?1004l\033[?2004l\033[<u\033[>4;0m\033[0m\033[?25h\r\n";
    if (!s->guarding || s->quit)
        return;
    if (still_ours(s))
        tcsetattr(s->tty, TCSANOW, &s->found);
    if (write(s->tty, off, sizeof off - 1) < 0)
        return;
}

_Noreturn void
supervise_main(int argc, char **argv)
{
    struct supervisor s = {.death = -1, .status = -1, .drain = -1, .tty = -1};
    parse(argc, argv, &s);
    close_others(&s);
    set_up(&s);
    bool alive = s.argv ? start_command(&s) : s.tty >= 0;
    if (!s.argv)
        report(&s, SUPERVISE_STARTED, 0);
    for (int fd = 0; fd < 3; fd++)
        close(fd);     /* the command's end of file must not wait for us */
    (void)!chdir("/"); /* hold no file system busy */
    while (alive) {
        int timeout = kill_pass(&s), count = -1;
        bool over = false;
        if (!s.killing && s.argv)
            count = supervise_caps_count(&s.caps, &over);
        if (over)
            end_at_once(&s);
        if (over || (count >= 0 && (timeout < 0 || count < timeout)))
            timeout = over ? 0 : count;
        if (s.argv && !reap(&s))
            break;
        if (!s.argv && (s.quit || s.killing))
            break;
        wait_for_something(&s, timeout);
    }
    restore_terminal(&s);
    supervise_caps_end(&s.caps);
    _exit(0);
}
