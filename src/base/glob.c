#include "base/glob.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What one glob_match call may cost in alternatives: "{a,b}{a,b}..." doubles with each group. */
enum { BRACE_CAP = 1024 };

static _Thread_local size_t work;

size_t
glob_work(void)
{
    return work;
}

/* Bytes that are no UTF-8 get values of their own past Unicode, so that two different ones never look the same. */
static size_t
next_char(const char *s, const char *end, int32_t *ret)
{
    unsigned char c = (unsigned char)*s;

    if (c < 0x80) {
        *ret = c;
        return 1;
    }
    size_t n = text_decode(str_make(s, (size_t)(end - s)), 0, ret);
    if (n == 1)
        *ret = 0x110000 + c;
    return n;
}

static bool
same_char(int32_t a, int32_t b, unsigned flags)
{
    if (a == b)
        return true;
    if (!(flags & GLOB_FOLD_CASE))
        return false;
    if (a < 0x80 && b < 0x80) {
        int32_t x = a | 0x20;
        return x == (b | 0x20) && x >= 'a' && x <= 'z';
    }
    if (a >= 0x110000 || b >= 0x110000)
        return false;
    char ta[4], tb[4];
    size_t na = text_encode(a, ta), nb = text_encode(b, tb);
    return text_equal_fold(str_make(ta, na), str_make(tb, nb));
}

static bool
in_range(int32_t c, int32_t lo, int32_t hi, unsigned flags)
{
    if (c >= lo && c <= hi)
        return true;
    if (!(flags & GLOB_FOLD_CASE))
        return false;
    if (c >= 'a' && c <= 'z')
        return c - 32 >= lo && c - 32 <= hi;
    if (c >= 'A' && c <= 'Z')
        return c + 32 >= lo && c + 32 <= hi;
    return lo == hi && same_char(c, lo, flags);
}

/* "[:alpha:]" at p: its length when it is one, and whether c is in it. */
static size_t
named_class(const char *p, const char *pe, int32_t c, bool *ret_in)
{
    static const char *const names[] = {"alpha", "digit", "alnum", "upper",
                                        "lower", "space", "punct", "xdigit"};
    if (pe - p < 4 || p[0] != '[' || p[1] != ':')
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if ((size_t)(pe - p) < n + 4 || memcmp(p + 2, names[i], n) != 0 ||
            memcmp(p + 2 + n, ":]", 2) != 0)
            continue;
        bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z',
             digit = c >= '0' && c <= '9';
        bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        bool space = c == ' ' || (c >= '\t' && c <= '\r');
        bool punct = c > 32 && c < 127 && !upper && !lower && !digit;
        const bool in[] = {upper || lower, digit, upper || lower || digit, upper, lower, space,
                           punct,          hex};
        *ret_in = in[i];
        return n + 4;
    }
    return 0;
}

/* One end of a range, past an escape. */
static const char *
class_char(const char *p, const char *pe, int32_t *ret)
{
    if (*p == '\\' && p + 1 < pe)
        p++;
    return p + next_char(p, pe, ret);
}

/* A class at p ("[..."). Its length, or 0 when it is not closed (then '[' is an ordinary character). */
static size_t
match_class(const char *p, const char *pe, int32_t c, unsigned flags, bool *ret_in)
{
    const char *q = p + 1;
    bool negated = q < pe && (*q == '!' || *q == '^'), in = false, first = true;

    if (negated)
        q++;
    for (; q < pe && (first || *q != ']'); first = false) {
        bool named = false;
        size_t n = named_class(q, pe, c, &named);
        if (n) {
            in |= named;
            q += n;
            continue;
        }
        int32_t lo, hi;
        q = class_char(q, pe, &lo);
        hi = lo;
        if (q + 1 < pe && q[0] == '-' && q[1] != ']')
            q = class_char(q + 1, pe, &hi);
        in |= in_range(c, lo, hi, flags);
    }
    work += (size_t)(q - p);
    if (q >= pe)
        return 0;
    *ret_in = in != negated;
    return (size_t)(q + 1 - p);
}

/* Matches the one pattern element at *p (no star) with the character c; steps *p past it. */
static bool
match_one(const char **p, const char *pe, int32_t c, unsigned flags)
{
    const char *q = *p;
    int32_t want;

    if (*q == '?') {
        *p = q + 1;
        return true;
    }
    if (*q == '[') {
        bool in = false;
        size_t n = match_class(q, pe, c, flags, &in);
        if (n) {
            *p = q + n;
            return in;
        }
    } else if (*q == '\\' && q + 1 < pe) {
        q++;
    }
    q += next_char(q, pe, &want);
    *p = q;
    return same_char(want, c, flags);
}

/* One component; going back only to the last star is enough, so the cost is the product of the lengths. */
static bool
match_component(struct str pat, struct str name, unsigned flags)
{
    const char *p = pat.ptr, *pe = p + pat.len, *s = name.ptr, *se = s + name.len;
    const char *star_p = NULL, *star_s = NULL;

    while (s < se) {
        int32_t c;
        work++;
        if (p < pe && *p == '*') {
            while (p < pe && *p == '*')
                p++;
            if (p == pe)
                return true;
            star_p = p;
            star_s = s;
            continue;
        }
        size_t n = next_char(s, se, &c);
        const char *q = p;
        if (p < pe && match_one(&q, pe, c, flags)) {
            p = q;
            s += n;
            continue;
        }
        if (!star_p)
            return false;
        star_s += next_char(star_s, se, &c);
        s = star_s;
        p = star_p;
    }
    while (p < pe && *p == '*')
        p++;
    return p == pe;
}

