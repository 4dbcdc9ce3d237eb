#include "base/queue.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

struct queue {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t room;
    void **ring;
    size_t cap, head, len;
    bool closed, signalled; /* signalled: the descriptor is readable */
    int fd;
    queue_merge_fn merge;
    queue_free_fn free_item;
};

struct queue *
queue_new(size_t cap, queue_merge_fn merge, queue_free_fn free_item)
{
    struct queue *q = xcalloc(1, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->room, NULL);
    q->cap = cap;
    q->ring = xcalloc(cap, sizeof *q->ring);
    q->merge = merge;
    q->free_item = free_item;
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->fd < 0)
        die("cannot make an eventfd: too many open files");
    return q;
}

void
queue_free(struct queue *q)
{
    if (!q)
        return;
    for (; q->len; q->len--, q->head = (q->head + 1) % q->cap)
        q->free_item(q->ring[q->head]);
    close(q->fd);
    pthread_cond_destroy(&q->room);
    pthread_mutex_destroy(&q->lock);
    free(q->ring);
    free(q);
}

/* Keeps "readable" equal to "something queued, or closed", with one system call per change. */
static void
update_fd_locked(struct queue *q)
{
    bool want = q->len > 0 || q->closed;
    uint64_t n = 1;
    ssize_t r = 0;
    if (want && !q->signalled)
        r = write(q->fd, &n, sizeof n);
    else if (!want && q->signalled)
        r = read(q->fd, &n, sizeof n);
    (void)r;
    q->signalled = want;
}

static bool
add_locked(struct queue *q, void *item)
{
    if (q->merge && q->len && q->merge(q->ring[(q->head + q->len - 1) % q->cap], item))
        return true;
    if (q->len == q->cap)
        return false;
    q->ring[(q->head + q->len++) % q->cap] = item;
    update_fd_locked(q);
    return true;
}

bool
queue_push(struct queue *q, void *take_item)
{
    pthread_mutex_lock(&q->lock);
    bool done = false;
    while (!q->closed && !(done = add_locked(q, take_item)))
        pthread_cond_wait(&q->room, &q->lock);
    pthread_mutex_unlock(&q->lock);
    if (!done)
        q->free_item(take_item);
    return done;
}

bool
queue_try_push(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    bool done = !q->closed && add_locked(q, item);
    pthread_mutex_unlock(&q->lock);
    return done;
}

void *
queue_pop(struct queue *q)
{
    void *item = NULL;
    pthread_mutex_lock(&q->lock);
    if (q->len) {
        item = q->ring[q->head];
        q->head = (q->head + 1) % q->cap;
        q->len--;
        update_fd_locked(q);
        pthread_cond_signal(&q->room);
    }
    pthread_mutex_unlock(&q->lock);
    return item;
}

bool
queue_wait(struct queue *q, int timeout_ms)
{
    struct pollfd p = {.fd = q->fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) > 0;
}

int
queue_fd(struct queue *q)
{
    return q->fd;
}

void
queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    update_fd_locked(q);
    pthread_cond_broadcast(&q->room);
    pthread_mutex_unlock(&q->lock);
}

size_t
queue_len(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    size_t len = q->len;
    pthread_mutex_unlock(&q->lock);
    return len;
}
