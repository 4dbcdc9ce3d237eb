#include "engine/judge.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/log.h"
#include "engine/judge_run.h"
#include "engine/waker.h"

#define THREADS_MAX 4
#define KEPT_MAX 64

struct kept {
    char *key;
    struct judge_answer answer;
};

struct judge {
    struct waker *wake;
    struct cancel *session;

    /* The engine thread's. */
    struct kept kept[KEPT_MAX];
    size_t n_kept; /* ever; kept[n_kept % KEPT_MAX] is the next to write */
    int row, total;
    bool off;
    pthread_t threads[THREADS_MAX];
    size_t n_threads;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t more;
    struct judge_run *waiting, **waiting_end; /* not begun */
    struct judge_run *running;                /* a thread has it */
    struct judge_run *done;
    size_t n_waiting, n_idle;
    bool closing;
};

static const char *const how_names[] = {
#define X(id, name) [id] = name,
    JUDGE_HOWS(X)
#undef X
};

static const char *
how_name(enum judge_how h)
{
    return (size_t)h < ARRAY_LEN(how_names) ? how_names[h] : "unknown";
}

/* ---- the threads ---- */

static void
take_out(struct judge_run **list, struct judge_run *r)
{
    while (*list && *list != r)
        list = &(*list)->next;
    if (*list)
        *list = r->next;
    r->next = NULL;
}

/* NULL: the judge closes. */
static struct judge_run *
next_run(struct judge *j)
{
    pthread_mutex_lock(&j->lock);
    j->n_idle++;
    while (!j->waiting && !j->closing)
        pthread_cond_wait(&j->more, &j->lock);
    j->n_idle--;
    struct judge_run *r = j->closing ? NULL : j->waiting;
    if (r) {
        j->n_waiting--;
        j->waiting = r->next;
        if (!j->waiting)
            j->waiting_end = &j->waiting;
        r->next = j->running;
        j->running = r;
    }
    pthread_mutex_unlock(&j->lock);
    return r;
}

static void *
work(void *user)
{
    struct judge *j = user;
    struct judge_run *r;
    while ((r = next_run(j)) != NULL) {
        judge_run(r);
        pthread_mutex_lock(&j->lock);
        take_out(&j->running, r);
        r->next = j->done;
        j->done = r;
        pthread_mutex_unlock(&j->lock);
        waker_signal(j->wake);
    }
    return NULL;
}

/* ---- life ---- */

struct judge *
judge_new(struct waker *wake, struct cancel *session)
{
    struct judge *j = xcalloc(1, sizeof *j);
    j->wake = wake;
    j->session = session;
    j->waiting_end = &j->waiting;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->more, NULL);
    return j;
}

static void
forget_kept(struct judge *j)
{
    for (size_t i = 0; i < KEPT_MAX; i++) {
        free(j->kept[i].key);
        j->kept[i].key = NULL;
    }
    j->n_kept = 0;
}

static void
free_runs(struct judge_run *r)
{
    while (r) {
        struct judge_run *next = r->next;
        judge_run_free(r);
        r = next;
    }
}

