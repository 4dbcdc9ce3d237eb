#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perm/shell.h"

/* Blocks in a list; all are freed at once. Analyses are short, so nothing is ever returned to it. */
struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
};
struct arena {
    struct block *head;
};

enum { BLOCK_BYTES = 16 * 1024 };

struct arena *
arena_new(void)
{
    return xcalloc(1, sizeof(struct arena));
}

void
arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

void *
arena_alloc(struct arena *a, size_t n)
{
    size_t align = sizeof(max_align_t);
    n = (n + align - 1) / align * align;
    if (n == 0)
        n = align;
    if (!a->head || a->head->size - a->head->used < n) {
        size_t size = n > BLOCK_BYTES ? n : BLOCK_BYTES;
        struct block *b = xmalloc(sizeof *b + size);
        b->next = a->head;
        b->used = 0;
        b->size = size;
        a->head = b;
    }
    void *p = (char *)a->head->data + a->head->used;
    a->head->used += n;
    memset(p, 0, n);
    return p;
}

char *
arena_dup(struct arena *a, const char *p, size_t n)
{
    char *r = arena_alloc(a, n + 1);
    if (n)
        memcpy(r, p, n);
    return r;
}

struct str
arena_str(struct arena *a, struct str s)
{
    return str_make(arena_dup(a, s.ptr, s.len), s.len);
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *r = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1);
    if (n >= 0)
        vsnprintf(r, (size_t)n + 1, fmt, again);
    va_end(again);
    return r;
}