struct cursor {
    const char *at, *end; /* at NULL: used up */
};

static struct str
component(struct cursor *c, bool pattern)
{
    const char *slash = memchr(c->at, '/', (size_t)(c->end - c->at));
    struct str part = str_make(c->at, (size_t)((slash ? slash : c->end) - c->at));

    c->at = slash ? slash + 1 : NULL;
    if (!pattern || !slash)
        return part;
    size_t n = 0; /* "\/" is a plain separator */
    while (n < part.len && part.ptr[part.len - 1 - n] == '\\')
        n++;
    part.len -= n & 1;
    return part;
}

static bool
match_plain(struct str pattern, struct str path, unsigned flags)
{
    struct cursor p = {pattern.ptr, pattern.ptr + pattern.len};
    struct cursor s = {path.ptr, path.ptr + path.len}, star_p = {NULL, NULL}, star_s = {NULL, NULL};

    while (s.at) {
        work += 4;
        if (p.at) {
            struct cursor np = p, ns = s;
            struct str part = component(&np, true);
            if (str_is(part, "**")) {
                if (!np.at)
                    return true;
                p = star_p = np;
                star_s = s;
                continue;
            }
            if (match_component(part, component(&ns, false), flags)) {
                p = np;
                s = ns;
                continue;
            }
        }
        if (!star_p.at)
            return false;
        component(&star_s, false);
        s = star_s;
        p = star_p;
    }
    return !p.at;
}

/* The first group "{...}" with a comma at its own level: false when there is none. */
static bool
find_group(struct str p, size_t from, size_t *ret_open, size_t *ret_close)
{
    for (size_t i = from; i < p.len; i++) {
        if (p.ptr[i] == '\\') {
            i++;
            continue;
        }
        if (p.ptr[i] != '{')
            continue;
        int depth = 0;
        bool comma = false;
        for (size_t j = i; j < p.len; j++) {
            char c = p.ptr[j];
            if (c == '\\')
                j++;
            else if (c == '{')
                depth++;
            else if (c == ',' && depth == 1)
                comma = true;
            else if (c == '}' && --depth == 0) {
                if (!comma)
                    break;
                *ret_open = i;
                *ret_close = j;
                return true;
            }
        }
        work += p.len - i;
    }
    return false;
}

struct expansion {
    char **list;
    size_t n, cap;
    size_t limit;
};

static void
expand_push(struct expansion *e, struct buf *b)
{
    ARRAY_GROW(e->list, e->n, e->cap);
    e->list[e->n++] = buf_take(b);
}

/* Replaces one group of list[at] by its alternatives: the first in place, the others at the end. */
static bool
expand_one(struct expansion *e, size_t at)
{
    char *whole = e->list[at];
    struct str p = str_from(whole);
    size_t open, close, start;
    bool first = true;
    int depth = 0;

    if (!find_group(p, 0, &open, &close))
        return false;
    start = open + 1;
    for (size_t i = open + 1; i <= close; i++) {
        char c = p.ptr[i];
        if (c == '\\') {
            i++;
            continue;
        }
        if (c == '{')
            depth++;
        if (c == '}' && i < close)
            depth--;
        if (!(i == close || (c == ',' && depth == 0)))
            continue;
        struct buf b;
        buf_init(&b, BUF_MAX);
        buf_add(&b, p.ptr, open);
        buf_add(&b, p.ptr + start, i - start);
        buf_add(&b, p.ptr + close + 1, p.len - close - 1);
        work += 16 + p.len / 4;
        start = i + 1;
        if (first)
            e->list[at] = buf_take(&b);
        else
            expand_push(e, &b);
        first = false;
        buf_release(&b);
    }
    free(whole);
    return true;
}

bool
glob_expand(struct str pattern, char ***ret_list, size_t *ret_n)
{
    struct expansion e = {NULL, 0, 0, BRACE_CAP};
    bool ok = pattern.len <= 4096;

    ARRAY_GROW(e.list, e.n, e.cap);
    e.list[e.n++] = str_dup(pattern);
    for (size_t i = 0; ok && i < e.n; i++)
        while (ok && expand_one(&e, i))
            ok = e.n <= e.limit;
    if (!ok) {
        glob_expand_free(e.list, e.n);
        return false;
    }
    *ret_list = e.list;
    *ret_n = e.n;
    return true;
}

void
glob_expand_free(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

bool
glob_match(struct str pattern, struct str path, unsigned flags)
{
    size_t open, close, n = 0;
    char **list = NULL;
    bool hit = false;

    if (!(flags & GLOB_BRACES) || !find_group(pattern, 0, &open, &close))
        return match_plain(pattern, path, flags);
    if (!glob_expand(pattern, &list, &n))
        return false;
    for (size_t i = 0; i < n && !hit; i++)
        hit = match_plain(str_from(list[i]), path, flags);
    glob_expand_free(list, n);
    return hit;
}