void
judge_free(struct judge *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    j->closing = true;
    for (struct judge_run *r = j->running; r; r = r->next)
        cancel_fire(r->cancel, CANCEL_USER);
    pthread_cond_broadcast(&j->more);
    pthread_mutex_unlock(&j->lock);
    for (size_t i = 0; i < j->n_threads; i++)
        pthread_join(j->threads[i], NULL);
    free_runs(j->waiting);
    free_runs(j->done);
    forget_kept(j);
    pthread_cond_destroy(&j->more);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

/* ---- asking ---- */

static bool
find_kept(const struct judge *j, struct str key, struct judge_answer *ret)
{
    for (size_t i = 0; i < KEPT_MAX; i++) {
        if (!j->kept[i].key || !str_is(key, j->kept[i].key))
            continue;
        *ret = j->kept[i].answer;
        ret->how = JUDGE_CACHED;
        ret->took_ms = 0;
        ret->model[0] = '\0';
        ret->usage = (struct usage){0};
        return true;
    }
    return false;
}

/* Only what decides is kept: an "ask" or a failure may turn out better the next time. */
static void
keep(struct judge *j, const char *key, const struct judge_answer *a)
{
    if (a->how != JUDGE_VERDICT || strcmp(a->verdict, "ask") == 0)
        return;
    struct kept *k = &j->kept[j->n_kept++ % KEPT_MAX];
    free(k->key);
    k->key = xstrdup(key);
    k->answer = *a;
}

static bool
at_once(const struct judge *j, const struct judge_question *q, struct judge_answer *ret)
{
    *ret = (struct judge_answer){.how = JUDGE_OFF};
    if (j->off) {
        (void)snprintf(ret->reason, sizeof ret->reason,
                       "it is not asked after %d blocks in a row or %d in all, until a person "
                       "answers or chooses the mode anew",
                       JUDGE_ROW_MAX, JUDGE_TOTAL_MAX);
    } else if (!q->model) {
        ret->how = JUDGE_NO_MODEL;
        (void)snprintf(ret->reason, sizeof ret->reason,
                       "there is no model here for the classifier");
    } else if (!q->text.len) {
        ret->how = JUDGE_TOO_LONG;
        (void)snprintf(ret->reason, sizeof ret->reason,
                       "the call is too long to be put before it whole");
    } else if (!find_kept(j, q->key, ret)) {
        return false;
    }
    ret->ticket = q->ticket;
    return true;
}

/* One thread more, when all are at work. */
static bool
need_thread(struct judge *j)
{
    if (j->n_threads == THREADS_MAX)
        return true;
    if (pthread_create(&j->threads[j->n_threads], NULL, work, j) == 0) {
        j->n_threads++;
        return true;
    }
    log_warn("judge", "no further thread could be made");
    return j->n_threads > 0;
}

bool
judge_start(struct judge *j, const struct judge_question *q, struct judge_answer *ret)
{
    if (at_once(j, q, ret))
        return true;
    struct judge_run *r = judge_run_new(q, j->session);
    pthread_mutex_lock(&j->lock);
    *j->waiting_end = r;
    j->waiting_end = &r->next;
    bool busy = ++j->n_waiting > j->n_idle; /* an idle thread takes one */
    pthread_cond_signal(&j->more);
    pthread_mutex_unlock(&j->lock);
    if (!busy || need_thread(j))
        return false;
    judge_drop(j, q->ticket);
    *ret = (struct judge_answer){.ticket = q->ticket, .how = JUDGE_ERROR};
    (void)snprintf(ret->reason, sizeof ret->reason, "it could not be started");
    return true;
}

bool
judge_take(struct judge *j, struct judge_answer *ret)
{
    pthread_mutex_lock(&j->lock);
    struct judge_run **at = &j->done;
    while (*at && (*at)->next) /* the oldest */
        at = &(*at)->next;
    struct judge_run *r = *at;
    *at = NULL;
    pthread_mutex_unlock(&j->lock);
    if (!r)
        return false;
    *ret = r->answer;
    ret->ticket = r->dropped ? 0 : r->ticket;
    if (!r->dropped)
        keep(j, r->key, &r->answer);
    log_info("judge", "%s %s %.2f in %lld ms (%s)%s", how_name(ret->how), ret->verdict,
             ret->confidence, (long long)ret->took_ms, ret->model, r->dropped ? ", dropped" : "");
    judge_run_free(r);
    return true;
}

/* ---- giving up ---- */

/* ticket 0: all. */
static void
drop(struct judge *j, uint64_t ticket)
{
    struct judge_run *gone = NULL;
    pthread_mutex_lock(&j->lock);
    for (struct judge_run **at = &j->waiting; *at;) {
        struct judge_run *r = *at;
        if (ticket && r->ticket != ticket) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        j->n_waiting--;
        r->next = gone;
        gone = r;
    }
    j->waiting_end = &j->waiting;
    while (*j->waiting_end)
        j->waiting_end = &(*j->waiting_end)->next;
    struct judge_run *lists[] = {j->running, j->done};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (struct judge_run *r = lists[i]; r; r = r->next)
            if (!ticket || r->ticket == ticket) {
                r->dropped = true;
                cancel_fire(r->cancel, CANCEL_STOP);
            }
    pthread_mutex_unlock(&j->lock);
    free_runs(gone);
}

void
judge_drop(struct judge *j, uint64_t ticket)
{
    if (ticket)
        drop(j, ticket);
}

void
judge_forget(struct judge *j)
{
    drop(j, 0);
    forget_kept(j);
}

/* ---- denials ---- */

bool
judge_note(struct judge *j, bool blocked)
{
    if (!blocked) {
        j->row = 0;
        return false;
    }
    j->row++;
    j->total++;
    if (j->off || (j->row < JUDGE_ROW_MAX && j->total < JUDGE_TOTAL_MAX))
        return false;
    j->off = true;
    return true;
}

void
judge_reset(struct judge *j)
{
    j->row = j->total = 0;
    j->off = false;
}

void
judge_counts(const struct judge *j, int *ret_row, int *ret_total)
{
    *ret_row = j->row;
    *ret_total = j->total;
}
