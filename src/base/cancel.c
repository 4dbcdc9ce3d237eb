#include "base/cancel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

struct cancel {
    struct cancel *parent, *children, *prev, *next; /* under tree_lock */
    atomic_int reason;
    int refs; /* under tree_lock */
    int fd;   /* under tree_lock; -1: not asked for yet */
};

/* Guards the links, the counts and the descriptors of every tree. Firing is rare and trees are small. */
static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;

struct cancel *
cancel_new(struct cancel *parent)
{
    struct cancel *c = xcalloc(1, sizeof *c);
    c->refs = 1;
    c->fd = -1;
    if (!parent)
        return c;
    pthread_mutex_lock(&tree_lock);
    parent->refs++;
    c->parent = parent;
    c->next = parent->children;
    if (c->next)
        c->next->prev = c;
    parent->children = c;
    atomic_store(&c->reason, atomic_load(&parent->reason));
    pthread_mutex_unlock(&tree_lock);
    return c;
}

struct cancel *
cancel_ref(struct cancel *c)
{
    pthread_mutex_lock(&tree_lock);
    c->refs++;
    pthread_mutex_unlock(&tree_lock);
    return c;
}

static void
unlink_locked(struct cancel *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else if (c->parent)
        c->parent->children = c->next;
    if (c->next)
        c->next->prev = c->prev;
}

void
cancel_free(struct cancel *c)
{
    pthread_mutex_lock(&tree_lock);
    while (c && --c->refs == 0) {
        struct cancel *parent = c->parent;
        unlink_locked(c);
        if (c->fd >= 0)
            close(c->fd);
        free(c);
        c = parent; /* the child's hold on it */
    }
    pthread_mutex_unlock(&tree_lock);
}

static void
signal_fd(int fd)
{
    uint64_t one = 1;
    /* Fails only when the counter is at its maximum, that is, readable already. */
    ssize_t n = write(fd, &one, sizeof one);
    (void)n;
}

static void
fire_locked(struct cancel *c, enum cancel_reason reason)
{
    int none = CANCEL_NONE;
    if (atomic_compare_exchange_strong(&c->reason, &none, (int)reason) && c->fd >= 0)
        signal_fd(c->fd);
    for (struct cancel *k = c->children; k; k = k->next)
        fire_locked(k, reason);
}

void
cancel_fire(struct cancel *c, enum cancel_reason reason)
{
    pthread_mutex_lock(&tree_lock);
    fire_locked(c, reason);
    pthread_mutex_unlock(&tree_lock);
}

enum cancel_reason
cancel_fired(const struct cancel *c)
{
    return c ? (enum cancel_reason)atomic_load(&((struct cancel *)(uintptr_t)c)->reason)
             : CANCEL_NONE;
}

int
cancel_fd(struct cancel *c)
{
    pthread_mutex_lock(&tree_lock);
    if (c->fd < 0) {
        c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (c->fd < 0)
            die("cannot make an eventfd: too many open files");
        if (atomic_load(&c->reason) != CANCEL_NONE)
            signal_fd(c->fd);
    }
    int fd = c->fd;
    pthread_mutex_unlock(&tree_lock);
    return fd;
}
