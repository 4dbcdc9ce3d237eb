#include "sim/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>

#include "base/buf.h"
#include "base/err.h"
#include "sim/wraps.h"

#define NEVER INT64_MAX
#define MONO_START_US ((int64_t)1000000000)
#define WALL_START_MS ((int64_t)1796000000000)

enum doing { RUNNING, READY, POLLING, WAITING, SLEEPING, JOINING, SETTLING, OVER };
static const char *const doing_names[] = {
    "runs",   "is ready", "polls",           "waits for a condition",
    "sleeps", "joins",    "lets others run", "is over"};

struct actor {
    int number;
    enum doing doing;
    int64_t until_us;
    struct pollfd *fds;
    nfds_t n_fds;
    const pthread_cond_t *cond;
    uint64_t cond_seq; /* who waits longest is told first */
    bool told, timed_out;
    const struct actor *target;
    /* the baton */
    bool go;
    pthread_cond_t turn;
    pthread_t thread;
    void *(*run)(void *);
    void *arg;
};

static struct {
    pthread_mutex_t lock; /* guards each actor's go; the rest belongs to whoever has the baton */
    struct actor **actors;
    size_t n, cap;
    int64_t mono_us;
    uint64_t random, system_random, steps, seq;
    int numbers;
    bool alive;
} w = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct actor *me;
void (*world_stuck)(const char *why);

/* ---- chance ---- */

