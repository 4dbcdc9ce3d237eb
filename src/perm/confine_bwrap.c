/*
 * bubblewrap: this process starts it with itself as the sandbox's first process, waits for the command's end and ends the same way.
 * bubblewrap would tell a signal as 128 + n and keep a process with the output open; so its own process is let go as soon as the
 * sandbox stands.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perm/confine.h"

enum { TRIES = 3 /* a socket may go between the look and the mount */ };

static bool
read_report(int fd, struct confine_report *r)
{
    ssize_t n;
    do
        n = read(fd, r, sizeof *r);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *r;
}

static _Noreturn void
end_as(int status)
{
    if (WIFSIGNALED(status)) {
        int sig = WTERMSIG(status);
        sigset_t one;
        signal(sig, SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, sig);
        kill(getpid(), sig);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        _exit(128 + sig);
    }
    _exit(WEXITSTATUS(status));
}

/* Descriptors that bwrap hands on: itself as a program, the reports, the command's standard error. */
struct passed {
    int self, report, err;
};

/* Sockets come and go: those that are there now. One that is gone needs no hiding. */
static size_t
add_sockets(const struct confine *c, const char **v, size_t n)
{
    struct stat st;
    for (size_t i = 0; i < c->n_sockets; i++)
        if (lstat(c->sockets[i], &st) == 0 && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
            v[n++] = "--ro-bind";
            v[n++] = "/dev/null";
            v[n++] = c->sockets[i];
        }
    return n;
}

static _Noreturn void
start_bwrap(const struct confine *c, const struct passed *fds, int said, char **argv)
{
    char args[16], exe[40], fd[16], words[64];
    size_t n_argv = 0, n = 0;
    snprintf(args, sizeof args, "%d", c->plan_fd);
    snprintf(exe, sizeof exe, "/proc/self/fd/%d", fds->self);
    snprintf(fd, sizeof fd, "%d", fds->report);
    snprintf(words, sizeof words, "err=%d,%s%s", fds->err, c->network ? "net," : "",
             c->proxy ? "proxy," : "");
    while (argv[n_argv])
        n_argv++;
    const char **v = xcalloc(n_argv + 3 * c->n_sockets + 16, sizeof *v);
    v[n++] = "bwrap";
    v[n++] = "--args";
    v[n++] = args;
    n = add_sockets(c, v, n);
    const char *const tail[] = {
        "--", exe, "--confine", "init", fd, words, c->proxy ? c->proxy : "-", "--"};
    for (size_t i = 0; i < ARRAY_LEN(tail); i++)
        v[n++] = tail[i];
    for (size_t i = 0; i < n_argv; i++)
        v[n++] = argv[i];
    const int kept[] = {c->plan_fd, fds->self, fds->report, fds->err};
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        fcntl(kept[i], F_SETFD, 0);
    dup2(said, STDERR_FILENO); /* what bwrap has to say is no output of the command */
    execv(c->bwrap, (char **)(uintptr_t)v);
    dprintf(STDERR_FILENO, "cannot run '%s': %s", c->bwrap, strerror(errno));
    _exit(CONFINE_FAILED);
}

