/* Signals while the program cannot look at them itself. */
#include "front_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "front.h"

enum { GRACE_MS = 5000, END_MS = 20000 };

struct front_watch {
    int signal_fd, ends[2],
        over_fd; /* ends: the pipe that hands signals on; over_fd: the watch ends */
    pthread_t thread;
    bool on, int_ends;
    atomic_int code;      /* 130 or 143 once a signal asked for the end */
    pthread_mutex_t lock; /* guards busy and user */
    void (*busy)(void *user);
    void *user;
    int64_t end; /* the thread's own: when the program must be gone; 0: no signal said so */
    int64_t
        until; /* the thread's own: when the program must have taken what waits in the pipe; 0: nothing waits */
};

static int
code_of(uint32_t signal)
{
    return signal == SIGINT ? 130 : signal == SIGTERM || signal == SIGHUP ? 143 : 0;
}

static void
hand_on(struct front_watch *w)
{
    struct signalfd_siginfo info;
    while (read(w->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int code = code_of(info.ssi_signo);
        /* A pipe that is full holds hundreds of signals that nobody took: one more says nothing new. */
        if (write(w->ends[1], &info, sizeof info) < 0 && errno != EAGAIN)
            return;
        if (!code)
            continue;
        atomic_store(&w->code, code);
        pthread_mutex_lock(&w->lock);
        if (w->busy)
            w->busy(w->user);
        pthread_mutex_unlock(&w->lock);
        if (!w->until)
            w->until = clock_mono_ms() + GRACE_MS;
        if (!w->end && (code != 130 || w->int_ends))
            w->end = clock_mono_ms() + END_MS;
    }
}

/* _exit by its own name would do the same, but under a sanitizer it waits for the stream that is being written to, which is what holds the
 * program up. */
static void
end_now(const struct front_watch *w)
{
    syscall(SYS_exit_group, atomic_load(&w->code));
}

/* What a signal began is the program's affair as soon as it took the signal. Until then it is held up: by a reader of its output that does
 * not read, say. Then the end comes from here; supervisors see to the commands, and the journal is as after a kill. */
static void
judge(struct front_watch *w)
{
    int waiting = 0;
    if (w->end && clock_mono_ms() >= w->end) /* it took the signal, and was held up then */
        end_now(w);
    if (ioctl(w->ends[0], FIONREAD, &waiting) != 0 || waiting == 0)
        w->until = 0;
    else if (w->until && clock_mono_ms() >= w->until)
        end_now(w);
}

static void *
watch(void *arg)
{
    struct front_watch *w = arg;
    for (;;) {
        struct pollfd p[] = {{.fd = w->signal_fd, .events = POLLIN},
                             {.fd = w->over_fd, .events = POLLIN}};
        if (poll(p, ARRAY_LEN(p), w->until || w->end ? 100 : -1) < 0 && errno != EINTR)
            return NULL;
        if (p[1].revents)
            return NULL;
        if (p[0].revents)
            hand_on(w);
        judge(w);
    }
}

static bool
start(struct front_watch *w)
{
    sigset_t all, old;
    if (pipe2(w->ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    w->over_fd = eventfd(0, EFD_CLOEXEC);
    if (w->over_fd < 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    w->on = pthread_create(&w->thread, NULL, watch, w) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return w->on;
}

struct front_watch *
front_watch_start(bool int_ends)
{
    struct front_watch *w = xcalloc(1, sizeof *w);
    w->ends[0] = w->ends[1] = w->over_fd = -1;
    pthread_mutex_init(&w->lock, NULL);
    w->signal_fd = front_signals();
    w->int_ends = int_ends;
    (void)start(w); /* without it the program looks at its signals itself, when it can */
    return w;
}

int
front_watch_fd(const struct front_watch *w)
{
    return w->on ? w->ends[0] : w->signal_fd;
}

int
front_watch_code(const struct front_watch *w)
{
    return atomic_load(&w->code);
}

int
front_watch_take(struct front_watch *w)
{
    struct signalfd_siginfo info;
    int code = 0;
    while (read(front_watch_fd(w), &info, sizeof info) == (ssize_t)sizeof info)
        code = code_of(info.ssi_signo) ? code_of(info.ssi_signo) : code;
    return code;
}

void
front_watch_busy(struct front_watch *w, void (*stop)(void *user), void *user)
{
    pthread_mutex_lock(&w->lock);
    w->busy = stop;
    w->user = user;
    if (stop && atomic_load(&w->code))
        stop(user);
    pthread_mutex_unlock(&w->lock);
}

void
front_watch_free(struct front_watch *w)
{
    if (!w)
        return;
    if (w->on) {
        uint64_t one = 1;
        if (write(w->over_fd, &one, sizeof one) == (ssize_t)sizeof one)
            pthread_join(w->thread, NULL);
    }
    for (int i = 0; i < 2; i++)
        if (w->ends[i] >= 0)
            close(w->ends[i]);
    if (w->over_fd >= 0)
        close(w->over_fd);
    close(w->signal_fd);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
