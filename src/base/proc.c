#include "base/proc.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc_spawn.h"
#include "base/supervise.h"

enum {
    READ_MAX = 256 << 10,
    /* what the supervisor may need after the grace before we stop waiting for it */
    KILL_MARGIN_MS = 3000,
    RUN_GRACE_MS = 500,
    PARTING_MS = 20 /* a supervisor with nothing left to watch ends within that time */
};

static const char *supervisor = "/proc/self/exe";

/* Supervisors that go on without a struct proc: their death sockets stay open until they end. */
static struct {
    pthread_mutex_t lock;
    struct detached {
        pid_t pid;
        int death_fd;
    } * list;
    size_t n, cap;
} detached = {.lock = PTHREAD_MUTEX_INITIALIZER};

void
proc_set_supervisor(const char *path)
{
    supervisor = path;
}

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool
reaped(pid_t pid, int flags)
{
    pid_t got;
    do
        got = waitpid(pid, NULL, flags);
    while (got < 0 && errno == EINTR);
    return got != 0; /* gone, or no longer ours to wait for */
}

static void
reap_detached(void)
{
    pthread_mutex_lock(&detached.lock);
    for (size_t i = 0; i < detached.n;) {
        if (reaped(detached.list[i].pid, WNOHANG)) {
            close_fd(&detached.list[i].death_fd);
            detached.list[i] = detached.list[--detached.n];
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&detached.lock);
}

static void
detach(struct proc *p)
{
    pthread_mutex_lock(&detached.lock);
    ARRAY_GROW(detached.list, detached.n, detached.cap);
    detached.list[detached.n++] = (struct detached){.pid = p->supervisor, .death_fd = p->death_fd};
    pthread_mutex_unlock(&detached.lock);
    p->death_fd = -1;
    p->supervisor = 0;
}

bool
proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err)
{
    if (!spec->argv || !spec->argv[0] || !spec->argv[0][0])
        return err_set(err, ERR_INVALID, "no command to run");
    reap_detached();
    return proc_spawn(supervisor, spec, -1, ret, err);
}

/* Takes what the supervisor reported. False at its end: the whole tree is gone. */
static bool
read_reports(struct proc *p)
{
    struct supervise_report r;
    ssize_t n;
    while ((n = read(p->status_fd, &r, sizeof r)) == (ssize_t)sizeof r)
        if (r.event == SUPERVISE_EXITED) {
            p->exited = true;
            p->exit_status = r.value;
        }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (!p->exited) {
        /* Somebody shot the supervisor; the command went with it (PR_SET_PDEATHSIG). */
        p->exited = true;
        p->exit_status = SIGKILL;
    }
    close_fd(&p->status_fd);
    return false;
}

static int
left_ms(int64_t deadline)
{
    if (deadline < 0)
        return -1;
    int64_t left = deadline - clock_mono_ms();
    return left < 0 ? 0 : (int)left;
}

bool
proc_poll(struct proc *p, struct cancel *cancel, int timeout_ms)
{
    int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
    for (;;) {
        if (cancel_fired(cancel) || (p->fd < 0 && p->exited))
            return true;
        struct pollfd fds[] = {
            {.fd = p->fd, .events = POLLIN},
            {.fd = p->status_fd, .events = POLLIN},
            {.fd = cancel ? cancel_fd(cancel) : -1, .events = POLLIN},
            {.fd = p->wake_fd, .events = POLLIN},
        };
        int n = poll(fds, ARRAY_LEN(fds), left_ms(deadline));
        if (n == 0)
            return false;
        if (n < 0)
            continue;
        bool exited_before = p->exited, tree_alive = true;
        if (fds[1].revents)
            tree_alive = read_reports(p);
        if (fds[0].revents || fds[2].revents || fds[3].revents || p->exited != exited_before ||
            !tree_alive)
            return true;
    }
}

static void
keep(struct buf *out, const char *data, size_t n)
{
    size_t room = out->max - out->len;
    buf_add(out, data, n < room ? n : room);
    if (n > room)
        out->full = true;
}

bool
proc_read(struct proc *p, struct buf *out)
{
    char data[16384];
    for (size_t total = 0; p->fd >= 0 && total < READ_MAX;) {
        ssize_t n = read(p->fd, data, sizeof data);
        if (n > 0) {
            keep(out, data, (size_t)n);
            total += (size_t)n;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return true;
        } else {
            close_fd(&p->fd);
        }
    }
    return p->fd >= 0;
}

