#include "tools/grep_run.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_tree.h"
#include "base/fs.h"
#include "tools/args.h"
#include "tools/readable.h"

/* CHUNK files are taken up at a time; RING chunks or HELD_MAX bytes of lines may wait for the ones before them. */
enum { CHUNK = 16, RING = 64, HELD_MAX = 4 << 20, THREADS_MAX = 8, ALONE = CHUNK };

struct chunk {
    bool done;
    size_t n;
    struct grep_hits hits[CHUNK];
};

struct run {
    const struct grep_run *r;
    struct file_tree *tree;
    size_t n_chunks;
    struct buf path;      /* of whoever is taking */
    pthread_mutex_t lock; /* guards the rest; a chunk that is not done belongs to its searcher */
    pthread_cond_t changed;
    size_t next, taken; /* chunks begun; chunks handed on */
    size_t held;        /* bytes of lines in done chunks */
    bool taking, stop;
    struct chunk ring[RING];
};

/* What one thread keeps: the folder of the last file stays open for the next. */
struct searcher {
    struct run *run;
    struct grep_worker worker;
    const char *folder;
    int dir_fd;
    size_t file;
    struct buf path;
};

static bool
want(void *user, struct str rel)
{
    const struct grep_run *r = user;

    return (!r->names || name_filter_match(r->names, rel)) &&
           (!r->types || name_filter_match(r->types, rel)) &&
           (!r->readable || readable_below(r->readable, rel));
}

static const char *
shown_of(void *user)
{
    struct searcher *s = user;

    return tool_path_shown(file_tree_path(s->run->tree, s->file, &s->path, NULL), s->run->r->cwd);
}

/* Has a folder on the way been put in the place of another one? */
static bool
is_within(int fd, const char *root)
{
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, sizeof real - 1);
    if (n <= 0)
        return false;
    real[n] = '\0';
    return fs_is_within(real, root);
}

static void
enter_folder(struct searcher *s, const char *folder, const char *name)
{
    if (s->folder == folder)
        return;
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    const char *path = file_tree_path(s->run->tree, s->file, &s->path, NULL);
    buf_truncate(&s->path, s->path.len - strlen(name));
    s->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir_fd >= 0 && s->run->r->within && !is_within(s->dir_fd, s->run->r->within)) {
        close(s->dir_fd);
        s->dir_fd = -1;
    }
    s->folder = folder;
}

static void
search_file(struct searcher *s, size_t i, struct grep_hits *ret)
{
    const char *folder, *name;

    s->file = i;
    file_tree_entry(s->run->tree, i, &folder, &name);
    enter_folder(s, folder, name);
    const struct grep_target t = {.dir_fd = s->dir_fd, .name = name, .shown = shown_of, .user = s};
    *ret = (struct grep_hits){.lines = 0};
    if (s->dir_fd >= 0)
        grep_file(&s->worker, &t, ret);
}

/* The bytes of lines that wait. */
static size_t
search_chunk(struct searcher *s, size_t number, struct chunk *c)
{
    size_t first = number * CHUNK, left = file_tree_count(s->run->tree) - first, bytes = 0;

    c->n = left < CHUNK ? left : CHUNK;
    for (size_t i = 0; i < c->n; i++) {
        if (cancel_fired(s->run->r->cancel) != CANCEL_NONE)
            c->hits[i] = (struct grep_hits){.lines = 0};
        else
            search_file(s, first + i, &c->hits[i]);
        bytes += c->hits[i].text.cap;
    }
    return bytes;
}

static void
release_hits(struct chunk *c)
{
    for (size_t i = 0; i < c->n; i++)
        buf_release(&c->hits[i].text);
    c->n = 0;
}

/* Hands one chunk on; false: enough. */
static bool
take_chunk(struct run *k, size_t number, struct chunk *c)
{
    const struct grep_run *r = k->r;
    bool go = cancel_fired(r->cancel) == CANCEL_NONE;

    for (size_t i = 0; i < c->n && go; i++)
        if (c->hits[i].matches || c->hits[i].too_hard)
            go = r->take(r->user, file_tree_path(k->tree, number * CHUNK + i, &k->path, NULL),
                         &c->hits[i]);
    release_hits(c);
    return go;
}

