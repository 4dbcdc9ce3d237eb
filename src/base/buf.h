#pragma once
/*
 * Byte strings: `struct str` borrows, `struct buf` owns and grows.
 *
 * Invariants of a buf: born with a maximum (bytes without the closing NUL); `data` is NULL or NUL-terminated
 * at data[len]; what would pass the maximum is not added at all and sets `full`, which stays until buf_clear,
 * so that a run of adds is checked once, at the end. Running out of memory aborts (see base/err.h, die_oom).
 * A str may hold NUL bytes and need not be terminated. Neither may be shared between threads without a lock.
 *
 *     struct buf b;
 *     buf_init(&b, BUF_MAX);
 *     buf_addf(&b, "%d files", n);
 *     if (buf_full(&b)) ...
 *     buf_release(&b);
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *ptr;
    size_t len;
};

struct buf {
    char *data;
    size_t len, cap, max;
    bool full;
};

/* The usual maximum, 64 MiB: the largest thing any path keeps in memory. */
#define BUF_MAX ((size_t)64 << 20)

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);    /* frees; the buf may be initialised again */
void buf_clear(struct buf *b);      /* length 0, memory kept, `full` off */
bool buf_full(const struct buf *b); /* some add did not fit */
bool buf_add(struct buf *b, const void *p, size_t len);
bool buf_add_str(struct buf *b, struct str s);
bool buf_adds(struct buf *b, const char *s); /* NUL-terminated */
bool buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Here, for texts are made byte by byte in many places. */
static inline bool
buf_addc(struct buf *b, char c)
{
    if (b->len >= b->max || b->len + 1 >= b->cap)
        return buf_add(b, &c, 1);
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
    return true;
}
void buf_truncate(struct buf *b, size_t len); /* len <= b->len */
void buf_remove_front(struct buf *b, size_t n);
/* room for n more bytes, or NULL and `full`; then buf_commit */
char *buf_reserve(struct buf *b, size_t n);
void buf_commit(struct buf *b, size_t n);
const char *buf_cstr(const struct buf *b); /* never NULL */
struct str buf_str(const struct buf *b);
/* the bytes are yours (never NULL); the buf is empty again */
char *buf_take(struct buf *b);

/*
 * Questions that are asked of every word for whole tables of names stand here: what is compared with a literal needs no call.
 */
/* A str over a literal or NUL-terminated string; NULL gives the empty str. */
static inline struct str
str_from(const char *s)
{
    return (struct str){s ? s : "", s ? strlen(s) : 0};
}
struct str str_make(const char *p, size_t len);
#define STR(lit) ((struct str){"" lit, sizeof(lit) - 1})
bool str_eq(struct str a, struct str b);
static inline bool
str_is(struct str a, const char *s)
{
    /* Most names of a table differ in their first byte. */
    if (!s || !a.len || a.ptr[0] != *s)
        return !a.len && (!s || !*s);
    return a.len == strlen(s) && memcmp(a.ptr, s, a.len) == 0;
}
static inline bool
str_starts(struct str a, const char *prefix)
{
    size_t n = strlen(prefix);
    return a.len >= n && memcmp(a.ptr, prefix, n) == 0;
}
static inline bool
str_ends(struct str a, const char *suffix)
{
    size_t n = strlen(suffix);
    return a.len >= n && memcmp(a.ptr + a.len - n, suffix, n) == 0;
}
bool str_contains(struct str a, struct str needle);
/* Index of c at or after `from`, or (size_t)-1. */
size_t str_find(struct str a, char c, size_t from);
struct str str_sub(struct str a, size_t from, size_t len); /* clamped */
/* ASCII blanks and newlines off both ends */
struct str str_trim(struct str a);
/* Splits the next part off *rest at `sep`; false when *rest was used up (ptr NULL). */
bool str_split(struct str *rest, char sep, struct str *ret_part);
char *str_dup(struct str s); /* NUL-terminated copy, yours */
/* FNV-1a, for tables: fast, not against an adversary. str_hash_more goes on from what came before. */
uint64_t str_hash(struct str s);
uint64_t str_hash_more(uint64_t h, struct str s);

/* First thing in a program, before any thread: blocks of 128 KiB and more go back to the system when they are freed, also after larger ones
 * were (glibc keeps those else, and a long session's memory grows by the holes between them). */
void xmalloc_init(void);
/* malloc and friends that never return NULL; x == abort on out of memory. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s); /* NULL gives NULL */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Grows array `a` (pointer lvalue) so that index n is valid; `cap` is a size_t lvalue. */
#define ARRAY_GROW(a, n, cap)                                                                      \
    do {                                                                                           \
        if ((n) >= (cap)) {                                                                        \
            (cap) = (cap) ? (cap)*2 : 8;                                                           \
            if ((cap) <= (n))                                                                      \
                (cap) = (n) + 1;                                                                   \
            (a) = xreallocarray((a), (cap), sizeof *(a));                                          \
        }                                                                                          \
    } while (0)
#define ARRAY_LEN(a) (sizeof(a) / sizeof(a)[0])
