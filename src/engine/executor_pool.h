#pragma once
/*
 * Tool workers: up to 10 threads, made on demand, each running one job at a time. A job owns all it needs, so a worker
 * sees no State. pool_submit and pool_take_done from the engine thread; a finished job waits in the pool and signals
 * the waker. A worker that does not come back is left behind at the end, with its job.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "engine/waker.h"
#include "tools/tool.h"

#define POOL_THREADS 10

struct queue;
struct store;

struct job {
    const struct tool *tool;
    char *input;         /* raw JSON; parsed on the worker */
    struct tool_ctx ctx; /* its strings, tokens, confinement and file table are owned by the job */
    char *strings[6];
    char **judged;              /* ctx.judged */
    struct read_filter *filter; /* ctx.may_read; NULL: no rule */
    struct queue *out;          /* for progress; borrowed, outlives the pool's threads */
    struct store *store;        /* for variables; borrowed, may be NULL */
    struct tool_result result;
    int64_t started_ms, ended_ms; /* monotonic */
    int64_t place;                /* event.place of its call */
    struct job *next;
};
struct job *job_new(void);
void job_free(struct job *j); /* NULL is fine */

struct pool;
struct pool *pool_new(struct waker *wake);
void pool_submit(struct pool *p, struct job *take_j);
struct job *pool_take_done(struct pool *p); /* yours; NULL: none */
/* Waits at most wait_ms for workers to come back. False: some did not and are left behind; then what their jobs borrow
 * (environment, event queue, store) must stay. NULL is fine. */
bool pool_free(struct pool *p, int wait_ms);
