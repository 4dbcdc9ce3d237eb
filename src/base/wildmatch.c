#include <string.h>

#include "base/glob.h"

/*
 * The patterns of ignore files, byte for byte as git reads them: what differs from glob_match is that '?' is one byte, that an unclosed
 * class, an unknown [:name:] and a lone backslash at the end match nothing, and that "**" is more than '*' only as a whole component.
 *
 * Two places to go back to are enough. Where the last '*' fails, an earlier one in the same component fails too, since the first
 * place where its text fits leaves the most to what follows; the same holds for the last "**" among all of them.
 */
struct place {
    const char *p, *t; /* p NULL: none */
};

/* Names by the C locale, without asking for it. */
static bool
in_named_class(struct str name, unsigned char c, bool *ret_in)
{
    bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    bool alnum = upper || lower || digit, graph = c > 32 && c < 127;
    const struct {
        const char *name;
        bool in;
    } classes[] = {
        {"alnum", alnum},
        {"alpha", upper || lower},
        {"blank", c == ' ' || c == '\t'},
        {"cntrl", c < 32 || c == 127},
        {"digit", digit},
        {"graph", graph},
        {"lower", lower},
        {"print", graph || c == ' '},
        {"punct", graph && !alnum},
        {"space", c == ' ' || (c >= '\t' && c <= '\r')},
        {"upper", upper},
        {"xdigit", hex},
    };

    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (str_is(name, classes[i].name)) {
            *ret_in = classes[i].in;
            return true;
        }
    }
    return false;
}

/* "[:name:]" at q. Its end; NULL when it is unknown; q itself when it is none (an ordinary '['). */
static const char *
named_class(const char *q, const char *pe, unsigned char c, bool *ret_in)
{
    const char *name = q + 2, *close = memchr(name, ']', (size_t)(pe - name));

    if (!close)
        return NULL;
    if (close == name || close[-1] != ':')
        return q;
    if (close - 1 < name || !in_named_class(str_make(name, (size_t)(close - 1 - name)), c, ret_in))
        return NULL;
    return close + 1;
}

/* The class at p ("[..."). Its end, or NULL: malformed, and matches nothing. */
static const char *
match_class(const char *p, const char *pe, unsigned char c, bool *ret_in)
{
    const char *q = p + 1;
    bool negated = q < pe && (*q == '!' || *q == '^'), in = false;
    int low = -1; /* what a '-' may go on from */

    q += negated;
    for (bool first = true; first || q >= pe || *q != ']'; first = false) {
        if (q >= pe)
            return NULL;
        if (*q == '-' && low > 0 && q + 1 < pe && q[1] != ']') {
            q += q[1] == '\\' ? 2 : 1;
            if (q >= pe)
                return NULL;
            in |= c >= low && c <= (unsigned char)*q;
            low = -1;
            q++;
            continue;
        }
        if (*q == '[' && q + 1 < pe && q[1] == ':') {
            bool named = false;
            const char *end = named_class(q, pe, c, &named);
            if (!end)
                return NULL;
            if (end != q) {
                in |= named;
                low = -1;
                q = end;
                continue;
            }
        } else if (*q == '\\' && ++q >= pe) {
            return NULL;
        }
        low = (unsigned char)*q++;
        in |= c == low;
    }
    *ret_in = in != negated;
    return q + 1;
}

/* The one element at *p (no star) against the byte c; steps *p past it. */
static bool
match_one(const char **p, const char *pe, unsigned char c, bool pathname)
{
    const char *q = *p;

    if (*q == '?') {
        *p = q + 1;
        return !(pathname && c == '/');
    }
    if (*q == '[') {
        bool in = false;
        const char *end = match_class(q, pe, c, &in);
        if (!end)
            return false;
        *p = end;
        return in && !(pathname && c == '/');
    }
    if (*q == '\\' && ++q >= pe)
        return false;
    *p = q + 1;
    return (unsigned char)*q == c;
}

/* Past the stars at p. ret_deep: they are "**" as a component. */
static const char *
skip_stars(const char *p, const char *start, const char *pe, bool pathname, bool *ret_deep)
{
    const char *q = p;

    while (q < pe && *q == '*')
        q++;
    *ret_deep = pathname && q - p > 1 && (p == start || p[-1] == '/') &&
                (q == pe || *q == '/' || (*q == '\\' && q + 1 < pe && q[1] == '/'));
    return q;
}

/* Goes back to the last star that can take more, which it does. */
static bool
go_back(struct place *star, struct place *deep, const char *te, bool pathname, struct place *ret)
{
    if (star->p && star->t < te && !(pathname && *star->t == '/')) {
        star->t++;
        *ret = *star;
        return true;
    }
    const char *slash =
        deep->p && deep->t < te ? memchr(deep->t, '/', (size_t)(te - deep->t)) : NULL;
    if (!slash)
        return false;
    star->p = NULL;
    deep->t = slash + 1;
    *ret = *deep;
    return true;
}

bool
wildmatch(struct str pattern, struct str text, bool pathname)
{
    const char *pe = pattern.ptr + pattern.len, *te = text.ptr + text.len;
    struct place at = {pattern.ptr, text.ptr}, star = {NULL, NULL}, deep = {NULL, NULL};

    for (;;) {
        bool ok = false, is_deep;
        if (at.p == pe && at.t == te)
            return true;
        if (at.p < pe && *at.p == '*') {
            at.p = skip_stars(at.p, pattern.ptr, pe, pathname, &is_deep);
            if (at.p == pe && (is_deep || !pathname))
                return true;
            if (!is_deep) {
                star = at;
                continue;
            }
            star.p = NULL;
            ok = *at.p == '/'; /* "**" before an escaped slash needs a folder */
            deep = (struct place){at.p + (ok ? 1 : 2), at.t};
            at.p = deep.p;
        } else if (at.p < pe && at.t < te) {
            ok = match_one(&at.p, pe, (unsigned char)*at.t, pathname);
            at.t++;
        }
        if (!ok && !go_back(&star, &deep, te, pathname, &at))
            return false;
    }
}
