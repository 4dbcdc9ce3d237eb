#include "sim/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/world.h"

#define HANG_MS 60000 /* of real time, for one session */
#define JOBS_MAX 16

/* A worker says which seed it begins (begun), and then what came of it. */
struct word {
    bool begun;
    struct sim_report report;
};
_Static_assert(sizeof(struct word) < 4096, "a word goes through the pipe at once");

struct worker {
    pid_t pid;
    int fd;
    uint64_t next, seed; /* next: to begin with; seed: the one that runs */
    int64_t since_us;
    bool busy;
};

static void
tell(int fd, const struct word *w)
{
    if (write(fd, w, sizeof *w) != (ssize_t)sizeof *w)
        _exit(3);
}

static _Noreturn void
work(const struct sim_profile *p, uint64_t from, uint64_t to, uint64_t step, int fd)
{
    for (uint64_t seed = from; seed <= to; seed += step) {
        struct word w = {.begun = true, .report.seed = seed};
        tell(fd, &w);
        w.begun = false;
        int64_t began = world_real_us();
        session_run(p, seed, false, NULL, &w.report);
        w.report.real_us = world_real_us() - began;
        tell(fd, &w);
    }
    exit(0); /* with the checks that a sanitizer makes at the end */
}

static void
start_worker(struct worker *k, const struct sim_profile *p, uint64_t to, uint64_t step)
{
    int fds[2];
    k->busy = false;
    k->fd = -1;
    if (k->next > to || pipe(fds) != 0)
        return;
    fflush(NULL);
    k->pid = fork();
    if (k->pid == 0) {
        close(fds[0]);
        work(p, k->next, to, step, fds[1]);
    }
    close(fds[1]);
    k->fd = k->pid > 0 ? fds[0] : -1;
}

/* ---- totals ---- */

static void
add_failure(struct totals *t, const struct sim_report *r)
{
    t->failed++;
    t->stuck += r->stuck;
    if (t->n_failures < FAILURES_MAX)
        t->failures[t->n_failures++] = *r;
}

#define ADD(member) s->member += r->member
#define ADD_ALL(member)                                                                            \
    for (size_t i = 0; i < ARRAY_LEN(s->member); i++)                                              \
    s->member[i] += r->member[i]

static void
add_report(struct totals *t, const struct sim_report *r)
{
    struct sim_report *s = &t->sum;
    t->sessions++;
    t->outcome += r->outcome * (2 * r->seed + 1);
    ADD_ALL(exits);
    ADD_ALL(transitions);
    ADD_ALL(tiers);
    ADD_ALL(tiers_failed);
    ADD_ALL(faults);
    ADD_ALL(forced);
    ADD_ALL(recovered);
    ADD(requests);
    ADD(counts);
    ADD(side_requests);
    ADD(submits);
    ADD(rounds);
    ADD(calls);
    ADD(messages);
    ADD(kills);
    ADD(resumes);
    ADD(pins);
    ADD(retries);
    ADD(cache_breaks);
    ADD(checks);
    ADD(steps);
    ADD(virtual_ms);
    ADD(real_us);
    ADD(body_bytes);
    ADD(tokens);
    ADD(tokens_cached);
    ADD(facts_said);
    ADD(facts_kept);
    ADD(pins_said);
    ADD(pins_kept);
    ADD(pins_late);
    if (r->real_us > t->slowest_us) {
        t->slowest_us = r->real_us;
        t->slowest_seed = r->seed;
    }
    if (!r->ok)
        add_failure(t, r);
}

/* The session that ran in it is the one to look at. */
static void
worker_died(struct worker *k, const char *why, struct totals *t)
{
    int status = 0;
    waitpid(k->pid, &status, 0);
    close(k->fd);
    k->fd = -1;
    bool clean = !k->busy && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (clean && !why)
        return;
    struct sim_report r = {.seed = k->seed, .stuck = why != NULL};
    if (why)
        snprintf(r.why, sizeof r.why, "%s", why);
    else if (WIFSIGNALED(status))
        snprintf(r.why, sizeof r.why, "the process died by signal %d", WTERMSIG(status));
    else
        snprintf(r.why, sizeof r.why, "the process ended with %d%s", WEXITSTATUS(status),
                 k->busy ? "" : ", after its sessions (leaks?)");
    t->sessions += k->busy;
    add_failure(t, &r);
}

static void
hear(struct worker *k, struct totals *t, uint64_t step)
{
    struct word w;
    size_t got = 0;
    while (got < sizeof w) {
        ssize_t n = read(k->fd, (char *)&w + got, sizeof w - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            worker_died(k, NULL, t);
            return;
        }
        got += (size_t)n;
    }
    k->busy = w.begun;
    k->seed = w.report.seed;
    k->since_us = world_real_us();
    k->next = k->seed + step;
    if (!w.begun)
        add_report(t, &w.report);
}

static bool
turn(struct worker *ks, int jobs, struct totals *t, const struct sim_profile *p, uint64_t to)
{
    struct pollfd fds[JOBS_MAX];
    bool any = false;
    for (int i = 0; i < jobs; i++) {
        fds[i] = (struct pollfd){.fd = ks[i].fd, .events = POLLIN};
        any |= ks[i].fd >= 0;
    }
    if (!any)
        return false;
    if (poll(fds, (nfds_t)jobs, 1000) < 0)
        return true;
    for (int i = 0; i < jobs; i++) {
        struct worker *k = &ks[i];
        if (k->fd < 0)
            continue;
        if (fds[i].revents) {
            hear(k, t, (uint64_t)jobs);
        } else if (k->busy && world_real_us() - k->since_us > (int64_t)HANG_MS * 1000) {
            kill(k->pid, SIGKILL);
            worker_died(k, "it hangs on the real clock", t);
        }
        if (k->fd < 0)
            start_worker(k, p, to, (uint64_t)jobs);
    }
    return true;
}

void
runner_run(const struct sim_profile *p, uint64_t from, uint64_t to, int jobs, struct totals *ret)
{
    struct worker ks[JOBS_MAX];
    int64_t began = world_real_us();
    memset(ret, 0, sizeof *ret);
    if (jobs > JOBS_MAX)
        jobs = JOBS_MAX;
    for (int i = 0; i < jobs; i++) {
        ks[i] = (struct worker){.next = from + (uint64_t)i};
        start_worker(&ks[i], p, to, (uint64_t)jobs);
    }
    while (turn(ks, jobs, ret, p, to))
        ;
    ret->seconds = (double)(world_real_us() - began) / 1e6;
}
