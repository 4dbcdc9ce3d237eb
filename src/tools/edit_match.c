#include "tools/edit_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { WORK_MAX = 400000000 };

struct matcher {
    struct str text, old;
    unsigned tolerance;
    size_t work;
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool
at_line_end(struct str s, size_t at)
{
    return at == s.len || s.ptr[at] == '\n' ||
           (s.ptr[at] == '\r' && at + 1 < s.len && s.ptr[at + 1] == '\n');
}

/* The offset past blanks at `at` when a line end (or the end) follows them, else `at`. */
static size_t
skip_trailing(struct matcher *m, struct str s, size_t at)
{
    size_t end = at;

    while (end < s.len && is_blank(s.ptr[end])) {
        end++;
        m->work++;
    }
    return at_line_end(s, end) ? end : at;
}

/* Quote class at off: 0 none, 1 single, 2 double; *ret_n its bytes. */
static int
quote_class(struct str s, size_t off, size_t *ret_n)
{
    const unsigned char *p = (const unsigned char *)s.ptr + off;

    *ret_n = 1;
    if (*p == '\'')
        return 1;
    if (*p == '"')
        return 2;
    if (s.len - off < 3 || p[0] != 0xE2 || p[1] != 0x80)
        return 0;
    *ret_n = 3;
    if (p[2] >= 0x98 && p[2] <= 0x9B)
        return 1;
    return p[2] >= 0x9C && p[2] <= 0x9F ? 2 : 0;
}

/* One step at (i in text, j in old): false when they differ. */
static bool
step(struct matcher *m, size_t *i, size_t *j)
{
    struct str t = m->text, o = m->old;

    if (*i >= t.len)
        return false;
    if (o.ptr[*j] == '\n' && t.ptr[*i] == '\r' && *i + 1 < t.len && t.ptr[*i + 1] == '\n') {
        *i += 2;
        *j += 1;
        return true;
    }
    if (t.ptr[*i] == o.ptr[*j]) {
        ++*i;
        ++*j;
        return true;
    }
    if (m->tolerance & EDIT_QUOTES) {
        size_t ni, nj;
        int a = quote_class(t, *i, &ni), b = quote_class(o, *j, &nj);
        if (a && a == b) {
            *i += ni;
            *j += nj;
            return true;
        }
    }
    return false;
}

/* Steps over blanks before a line end that both have at this point. */
static bool
skip_both(struct matcher *m, size_t *i, size_t *j)
{
    size_t old_end = skip_trailing(m, m->old, *j);

    if (!at_line_end(m->old, old_end))
        return false;
    if (old_end == *j && old_end == m->old.len)
        return false;
    size_t text_end = skip_trailing(m, m->text, *i);
    if (!at_line_end(m->text, text_end))
        return false;
    *i = text_end;
    *j = old_end;
    return true;
}

/* Matches old from text offset `at` up to offset `stop` of old; the offset in text reached, or (size_t)-1. */
static size_t
match_at(struct matcher *m, size_t at, size_t stop)
{
    size_t i = at, j = 0;

    while (j < stop) {
        m->work++;
        if ((m->tolerance & EDIT_BLANKS) && j > 0 && skip_both(m, &i, &j) && j >= stop)
            break;
        if (!step(m, &i, &j))
            return (size_t)-1;
    }
    return i;
}

static void
add_place(struct edit_matches *ms, size_t at, size_t len)
{
    ARRAY_GROW(ms->places, ms->n, ms->cap);
    ms->places[ms->n++] = (struct edit_place){at, len};
}

/* The next offset at or after `from` where old could start. */
static size_t
candidate(const struct matcher *m, size_t from)
{
    char first = m->old.ptr[0];
    const char *p;

    if (from >= m->text.len)
        return (size_t)-1;
    if (first == '\n' ||
        (m->tolerance && !((unsigned char)first < 0x80 && first != '\'' && first != '"')))
        return from;
    p = memchr(m->text.ptr + from, first, m->text.len - from);
    return p ? (size_t)(p - m->text.ptr) : (size_t)-1;
}

/* old holds "\r": it is meant byte for byte where it is there byte for byte. */
static void
find_bytes(struct str text, struct str old, struct edit_matches *ret)
{
    const char *at = text.ptr, *end = text.ptr + text.len, *p;

    while (at < end && (p = memmem(at, (size_t)(end - at), old.ptr, old.len))) {
        if (ret->n >= EDIT_MAX_PLACES) {
            ret->more = true;
            return;
        }
        add_place(ret, (size_t)(p - text.ptr), old.len);
        at = p + old.len;
    }
}

static void
find_all(struct matcher *m, struct edit_matches *ret)
{
    size_t at = 0;

    while ((at = candidate(m, at)) != (size_t)-1 && m->work < WORK_MAX) {
        size_t end = match_at(m, at, m->old.len);
        m->work++;
        if (end == (size_t)-1 || end == at) {
            at++;
            continue;
        }
        if (ret->n >= EDIT_MAX_PLACES) {
            ret->more = true;
            return;
        }
        add_place(ret, at, end - at);
        at = end;
    }
    if (m->work >= WORK_MAX && m->tolerance)
        ret->n = 0;
}

void
edit_match(struct str text, struct str old, struct edit_matches *ret)
{
    static const unsigned tries[] = {EDIT_EXACT, EDIT_QUOTES, EDIT_BLANKS,
                                     EDIT_QUOTES | EDIT_BLANKS};

    *ret = (struct edit_matches){.n = 0};
    if (str_find(old, '\r', 0) != (size_t)-1)
        find_bytes(text, old, ret);
    if (ret->n) {
        ret->bytes = true;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        struct matcher m = {.text = text, .old = old, .tolerance = tries[i]};
        ret->n = 0;
        ret->tolerance = tries[i];
        find_all(&m, ret);
        if (ret->n && (tries[i] == EDIT_EXACT || ret->n == 1))
            return;
    }
    ret->n = 0;
}

size_t
edit_match_offset(struct str text, struct edit_place place, struct str old, size_t old_at,
                  unsigned tolerance)
{
    struct matcher m = {.text = text, .old = old, .tolerance = tolerance};

    if (old_at == 0)
        return place.at;
    if (old_at >= old.len)
        return place.at + place.len;
    size_t at = match_at(&m, place.at, old_at);
    return at == (size_t)-1 ? place.at : at;
}

size_t
edit_line_number(struct str text, size_t at)
{
    size_t n = 1, from = 0, nl;

    while ((nl = str_find(text, '\n', from)) != (size_t)-1 && nl < at) {
        n++;
        from = nl + 1;
    }
    return n;
}
