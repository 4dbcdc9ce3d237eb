#include "perm/shell_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

#include "base/buf.h"

enum { UNIT = 16, UNITS_MAX = 64, STRETCH_BYTES = 256 * 1024 };

/* Before each piece: of how many units it is, 0 where malloc gave it; and the next free one of its size. */
struct piece {
    size_t units;
    struct piece *next;
};

struct stretch {
    struct stretch *next;
    size_t used;
    max_align_t data[STRETCH_BYTES / sizeof(max_align_t)];
};

struct memory {
    unsigned depth;
    struct stretch *stretches; /* newest first; the last one is kept */
    struct piece *free[UNITS_MAX + 1];
};
static _Thread_local struct memory *mine;
static pthread_key_t at_exit;
static bool have_key;

static struct piece *
piece_of(void *p)
{
    return (struct piece *)p - 1;
}

static size_t
with_head(size_t n)
{
    return n > SIZE_MAX - sizeof(struct piece) ? SIZE_MAX : n + sizeof(struct piece);
}

static void *
from_malloc(size_t n)
{
    struct piece *p = xmalloc(with_head(n));
    p->units = 0;
    return p + 1;
}

static void *
take(size_t n)
{
    size_t units = n ? (n - 1) / UNIT + 1 : 1;
    struct memory *m = mine;
    if (!m || !m->depth || units > UNITS_MAX)
        return from_malloc(n);
    struct piece *p = m->free[units];
    if (p) {
        m->free[units] = p->next;
        return p + 1;
    }
    size_t bytes = sizeof *p + units * UNIT;
    if (STRETCH_BYTES - m->stretches->used < bytes) {
        struct stretch *more = xmalloc(sizeof *more);
        more->next = m->stretches;
        more->used = 0;
        m->stretches = more;
    }
    p = (struct piece *)((char *)m->stretches->data + m->stretches->used);
    m->stretches->used += bytes;
    p->units = units;
    return p + 1;
}

static void
give(void *at)
{
    struct piece *p = at ? piece_of(at) : NULL;
    if (p && !p->units) {
        free(p);
    } else if (p) {
        p->next = mine->free[p->units];
        mine->free[p->units] = p;
    }
}

static void *
take_zeroed(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        n = SIZE_MAX / size;
    void *p = take(n * size);
    memset(p, 0, n * size);
    return p;
}

static void *
take_again(void *at, size_t n)
{
    struct piece *p = at ? piece_of(at) : NULL;
    if (!p)
        return take(n);
    if (!p->units) {
        p = xrealloc(p, with_head(n));
        return p + 1;
    }
    if (p->units * UNIT >= n)
        return at;
    void *more = take(n);
    memcpy(more, at, p->units * UNIT);
    give(at);
    return more;
}

static void
memory_free(void *arg)
{
    struct memory *m = arg;
    for (struct stretch *s = m->stretches, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(m);
}

/* Before there are threads: the library's functions cannot be changed while another one is in them. */
__attribute__((constructor)) static void
take_over(void)
{
    have_key = pthread_key_create(&at_exit, memory_free) == 0;
    if (have_key)
        ts_set_allocator(take, take_zeroed, take_again, give);
}

void
shell_memory_enter(void)
{
    if (!have_key)
        return;
    if (!mine) {
        mine = xcalloc(1, sizeof *mine);
        mine->stretches = xmalloc(sizeof *mine->stretches);
        mine->stretches->next = NULL;
        mine->stretches->used = 0;
        pthread_setspecific(at_exit, mine);
    }
    mine->depth++;
}

void
shell_memory_leave(void)
{
    struct memory *m = mine;
    if (!have_key || --m->depth)
        return;
    while (m->stretches->next) {
        struct stretch *next = m->stretches->next;
        free(m->stretches);
        m->stretches = next;
    }
    m->stretches->used = 0;
    memset(m->free, 0, sizeof m->free);
}