/* One try. True: the sandbox stands, *ret_report tells of the command's end. False: what bwrap said is in `why`. */
static bool
try_bwrap(const struct confine *c, char **argv, int *ret_report, char *why, size_t size)
{
    int report[2], said[2];
    struct confine_report r = {.event = -1};
    struct passed fds = {.self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                         .err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
    if (fds.self < 0 || fds.err < 0 || pipe2(report, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0 ||
        lseek(c->plan_fd, c->args_at, SEEK_SET) < 0)
        confine_fail(c, "descriptors", errno);
    fds.report = report[1];
    pid_t bwrap = fork();
    if (bwrap < 0)
        confine_fail(c, "cannot make a process", errno);
    if (bwrap == 0)
        start_bwrap(c, &fds, said[1], argv);
    close(report[1]);
    close(said[1]);
    close(fds.self);
    close(fds.err);
    bool stands = read_report(report[0], &r) && r.event == CONFINE_STARTED;
    if (stands)
        kill(bwrap,
             SIGKILL); /* it only waits now; the sandbox's first process is the supervisor's */
    waitpid(bwrap, NULL, 0);
    ssize_t n = stands ? 0 : read(said[0], why, size - 1);
    why[n > 0 ? n : 0] = '\0';
    why[strcspn(why, "\n")] = '\0';
    close(said[0]);
    *ret_report = report[0];
    if (!stands)
        close(report[0]);
    return stands;
}

/* A socket in a folder that bubblewrap cannot enter, or that is gone: the command, with the same rights, cannot get there either, so it
 * needs no hiding. True: there was one, and it is left out now. */
static bool
leave_out(struct confine *c, const char *why)
{
    static const char *const says[] = {"Can't mkdir parents for ", "Can't create file at "};
    const char *path = NULL;
    for (size_t i = 0; i < ARRAY_LEN(says) && !path; i++)
        if ((path = strstr(why, says[i])))
            path += strlen(says[i]);
    for (size_t i = 0; path && i < c->n_sockets; i++) {
        size_t n = strlen(c->sockets[i]);
        if (strncmp(path, c->sockets[i], n) == 0 && strncmp(path + n, ": ", 2) == 0) {
            c->sockets[i] = c->sockets[--c->n_sockets];
            return true;
        }
    }
    return false;
}

_Noreturn void
confine_bwrap(const struct confine *plan, char **argv)
{
    struct confine own = *plan, *c = &own;
    struct confine_report r;
    char why[PATH_MAX + 256];
    int report, tries = 0;
    sigset_t all;
    /* The supervisor signals every process of the tree; what counts is how the command takes it. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    while (!try_bwrap(c, argv, &report, why, sizeof why))
        if (!leave_out(c, why) && (!c->n_sockets || ++tries == TRIES))
            confine_fail(c, *why ? why : "bubblewrap made no sandbox", ECANCELED);
    close(c->plan_fd);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (!read_report(report, &r) || r.event != CONFINE_EXITED)
        end_as(SIGKILL);
    end_as(r.value);
}

/* ---- inside ---- */

static void
report(int fd, enum confine_event event, int value)
{
    struct confine_report r = {.event = (int32_t)event, .value = value};
    while (write(fd, &r, sizeof r) < 0 && errno == EINTR)
        ;
}

static _Noreturn void
broken(int fd, const char *step)
{
    int saved = errno;
    fprintf(stderr, "yare: inside the sandbox: %s: %s\n", step, strerror(saved));
    report(fd, CONFINE_BROKEN, saved);
    _exit(CONFINE_FAILED);
}

static _Noreturn void
run_command(char **argv)
{
    static const char by_default[64]; /* as base/supervise does: also past libc's own two */
    sigset_t none;
    setsid();
    for (int sig = 1; sig < NSIG; sig++)
        syscall(SYS_rt_sigaction, sig, by_default, NULL, 8);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    confine_exec(argv);
}

static bool
is_child_of(const char *pid, pid_t parent)
{
    char path[64], text[512];
    int found = -1;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *after = strrchr(text, ')');
    return n <= 0 || (after && sscanf(after + 1, " %*c %d", &found) == 1 && found == parent);
}

/* The bridge and its connections serve nobody any more. */
static bool
only_bridge_left(pid_t bridge)
{
    DIR *dir = opendir("/proc");
    bool only = true;
    for (struct dirent *d; only && dir && (d = readdir(dir));) {
        int pid = atoi(d->d_name);
        only = pid <= 1 || pid == bridge || is_child_of(d->d_name, bridge);
    }
    if (dir)
        closedir(dir);
    return only;
}

/* The sandbox ends with its last process. */
static _Noreturn void
reap(int fd, pid_t command, pid_t bridge)
{
    bool ended = false;
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == command) {
            report(fd, CONFINE_EXITED, status);
            ended = true;
        } else if (pid < 0 && errno != EINTR) {
            _exit(0);
        }
        if (ended && bridge > 0 && only_bridge_left(bridge))
            _exit(0);
    }
}

_Noreturn void
confine_init(int argc, char **argv)
{
    if (argc < 8 || strcmp(argv[6], "--") != 0)
        _exit(2);
    int fd = atoi(argv[3]), err = strncmp(argv[4], "err=", 4) ? -1 : atoi(argv[4] + 4);
    bool network = strstr(argv[4], "net,"), proxy = strstr(argv[4], "proxy,");
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (err < 0 || dup2(err, STDERR_FILENO) < 0)
        broken(fd, "descriptors");
    close(err);
    if (close_range(3, (unsigned)fd - 1, 0) < 0 || close_range((unsigned)fd + 1, ~0U, 0) < 0)
        broken(fd, "descriptors");
    prctl(PR_SET_NAME, "yare-init");
    if (getpid() != 1) {
        errno = EINVAL;
        broken(fd, "no process space of its own");
    }
    pid_t bridge = proxy ? confine_bridge(argv[5]) : 0;
    if (bridge < 0)
        broken(fd, "the way to the proxy");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !confine_drop_caps())
        broken(fd, "capabilities");
    bool scoped = confine_landlock_scopes();
    /* With the machine's network come its abstract sockets, which nothing but the scope keeps off. */
    struct confine_sockets sockets = {.internet = true, .unix_ = !network || scoped};
    if (!confine_seccomp(sockets))
        broken(fd, "seccomp");
    prctl(PR_SET_DUMPABLE, 0);
    pid_t pid = fork();
    if (pid < 0)
        broken(fd, "cannot make a process");
    if (pid == 0)
        run_command(argv + 7);
    report(fd, CONFINE_STARTED, 0);
    for (int i = 0; i < 3; i++)
        close(i);
    reap(fd, pid, bridge);
}
