/* The table of tasks, and the thread that keeps those in the background. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "perm/confinement.h"
#include "tools/task_private.h"

enum {
    PROGRESS_MS = 250,
    CLOSE_GRACE_MS = 500,
    KILL_MARGIN_MS =
        3000 /* past KILL: a process in an uninterruptible sleep is left to its supervisor */
};

/* ---- the keeper ---- */

static void
begin_end(struct task *t, enum task_state why, bool politely, int grace_ms)
{
    if (t->ending != TASK_RUNNING)
        return;
    t->ending = why;
    t->give_up_ms = clock_mono_ms() + grace_ms + KILL_MARGIN_MS;
    proc_ask_kill(&t->proc, politely, grace_ms);
}

/* What ends it besides its own will. */
static void
look_for_end(struct task *t, bool closing, int64_t now)
{
    pthread_mutex_lock(&t->lock);
    bool stop = t->stop;
    int64_t timeout = t->timeout_ms;
    pthread_mutex_unlock(&t->lock);
    if (closing)
        begin_end(t, TASK_STOPPED, false, CLOSE_GRACE_MS);
    else if (stop)
        begin_end(t, TASK_STOPPED, true, TASK_GRACE_MS);
    else if (task_flooded(t))
        begin_end(t, TASK_FLOODED, false, TASK_GRACE_MS);
    else if (timeout && now - t->start_ms >= timeout)
        begin_end(t, TASK_TIMED_OUT, false, TASK_GRACE_MS);
}

/* True: it is over, and what is left of its process is cleared away. */
static bool
settle(struct task *t, struct buf *chunk, int64_t now)
{
    bool killed = t->ending != TASK_RUNNING;
    bool tree_gone = t->proc.status_fd < 0;
    if (!t->proc.exited && !(killed && now >= t->give_up_ms))
        return false;
    if (killed && !tree_gone && now < t->give_up_ms)
        return false;
    task_drain(t, chunk);
    if (killed)
        proc_finish(&t->proc);
    else
        proc_release(&t->proc);
    return true;
}

static void
tell_progress(struct task_table *tt, struct task *t, int64_t now)
{
    if (t->output.total == t->progress_bytes || now - t->progress_ms < PROGRESS_MS)
        return;
    t->progress_bytes = t->output.total;
    t->progress_ms = now;
    if (tt->host.progress)
        tt->host.progress(tt->host.user, t);
}

static bool
attend(struct task_table *tt, struct task *t, struct buf *chunk, bool closing)
{
    proc_poll(&t->proc, NULL, 0);
    task_take(t, chunk);
    int64_t now = clock_mono_ms();
    if (!t->proc.exited)
        look_for_end(t, closing, now);
    if (!settle(t, chunk, now)) {
        tell_progress(tt, t, now);
        return false;
    }
    task_leave_sandbox(t);
    pthread_mutex_lock(&t->lock);
    bash_output_end(&t->output);
    pthread_mutex_unlock(&t->lock);
    task_set_over(t, t->ending != TASK_RUNNING ? t->ending : TASK_EXITED);
    if (tt->host.ended)
        tt->host.ended(tt->host.user);
    return true;
}

static int
sooner(int timeout, int64_t at, int64_t now)
{
    int64_t left = at - now < 0 ? 0 : at - now;
    if (left > 3600 * 1000)
        left = 3600 * 1000;
    return timeout < 0 || left < timeout ? (int)left : timeout;
}

/* Waits for any of them, or for what is due first. */
static void
wait_for_any(struct task_table *tt, struct task *const *tasks, size_t n)
{
    struct pollfd *fds = xcalloc(2 * n + 1, sizeof *fds);
    int64_t now = clock_mono_ms();
    int timeout = -1;
    fds[0] = (struct pollfd){.fd = tt->wake_fd, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        struct task *t = tasks[i];
        fds[2 * i + 1] = (struct pollfd){.fd = t->proc.fd, .events = POLLIN};
        fds[2 * i + 2] = (struct pollfd){.fd = t->proc.status_fd, .events = POLLIN};
        if (t->ending != TASK_RUNNING)
            timeout = sooner(timeout, t->give_up_ms, now);
        else if (t->timeout_ms) /* it changes no more once in the background */
            timeout = sooner(timeout, t->start_ms + t->timeout_ms, now);
        if (t->output.total != t->progress_bytes)
            timeout = sooner(timeout, t->progress_ms + PROGRESS_MS, now);
    }
    if (poll(fds, 2 * n + 1, timeout) > 0 && fds[0].revents) {
        uint64_t count;
        ssize_t got = read(tt->wake_fd, &count, sizeof count);
        (void)got; /* only there to be emptied */
    }
    free(fds);
}

