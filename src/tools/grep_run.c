#include "tools/grep_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/glob.h"
#include "tools/args.h"

enum { BATCH = 1024, MAX_THREADS = 4, ALONE = 8 /* so few files are not worth a thread */ };

struct paths {
    const struct grep_run *r;
    char **list;
    size_t n, cap;
};

/* One batch: workers take the next index until none is left. */
struct batch {
    const struct grep_run *r;
    char **paths;
    struct grep_hits *hits;
    size_t n;
    atomic_size_t next;
};

struct thread {
    pthread_t id;
    struct batch *batch;
    struct grep_worker *worker;
};

static bool
visit(void *user, const char *rel, bool is_dir)
{
    struct paths *p = user;
    const struct grep_run *r = p->r;

    if (is_dir || (r->names && !name_filter_match(r->names, str_from(rel))) ||
        (r->types && !name_filter_match(r->types, str_from(rel))))
        return true;
    ARRAY_GROW(p->list, p->n, p->cap);
    p->list[p->n++] = fs_join(r->root, rel);
    return true;
}

static void *
work(void *arg)
{
    struct thread *t = arg;
    struct batch *b = t->batch;
    size_t i;

    while ((i = atomic_fetch_add(&b->next, 1)) < b->n && cancel_fired(b->r->cancel) == CANCEL_NONE)
        grep_file(t->worker, b->paths[i], tool_path_shown(b->paths[i], b->r->cwd), &b->hits[i]);
    return NULL;
}

static void
search_batch(struct batch *b, struct grep_worker *workers, size_t n_workers)
{
    struct thread threads[MAX_THREADS];
    size_t started = 1;

    atomic_init(&b->next, 0);
    for (size_t i = 0; i < n_workers; i++)
        threads[i] = (struct thread){.batch = b, .worker = &workers[i]};
    for (; started < n_workers && b->n > ALONE; started++)
        if (pthread_create(&threads[started].id, NULL, work, &threads[started]) != 0)
            break;
    work(&threads[0]);
    while (--started > 0)
        pthread_join(threads[started].id, NULL);
}

static size_t
thread_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (size_t)n;
}

/* Hands the batch's outcomes on; false: enough or cancelled. */
static bool
take_batch(struct batch *b)
{
    bool go = cancel_fired(b->r->cancel) == CANCEL_NONE;

    for (size_t i = 0; i < b->n; i++) {
        if (go && (b->hits[i].matches || b->hits[i].too_hard))
            go = b->r->take(b->r->user, b->paths[i], &b->hits[i]);
        buf_release(&b->hits[i].text);
    }
    return go;
}

static void
search_paths(const struct grep_run *r, const struct paths *p)
{
    struct grep_worker workers[MAX_THREADS];
    size_t n_workers = p->n > ALONE ? thread_count() : 1;
    struct grep_hits *hits = xcalloc(BATCH, sizeof *hits);
    bool go = true;

    for (size_t i = 0; i < n_workers; i++)
        grep_worker_init(&workers[i], r->options);
    for (size_t at = 0; at < p->n && go; at += BATCH) {
        struct batch b = {.r = r, .paths = p->list + at, .hits = hits};
        b.n = p->n - at < BATCH ? p->n - at : BATCH;
        for (size_t i = 0; i < b.n; i++)
            hits[i] = (struct grep_hits){.lines = 0};
        search_batch(&b, workers, n_workers);
        go = take_batch(&b);
    }
    for (size_t i = 0; i < n_workers; i++)
        grep_worker_release(&workers[i]);
    free(hits);
}

bool
grep_run(const struct grep_run *r)
{
    struct paths p = {.r = r};
    struct glob_walk w = {.root = r->root, .cancel = r->cancel, .visit = visit, .user = &p};
    bool walked = true;

    if (r->is_file) {
        ARRAY_GROW(p.list, p.n, p.cap);
        p.list[p.n++] = xstrdup(r->root);
    } else {
        walked = glob_walk(&w);
    }
    if (walked)
        search_paths(r, &p);
    for (size_t i = 0; i < p.n; i++)
        free(p.list[i]);
    free(p.list);
    return walked && cancel_fired(r->cancel) == CANCEL_NONE;
}
