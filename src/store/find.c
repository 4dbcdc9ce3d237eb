#include "store/find.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

static unsigned char
lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

/* Stands in JSON as it is, whoever wrote it. '/' may be escaped. */
static bool
is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '/';
}

void
finder_init(struct finder *f, struct str what)
{
    size_t best = 0, best_at = 0;
    *f = (struct finder){0};
    for (size_t i = 0, from = 0; i <= what.len; i++) {
        if (i < what.len && is_plain((unsigned char)what.ptr[i]))
            continue;
        if (i - from > best) {
            best = i - from;
            best_at = from;
        }
        from = i + 1;
    }
    f->n = best < sizeof f->run ? best : sizeof f->run;
    memset(f->skip, (int)f->n, sizeof f->skip);
    for (size_t i = 0; i < f->n; i++) {
        unsigned char c = lower((unsigned char)what.ptr[best_at + i]);
        f->run[i] = (char)c;
        if (i + 1 == f->n)
            break;
        f->skip[c] = (unsigned char)(f->n - 1 - i);
        if (c >= 'a' && c <= 'z')
            f->skip[c - 32] = f->skip[c];
    }
}

static bool
same_run(const char *at, const char *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((char)lower((unsigned char)at[i]) != run[i])
            return false;
    return true;
}

/* Horspool's way: the byte under the run's end says how far it may jump. */
static size_t
find_run(const struct finder *f, struct str s)
{
    for (size_t at = 0; at + f->n <= s.len; at += f->skip[(unsigned char)s.ptr[at + f->n - 1]])
        if (same_run(s.ptr + at, f->run, f->n))
            return at;
    return SIZE_MAX;
}

bool
finder_may_hold(const struct finder *f, struct str json)
{
    return !f->n || find_run(f, json) != SIZE_MAX;
}

/* As many code points of s from `at` on as `what` has; 0: there are not so many. */
static size_t
same_length(struct str s, size_t at, size_t points)
{
    size_t end = at;
    int32_t cp;
    while (points-- > 0) {
        if (end >= s.len)
            return 0;
        end += text_decode(s, end, &cp);
    }
    return end - at;
}

size_t
find_fold(struct str s, struct str what, size_t *ret_len)
{
    struct finder f;
    int32_t cp;
    size_t points = 0;
    finder_init(&f, what);
    if (f.n && f.n == what.len) {
        *ret_len = what.len;
        return find_run(&f, s);
    }
    for (size_t i = 0; i < what.len; points++)
        i += text_decode(what, i, &cp);
    for (size_t at = 0; points && at < s.len; at += text_decode(s, at, &cp)) {
        size_t len = same_length(s, at, points);
        if (!len)
            break;
        if (!text_equal_fold(str_sub(s, at, len), what))
            continue;
        *ret_len = len;
        return at;
    }
    return SIZE_MAX;
}

/* ---- excerpts ---- */

enum { BEFORE = 60, EXCERPT = 200 };

static bool
is_inside_char(struct str s, size_t at)
{
    return at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80;
}

char *
find_excerpt(struct str text, size_t at)
{
    size_t from = at > BEFORE ? at - BEFORE : 0, end = from + EXCERPT;
    while (is_inside_char(text, from))
        from++;
    end = end < text.len ? end : text.len;
    while (end > from && is_inside_char(text, end))
        end--;
    char *out = str_dup(str_trim(str_sub(text, from, end - from)));
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    return out;
}