static bool
is_behind(struct task *t)
{
    pthread_mutex_lock(&t->lock);
    bool yes = t->id[0] && t->state == TASK_RUNNING;
    pthread_mutex_unlock(&t->lock);
    return yes;
}

/* References to the background tasks that run. Never more than TASKS_MAX. */
static size_t
collect(struct task_table *tt, struct task **ret, bool *ret_closing)
{
    size_t n = 0;
    pthread_mutex_lock(&tt->lock);
    for (size_t i = 0; i < tt->n && n < TASKS_MAX; i++)
        if (is_behind(tt->list[i]))
            ret[n++] = task_ref(tt->list[i]);
    *ret_closing = tt->closing;
    pthread_mutex_unlock(&tt->lock);
    return n;
}

void *
task_keep(void *table)
{
    struct task_table *tt = table;
    struct task *tasks[TASKS_MAX];
    struct buf chunk;
    buf_init(&chunk, TASK_CHUNK);
    for (;;) {
        bool closing;
        size_t n = collect(tt, tasks, &closing), over = 0;
        for (size_t i = 0; i < n; i++)
            over += attend(tt, tasks[i], &chunk, closing);
        bool done = closing && over == n;
        if (!done && !over)
            wait_for_any(tt, tasks, n);
        for (size_t i = 0; i < n; i++)
            task_unref(tasks[i]);
        if (done)
            break;
    }
    buf_release(&chunk);
    return NULL;
}

void
task_wake_keeper(struct task_table *tt)
{
    uint64_t one = 1;
    ssize_t n = write(tt->wake_fd, &one, sizeof one);
    (void)n; /* full: it is readable */
}

/* ---- the table ---- */

struct task_table *
task_table_new(const struct task_host *host)
{
    struct task_table *tt = xcalloc(1, sizeof *tt);
    tt->host = *host;
    pthread_mutex_init(&tt->lock, NULL);
    tt->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (tt->wake_fd < 0)
        die("cannot make an eventfd: too many open files");
    return tt;
}

void
task_table_close(struct task_table *tt)
{
    if (!tt)
        return;
    pthread_mutex_lock(&tt->lock);
    bool join = tt->has_keeper && !tt->closing;
    tt->closing = true;
    pthread_mutex_unlock(&tt->lock);
    task_wake_keeper(tt);
    if (join)
        pthread_join(tt->keeper, NULL);
}

bool
task_table_takes_background(const struct task_table *tt)
{
    return tt && !tt->host.front_only;
}

void
task_table_free(struct task_table *tt)
{
    if (!tt)
        return;
    task_table_close(tt);
    for (size_t i = 0; i < tt->n; i++)
        task_unref(tt->list[i]);
    for (size_t i = 0; i < tt->n_left; i++)
        confined_free(tt->left[i]);
    free(tt->left);
    free(tt->list);
    close(tt->wake_fd);
    pthread_mutex_destroy(&tt->lock);
    free(tt);
}

/* The oldest that ended and that nobody waits to hear of make room. Called with the lock held. */
static void
trim_locked(struct task_table *tt)
{
    size_t ended = 0;
    for (size_t i = tt->n; i-- > 0;) {
        struct task *t = tt->list[i];
        pthread_mutex_lock(&t->lock);
        bool over = t->state != TASK_RUNNING;
        bool settled = over && t->given && t->told;
        ended += over;
        if (over && ended > OUTPUTS_KEPT)
            bash_output_drop(&t->output);
        pthread_mutex_unlock(&t->lock);
        if (!settled || ended <= TASKS_KEPT)
            continue;
        tt->n--;
        memmove(tt->list + i, tt->list + i + 1, (tt->n - i) * sizeof *tt->list);
        task_unref(t);
    }
}