static uint64_t
next_random(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t
world_random(void)
{
    return next_random(&w.random);
}

unsigned
world_pick(unsigned n)
{
    return (unsigned)(world_random() >> 33) % n;
}

bool
world_chance(unsigned in_1000)
{
    return world_pick(1000) < in_1000;
}

uint64_t
world_steps(void)
{
    return w.steps;
}

int64_t
world_now_ms(void)
{
    return w.mono_us / 1000;
}

/* ---- who is next ---- */

void
world_describe(void)
{
    for (size_t i = 0; i < w.n; i++) {
        const struct actor *a = w.actors[i];
        if (a->doing != OVER)
            fprintf(stderr, "  actor %d %s%s", a->number, doing_names[a->doing],
                    a->until_us == NEVER ? " for ever\n" : "\n");
    }
}

static void
stuck(const char *why)
{
    if (world_stuck)
        world_stuck(why);
    fprintf(stderr, "the world is stuck: %s\n", why);
    world_describe();
    abort();
}

static bool
can_run(const struct actor *a)
{
    switch (a->doing) {
    case RUNNING:
    case READY:
        return true;
    case WAITING:
        return a->told;
    case JOINING:
        return a->target->doing == OVER;
    case POLLING:
        return a->n_fds && __real_poll(a->fds, a->n_fds, 0) != 0;
    default:
        return false;
    }
}

/* Nobody can run now: of those that wait for it the first to let others run, else time goes on. */
static struct actor *
next_in_time(void)
{
    struct actor *best = NULL;
    for (size_t i = 0; i < w.n; i++)
        if (w.actors[i]->doing == SETTLING)
            return w.actors[i];
    for (size_t i = 0; i < w.n; i++) {
        struct actor *a = w.actors[i];
        bool waits = a->doing == POLLING || a->doing == WAITING || a->doing == SLEEPING;
        if (waits && a->until_us != NEVER && (!best || a->until_us < best->until_us))
            best = a;
    }
    if (!best)
        stuck("every thread waits for another");
    if (best->until_us > w.mono_us)
        w.mono_us = best->until_us;
    best->timed_out = true;
    return best;
}

static struct actor *
next_actor(void)
{
    struct actor *ready[64];
    size_t n = 0;
    if (++w.steps > WORLD_STEPS_MAX)
        stuck("it runs and runs");
    for (size_t i = 0; i < w.n && n < ARRAY_LEN(ready); i++)
        if (can_run(w.actors[i]))
            ready[n++] = w.actors[i];
    if (n)
        return ready[n == 1 ? 0 : world_pick((unsigned)n)];
    return next_in_time();
}

static void
give(struct actor *to)
{
    to->go = true;
    __real_pthread_cond_signal(&to->turn);
}

static void
take_turn(struct actor *a)
{
    while (!a->go)
        __real_pthread_cond_wait(&a->turn, &w.lock);
    a->go = false;
    a->doing = RUNNING;
}

/* Hands the baton on and waits until it comes back. */
static void
block(enum doing doing, int64_t until_us)
{
    struct actor *a = me;
    a->doing = doing;
    a->until_us = until_us;
    a->timed_out = false;
    struct actor *next = next_actor();
    if (next == a) {
        a->doing = RUNNING;
        return;
    }
    __real_pthread_mutex_lock(&w.lock);
    give(next);
    take_turn(a);
    pthread_mutex_unlock(&w.lock);
}

void
world_settle(void)
{
    if (me)
        block(SETTLING, NEVER);
}

void
world_sleep(int64_t ms)
{
    block(SLEEPING, w.mono_us + ms * 1000);
}

/* ---- begin and end ---- */

static struct actor *
add_actor(void)
{
    struct actor *a = xcalloc(1, sizeof *a);
    a->number = w.numbers++;
    pthread_cond_init(&a->turn, NULL);
    ARRAY_GROW(w.actors, w.n, w.cap);
    w.actors[w.n++] = a;
    return a;
}

void
world_begin(uint64_t seed)
{
    w.random = seed * 0x2545F4914F6CDD1Du + 1;
    w.system_random = ~w.random;
    w.mono_us = MONO_START_US;
    w.steps = w.seq = 0;
    w.numbers = 0;
    w.alive = true;
    me = add_actor();
}

static int
count_others(void)
{
    int n = 0;
    for (size_t i = 0; i < w.n; i++)
        n += w.actors[i] != me && w.actors[i]->doing != OVER;
    return n;
}

int
world_end(void)
{
    for (int i = 0; i < 1000 && count_others(); i++)
        world_settle();
    int left = count_others();
    if (left)
        return left; /* their actors must stay */
    w.alive = false;
    /* The last to go may still be on its way out of the lock. */
    __real_pthread_mutex_lock(&w.lock);
    pthread_mutex_unlock(&w.lock);
    for (size_t i = 0; i < w.n; i++) {
        pthread_cond_destroy(&w.actors[i]->turn);
        free(w.actors[i]);
    }
    free(w.actors);
    w.actors = NULL;
    w.n = w.cap = 0;
    me = NULL;
    return 0;
}

/* ---- threads ---- */

static void *
thread_main(void *arg)
{
    struct actor *a = arg;
    me = a;
    __real_pthread_mutex_lock(&w.lock);
    take_turn(a);
    pthread_mutex_unlock(&w.lock);
    void *ret = a->run(a->arg);
    a->doing = OVER;
    struct actor *next = next_actor();
    __real_pthread_mutex_lock(&w.lock);
    give(next);
    pthread_mutex_unlock(&w.lock);
    return ret;
}

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    if (!me)
        return __real_pthread_create(t, attr, run, arg);
    struct actor *a = add_actor();
    a->run = run;
    a->arg = arg;
    a->doing = READY;
    int rc = __real_pthread_create(&a->thread, attr, thread_main, a);
    if (rc != 0)
        a->doing = OVER;
    else
        *t = a->thread;
    return rc;
}

int
__wrap_pthread_join(pthread_t t, void **ret)
{
    /* From the newest: a number may have been given again. */
    for (size_t i = me ? w.n : 0; i > 0; i--)
        if (w.actors[i - 1] != me && w.actors[i - 1]->run &&
            pthread_equal(w.actors[i - 1]->thread, t)) {
            me->target = w.actors[i - 1];
            block(JOINING, NEVER);
            break;
        }
    return __real_pthread_join(t, ret);
}

int
__wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!me)
        return __real_pthread_mutex_lock(m);
    int rc;
    while ((rc = pthread_mutex_trylock(m)) == EBUSY)
        block(READY, NEVER);
    return rc;
}