static void
request(const struct proc *p, enum supervise_op op, int grace_ms)
{
    struct supervise_request r = {.op = (int32_t)op, .grace_ms = grace_ms};
    /* A supervisor that is gone needs no request. */
    while (send(p->death_fd, &r, sizeof r, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

/* Waits for the supervisor's end and reaps it; when that takes too long it goes on without us. */
static void
part(struct proc *p, int timeout_ms)
{
    int64_t deadline = clock_mono_ms() + timeout_ms;
    while (p->status_fd >= 0) {
        struct pollfd fd = {.fd = p->status_fd, .events = POLLIN};
        int left = left_ms(deadline);
        if (left == 0)
            break;
        if (poll(&fd, 1, left) > 0 && !read_reports(p))
            break;
    }
    if (p->status_fd >= 0) {
        detach(p);
        return;
    }
    reaped(p->supervisor, 0);
    p->supervisor = 0;
    close_fd(&p->death_fd);
}

void
proc_kill(struct proc *p, int grace_ms)
{
    if (p->supervisor <= 0)
        return;
    request(p, SUPERVISE_KILL, grace_ms);
    /* Longer only for a process in the kernel's uninterruptible sleep: the supervisor keeps trying. */
    part(p, (grace_ms > 0 ? grace_ms : 0) + KILL_MARGIN_MS);
}

void
proc_ask_kill(struct proc *p, bool politely, int grace_ms)
{
    if (p->supervisor > 0)
        request(p, politely ? SUPERVISE_STOP : SUPERVISE_KILL, grace_ms);
}

void
proc_release(struct proc *p)
{
    if (p->supervisor <= 0)
        return;
    request(p, SUPERVISE_RELEASE, 0);
    part(p, PARTING_MS);
    proc_finish(p);
    reap_detached();
}

void
proc_finish(struct proc *p)
{
    if (p->supervisor > 0) {
        proc_kill(p, RUN_GRACE_MS);
    } else if (p->supervisor == 0 && p->child == 0) {
        *p = (struct proc){.fd = -1, .status_fd = -1, .death_fd = -1, .child = -1, .wake_fd = -1};
        return; /* zeroed: its descriptors are none of ours */
    }
    close_fd(&p->fd);
    close_fd(&p->status_fd);
    close_fd(&p->death_fd);
    p->supervisor = 0;
}

static bool
over(struct proc *p, struct cancel *cancel, bool something, const char *name, int timeout_ms,
     struct err *err)
{
    if (cancel_fired(cancel)) {
        proc_kill(p, RUN_GRACE_MS);
        err_set(err, ERR_CANCELLED, "'%s' was cancelled", name);
        return true;
    }
    if (!something) {
        proc_kill(p, RUN_GRACE_MS);
        err_set(err, ERR_TIMEOUT, "'%s' did not end within %d ms", name, timeout_ms);
        return true;
    }
    return false;
}

bool
proc_run(const struct proc_spec *spec, struct cancel *cancel, int timeout_ms, struct buf *out,
         int *ret_status, struct err *err)
{
    struct proc p;
    if (!proc_start(spec, &p, err))
        return false;
    int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
    while (!p.exited) {
        int left = left_ms(deadline);
        bool something = left != 0 && proc_poll(&p, cancel, left);
        if (!p.exited && over(&p, cancel, something, spec->argv[0], timeout_ms, err)) {
            proc_read(&p, out);
            proc_finish(&p);
            return false;
        }
        proc_read(&p, out);
    }
    proc_read(&p, out); /* what was in the pipe when it ended */
    *ret_status = p.exit_status;
    proc_release(&p);
    return true;
}

bool
proc_guard_terminal(int tty_fd, const struct termios *found, struct proc *ret, struct err *err)
{
    const struct proc_spec guard = {.stdin_data = str_make((const char *)found, sizeof *found)};
    if (!proc_spawn(supervisor, &guard, tty_fd, ret, err))
        return false;
    close_fd(&ret->fd);
    return true;
}

void
proc_unguard_terminal(struct proc *p)
{
    if (p->supervisor <= 0)
        return;
    request(p, SUPERVISE_QUIT, 0);
    reaped(p->supervisor, 0);
    p->supervisor = 0;
    p->child = -1;
    proc_finish(p);
}