static bool
start_keeper_locked(struct task_table *tt)
{
    sigset_t all, old;
    if (tt->has_keeper)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&tt->keeper, NULL, task_keep, tt);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc)
        log_warn("tasks", "cannot start the thread for background commands: %s", strerror(rc));
    tt->has_keeper = rc == 0;
    return tt->has_keeper;
}

bool
task_to_background(struct task *t, int64_t timeout_ms)
{
    struct task_table *tt = t->table;
    size_t behind = 0;
    if (!tt)
        return false;
    pthread_mutex_lock(&tt->lock);
    for (size_t i = 0; i < tt->n; i++)
        behind += is_behind(tt->list[i]);
    bool ok = !tt->closing && !tt->host.front_only && behind < TASKS_MAX && start_keeper_locked(tt);
    if (ok) {
        trim_locked(tt);
        pthread_mutex_lock(&t->lock);
        snprintf(t->id, sizeof t->id, "bash_%u", ++tt->last_id);
        t->timeout_ms = timeout_ms;
        bash_output_keep(&t->output);
        buf_release(&t->chunk); /* the keeper has one of its own */
        buf_init(&t->chunk, TASK_CHUNK);
        t->read_at = t->output.total;
        pthread_mutex_unlock(&t->lock);
    }
    pthread_mutex_unlock(&tt->lock);
    if (ok)
        task_wake_keeper(tt);
    return ok;
}

/* ---- finding ---- */

/* The newest for which the test says yes, counted. */
static struct task *
find(struct task_table *tt, bool (*test)(struct task *t, const void *arg), const void *arg,
     bool oldest)
{
    struct task *hit = NULL;
    if (!tt)
        return NULL;
    pthread_mutex_lock(&tt->lock);
    for (size_t k = 0; k < tt->n && !hit; k++) {
        struct task *t = tt->list[oldest ? k : tt->n - 1 - k];
        pthread_mutex_lock(&t->lock);
        if (test(t, arg))
            hit = task_ref(t);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_mutex_unlock(&tt->lock);
    return hit;
}

struct wanted {
    struct str id;
    bool running;
};

static bool
has_id(struct task *t, const void *arg)
{
    const struct wanted *w = arg;
    if (w->running && t->state != TASK_RUNNING)
        return false;
    return (t->id[0] && str_is(w->id, t->id)) || (t->tool_use_id && str_is(w->id, t->tool_use_id));
}

struct task *
task_find(struct task_table *tt, struct str id)
{
    struct task *t = find(tt, has_id, &(struct wanted){id, true}, false);
    return t ? t : find(tt, has_id, &(struct wanted){id, false}, false);
}

static bool
runs_behind(struct task *t, const void *arg)
{
    size_t *left = *(size_t *const *)arg;
    return t->id[0] && t->state == TASK_RUNNING && (*left)-- == 0;
}

struct task *
task_running(struct task_table *tt, size_t i)
{
    size_t *left = &i;
    return find(tt, runs_behind, &left, true);
}

static bool
count_behind(struct task *t, const void *arg)
{
    **(size_t *const *)arg += t->id[0] && t->state == TASK_RUNNING;
    return false;
}

size_t
task_count_running(struct task_table *tt)
{
    size_t n = 0, *to = &n;
    find(tt, count_behind, &to, true);
    return n;
}

static bool
take_ended(struct task *t, const void *arg)
{
    (void)arg;
    bool yes = t->id[0] && t->state != TASK_RUNNING && t->announced && !t->given;
    t->given |= yes;
    return yes;
}

struct task *
task_table_next_ended(struct task_table *tt)
{
    return find(tt, take_ended, NULL, true);
}

static bool
take_untold(struct task *t, const void *arg)
{
    const char *session = arg;
    bool yes = t->id[0] && t->state != TASK_RUNNING && t->announced && !t->told && t->session_id &&
               strcmp(t->session_id, session) == 0;
    t->told |= yes;
    return yes;
}

struct task *
task_table_next_untold(struct task_table *tt, const char *session_id)
{
    return find(tt, take_untold, session_id, true);
}