/* Under the lock: whoever finds the next chunk done, and nobody at it, hands on what is done. */
static void
take_done(struct run *k)
{
    if (k->taking)
        return;
    k->taking = true;
    while (!k->stop && k->taken < k->next && k->ring[k->taken % RING].done) {
        struct chunk *c = &k->ring[k->taken % RING];
        size_t bytes = 0;
        for (size_t i = 0; i < c->n; i++)
            bytes += c->hits[i].text.cap;
        pthread_mutex_unlock(&k->lock);
        bool go = take_chunk(k, k->taken, c);
        pthread_mutex_lock(&k->lock);
        c->done = false;
        k->held -= bytes;
        k->taken++;
        k->stop |= !go;
        pthread_cond_broadcast(&k->changed);
    }
    k->taking = false;
}

/* Under the lock: waits until a chunk may be begun; false: there is none. */
static bool
next_chunk(struct run *k, size_t *ret)
{
    while (!k->stop && k->next < k->n_chunks && k->next != k->taken &&
           (k->next - k->taken >= RING || k->held > HELD_MAX))
        pthread_cond_wait(&k->changed, &k->lock);
    if (k->stop || k->next >= k->n_chunks)
        return false;
    *ret = k->next++;
    return true;
}

static void *
work(void *arg)
{
    struct run *k = arg;
    struct searcher s = {.run = k, .dir_fd = -1};
    size_t number;

    grep_worker_init(&s.worker, k->r->options);
    buf_init(&s.path, BUF_MAX);
    pthread_mutex_lock(&k->lock);
    while (next_chunk(k, &number)) {
        struct chunk *c = &k->ring[number % RING];
        pthread_mutex_unlock(&k->lock);
        size_t bytes = search_chunk(&s, number, c);
        pthread_mutex_lock(&k->lock);
        c->done = true;
        k->held += bytes;
        take_done(k);
    }
    pthread_mutex_unlock(&k->lock);
    if (s.dir_fd >= 0)
        close(s.dir_fd);
    buf_release(&s.path);
    grep_worker_release(&s.worker);
    return NULL;
}

static void
search_tree(const struct grep_run *r, struct file_tree *tree)
{
    pthread_t ids[THREADS_MAX];
    unsigned n = file_tree_threads(), started = 0;
    struct run *k = xcalloc(1, sizeof *k);

    k->r = r;
    k->tree = tree;
    k->n_chunks = (file_tree_count(tree) + CHUNK - 1) / CHUNK;
    buf_init(&k->path, BUF_MAX);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->changed, NULL);
    if (file_tree_count(tree) > ALONE)
        while (started + 1 < n && pthread_create(&ids[started], NULL, work, k) == 0)
            started++;
    work(k);
    while (started > 0)
        pthread_join(ids[--started], NULL);
    for (size_t i = 0; i < RING; i++)
        release_hits(&k->ring[i]);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    buf_release(&k->path);
    free(k);
}

static const char *
shown_alone(void *user)
{
    const struct grep_run *r = user;

    return tool_path_shown(r->root, r->cwd);
}

static void
search_alone(const struct grep_run *r)
{
    struct grep_worker w;
    struct grep_hits hits;
    const struct grep_target t = {
        .dir_fd = AT_FDCWD, .name = r->root, .shown = shown_alone, .user = (void *)r};

    if (r->readable && !readable_below(r->readable, STR("")))
        return;
    grep_worker_init(&w, r->options);
    grep_file(&w, &t, &hits);
    if ((hits.matches || hits.too_hard) && cancel_fired(r->cancel) == CANCEL_NONE)
        r->take(r->user, r->root, &hits);
    buf_release(&hits.text);
    grep_worker_release(&w);
}

bool
grep_run(const struct grep_run *r, bool *ret_complete)
{
    const struct file_tree_options o = {
        .root = r->root, .no_links = true, .cancel = r->cancel, .want = want, .user = (void *)r};
    struct file_tree *tree = r->is_file ? NULL : file_tree_read(&o);

    if (ret_complete)
        *ret_complete = !tree || file_tree_complete(tree);
    if (r->is_file)
        search_alone(r);
    else if (tree)
        search_tree(r, tree);
    file_tree_free(tree);
    return cancel_fired(r->cancel) == CANCEL_NONE;
}
