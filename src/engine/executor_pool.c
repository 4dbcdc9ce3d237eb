#include "engine/executor_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/judged.h"
#include "perm/confinement.h"
#include "perm/read_filter.h"
#include "tools/filestate.h"

struct pool {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work, idle;
    struct job *queued, **queued_end, *done, **done_end;
    size_t n_queued, n_threads, n_waiting;
    bool closing;
    int refs;            /* the engine and each thread */
    atomic_int in_tools; /* threads inside a tool; goes up under the lock, down without */
    struct waker *wake;  /* NULL once the engine let go */
};

struct job *
job_new(void)
{
    struct job *j = xcalloc(1, sizeof *j);
    tool_result_init(&j->result);
    return j;
}

void
job_free(struct job *j)
{
    if (!j)
        return;
    tool_result_release(&j->result);
    for (size_t i = 0; i < ARRAY_LEN(j->strings); i++)
        free(j->strings[i]);
    judged_free(j->judged);
    read_filter_free(j->filter);
    confinement_unref(j->ctx.confinement);
    cancel_free(j->ctx.cancel);
    cancel_free(j->ctx.background);
    file_state_unref(j->ctx.files);
    free(j->input);
    free(j);
}

static void
free_list(struct job *j)
{
    while (j) {
        struct job *next = j->next;
        job_free(j);
        j = next;
    }
}

struct pool *
pool_new(struct waker *wake)
{
    struct pool *p = xcalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->work, &attr);
    pthread_cond_init(&p->idle, &attr);
    pthread_condattr_destroy(&attr);
    p->queued_end = &p->queued;
    p->done_end = &p->done;
    p->refs = 1;
    p->wake = wake;
    return p;
}

/* Called with the lock held, which it lets go of. */
static void
unref_unlock(struct pool *p)
{
    bool last = --p->refs == 0;
    pthread_mutex_unlock(&p->lock);
    if (!last)
        return;
    free_list(p->queued);
    free_list(p->done);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void
run_job(struct job *j)
{
    struct err err = {0};
    j->started_ms = clock_mono_ms();
    struct cJSON *input = json_parse(str_from(j->input), &err);
    if (input)
        j->tool->run(&j->ctx, input, &j->result);
    else
        tool_result_fail(&j->result, "%s", err.text);
    json_free(input);
    j->ended_ms = clock_mono_ms();
}

static void *
worker(void *arg)
{
    struct pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->queued && !p->closing) {
            p->n_waiting++;
            pthread_cond_wait(&p->work, &p->lock);
            p->n_waiting--;
        }
        if (p->closing)
            break;
        struct job *j = p->queued;
        p->queued = j->next;
        if (!p->queued)
            p->queued_end = &p->queued;
        j->next = NULL;
        p->n_queued--;
        atomic_fetch_add(&p->in_tools, 1); /* under the lock: pool_free must not miss it */
        pthread_mutex_unlock(&p->lock);
        run_job(j);
        atomic_fetch_sub(&p->in_tools, 1);
        pthread_mutex_lock(&p->lock);
        *p->done_end = j;
        p->done_end = &j->next;
        /* under the lock: the engine may let go of the waker right after */
        if (p->wake)
            waker_signal(p->wake);
        pthread_cond_broadcast(&p->idle);
    }
    p->n_threads--;
    pthread_cond_broadcast(&p->idle);
    unref_unlock(p);
    return NULL;
}

static void
add_thread_locked(struct pool *p)
{
    pthread_t t;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&t, &attr, worker, p);
    pthread_attr_destroy(&attr);
    if (rc == 0) {
        p->n_threads++;
        p->refs++;
    } else if (p->n_threads == 0) {
        die("cannot start a tool thread: too many threads");
    } else {
        log_warn("executor", "cannot start another tool thread (%d); the others do the work", rc);
    }
}

void
pool_submit(struct pool *p, struct job *take_j)
{
    pthread_mutex_lock(&p->lock);
    take_j->next = NULL;
    *p->queued_end = take_j;
    p->queued_end = &take_j->next;
    p->n_queued++;
    if (p->n_queued > p->n_waiting && p->n_threads < POOL_THREADS)
        add_thread_locked(p);
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

struct job *
pool_take_done(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    struct job *j = p->done;
    if (j) {
        p->done = j->next;
        if (!p->done)
            p->done_end = &p->done;
        j->next = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    return j;
}

bool
pool_free(struct pool *p, int wait_ms)
{
    if (!p)
        return true;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->work);
    /* Only a tool can keep a thread away for long: the others are on their way, and waited for. */
    bool late = false;
    while (p->n_threads > 0 && !(late && p->n_threads <= (size_t)atomic_load(&p->in_tools)))
        late |= late ? pthread_cond_wait(&p->idle, &p->lock) != 0
                     : pthread_cond_timedwait(&p->idle, &p->lock, &until) == ETIMEDOUT;
    if (p->n_threads)
        log_warn("executor", "%zu tool threads did not come back and are left behind",
                 p->n_threads);
    p->wake = NULL;
    bool all_back = p->n_threads == 0;
    unref_unlock(p);
    return all_back;
}