static int
wait_cond(pthread_cond_t *c, pthread_mutex_t *m, int64_t until_us)
{
    struct actor *a = me;
    a->cond = c;
    a->cond_seq = w.seq++;
    a->told = false;
    pthread_mutex_unlock(m);
    block(WAITING, until_us);
    bool told = a->told;
    a->cond = NULL;
    __wrap_pthread_mutex_lock(m);
    return told ? 0 : ETIMEDOUT;
}

int
__wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return me ? wait_cond(c, m, NEVER) : __real_pthread_cond_wait(c, m);
}

int
__wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    if (!me)
        return __real_pthread_cond_timedwait(c, m, until);
    int64_t us = (int64_t)until->tv_sec * 1000000 + until->tv_nsec / 1000;
    if (us >= WALL_START_MS * 1000) /* a condition of the wall clock */
        us -= WALL_START_MS * 1000 - MONO_START_US;
    return wait_cond(c, m, us);
}

static void
tell(const pthread_cond_t *c, bool all)
{
    for (;;) {
        struct actor *first = NULL;
        for (size_t i = 0; i < w.n; i++) {
            struct actor *a = w.actors[i];
            if (a->doing == WAITING && a->cond == c && !a->told &&
                (!first || a->cond_seq < first->cond_seq))
                first = a;
        }
        if (!first)
            return;
        first->told = true;
        if (!all)
            return;
    }
}

int
__wrap_pthread_cond_signal(pthread_cond_t *c)
{
    if (!me)
        return __real_pthread_cond_signal(c);
    tell(c, false);
    return 0;
}

int
__wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    if (!me)
        return __real_pthread_cond_broadcast(c);
    tell(c, true);
    return 0;
}

/* ---- waits and time ---- */

int
__wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (!me)
        return __real_poll(fds, n, timeout);
    if (++w.steps > WORLD_STEPS_MAX)
        stuck("it polls and polls");
    w.mono_us++; /* so that a loop over the clock gets on */
    int64_t until = timeout < 0 ? NEVER : w.mono_us + (int64_t)timeout * 1000;
    if (timeout != 0 && world_pick(16) == 0)
        block(READY, NEVER); /* another goes first */
    int r = __real_poll(fds, n, 0);
    me->fds = fds;
    me->n_fds = n;
    while (r == 0 && timeout != 0 && w.mono_us < until) {
        block(POLLING, until);
        r = __real_poll(fds, n, 0);
    }
    me->n_fds = 0;
    return r;
}

static void
from_us(int64_t us, struct timespec *ret)
{
    ret->tv_sec = (time_t)(us / 1000000);
    ret->tv_nsec = (long)(us % 1000000) * 1000;
}

int
__wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
    bool mono = id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME;
    if (!me || (!mono && id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
        return __real_clock_gettime(id, ret);
    from_us(mono ? w.mono_us : w.mono_us - MONO_START_US + WALL_START_MS * 1000, ret);
    return 0;
}

int64_t
world_real_us(void)
{
    struct timespec t;
    __real_clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

time_t
__wrap_time(time_t *ret)
{
    if (!me)
        return __real_time(ret);
    time_t t = (time_t)((w.mono_us - MONO_START_US) / 1000000 + WALL_START_MS / 1000);
    if (ret)
        *ret = t;
    return t;
}

int
__wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    if (!me)
        return __real_nanosleep(t, left);
    block(SLEEPING, w.mono_us + (int64_t)t->tv_sec * 1000000 + t->tv_nsec / 1000);
    return 0;
}

int
__wrap_usleep(useconds_t us)
{
    if (!me)
        return __real_usleep(us);
    block(SLEEPING, w.mono_us + (int64_t)us);
    return 0;
}

ssize_t
__wrap_getrandom(void *p, size_t n, unsigned flags)
{
    if (!me)
        return __real_getrandom(p, n, flags);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t r = next_random(&w.system_random);
        memcpy((char *)p + i, &r, n - i < 8 ? n - i : 8);
    }
    return (ssize_t)n;
}
