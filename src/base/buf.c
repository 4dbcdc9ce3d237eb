#include "base/buf.h"

#include <assert.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void
xmalloc_init(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10); /* said once, it stays where it is */
#endif
}

void *
xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        die_oom();
    return p;
}

void *
xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        die_oom();
    return p;
}

void *
xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    if (!q)
        die_oom();
    return q;
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        die_oom();
    return xrealloc(p, n * size);
}

char *
xstrdup(const char *s)
{
    return s ? str_dup(str_from(s)) : NULL;
}

char *
xasprintf(const char *fmt, ...)
{
    struct buf b;
    va_list ap;

    buf_init(&b, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    return buf_take(&b);
}

void
buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void
buf_release(struct buf *b)
{
    free(b->data);
    *b = (struct buf){.max = b->max};
}

void
buf_clear(struct buf *b)
{
    buf_truncate(b, 0);
    b->full = false;
}

bool
buf_full(const struct buf *b)
{
    return b->full;
}

char *
buf_reserve(struct buf *b, size_t n)
{
    if (n > b->max || b->len > b->max - n) {
        b->full = true;
        return NULL;
    }
    if (b->len + n + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < b->len + n + 1)
            cap += cap / 2 + 16;
        b->data = xrealloc(b->data, cap);
        b->cap = cap;
        b->data[b->len] = '\0';
    }
    return b->data + b->len;
}

void
buf_commit(struct buf *b, size_t n)
{
    assert(b->data && b->len + n < b->cap);
    b->len += n;
    b->data[b->len] = '\0';
}

bool
buf_add(struct buf *b, const void *p, size_t len)
{
    char *at = buf_reserve(b, len);
    if (!at)
        return false;
    if (len)
        memcpy(at, p, len);
    buf_commit(b, len);
    return true;
}

bool
buf_add_str(struct buf *b, struct str s)
{
    return buf_add(b, s.ptr, s.len);
}

bool
buf_adds(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

bool
buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bool ok = buf_vaddf(b, fmt, ap);
    va_end(ap);
    return ok;
}

bool
buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    if (!b->data && b->max >= 64)
        buf_reserve(b, 63);
    size_t room = b->data ? b->cap - b->len : 0;
    /* Most texts fit into what is there already. */
    int n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, ap);
    assert(n >= 0);
    bool fits = (size_t)n < room;
    if (room && !fits)
        b->data[b->len] = '\0';
    char *at = buf_reserve(b, (size_t)n);
    if (at && !fits)
        vsnprintf(at, (size_t)n + 1, fmt, again);
    if (at)
        buf_commit(b, (size_t)n);
    else if (room)
        b->data[b->len] = '\0';
    va_end(again);
    return at != NULL;
}

void
buf_truncate(struct buf *b, size_t len)
{
    assert(len <= b->len);
    b->len = len;
    if (b->data)
        b->data[len] = '\0';
}

void
buf_remove_front(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (!n)
        return;
    memmove(b->data, b->data + n, b->len - n);
    buf_truncate(b, b->len - n);
}

const char *
buf_cstr(const struct buf *b)
{
    return b->data ? b->data : "";
}

struct str
buf_str(const struct buf *b)
{
    return (struct str){buf_cstr(b), b->len};
}

char *
buf_take(struct buf *b)
{
    char *p = b->data ? b->data : xcalloc(1, 1);
    *b = (struct buf){.max = b->max};
    return p;
}

struct str
str_make(const char *p, size_t len)
{
    return (struct str){p, len};
}

bool
str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool
str_contains(struct str a, struct str needle)
{
    if (needle.len == 0)
        return true;
    /* By one of its bytes: memmem reads its way through byte by byte. A blank is everywhere, so what stands behind it is looked for. */
    size_t key = needle.len > 1 && needle.ptr[0] == ' ', at = key;
    while ((at = str_find(a, needle.ptr[key], at)) != (size_t)-1) {
        struct str here = {a.ptr + at - key, a.len - at + key};
        if (here.len < needle.len)
            return false;
        if (memcmp(here.ptr, needle.ptr, needle.len) == 0)
            return true;
        at++;
    }
    return false;
}

size_t
str_find(struct str a, char c, size_t from)
{
    if (from >= a.len)
        return (size_t)-1;
    const char *p = memchr(a.ptr + from, c, a.len - from);
    return p ? (size_t)(p - a.ptr) : (size_t)-1;
}

struct str
str_sub(struct str a, size_t from, size_t len)
{
    if (from > a.len)
        from = a.len;
    if (len > a.len - from)
        len = a.len - from;
    return (struct str){a.ptr ? a.ptr + from : NULL, len};
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

struct str
str_trim(struct str a)
{
    while (a.len && is_blank(a.ptr[0]))
        a = str_sub(a, 1, a.len);
    while (a.len && is_blank(a.ptr[a.len - 1]))
        a.len--;
    return a;
}

bool
str_split(struct str *rest, char sep, struct str *ret_part)
{
    if (!rest->ptr)
        return false;
    size_t at = str_find(*rest, sep, 0);
    if (at == (size_t)-1) {
        *ret_part = *rest;
        *rest = (struct str){0};
    } else {
        *ret_part = str_sub(*rest, 0, at);
        *rest = str_sub(*rest, at + 1, rest->len);
    }
    return true;
}

uint64_t
str_hash_more(uint64_t h, struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    return h;
}

uint64_t
str_hash(struct str s)
{
    return str_hash_more(1469598103934665603u, s);
}

char *
str_dup(struct str s)
{
    char *p = xmalloc(s.len + 1);
    if (s.len)
        memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return p;
}
