#include "tools/grep_literal.h"

#include <ctype.h>
#include <string.h>

enum { LITERAL_MIN = 3 };

struct runs {
    struct buf run, best;
};

static void
end_run(struct runs *r)
{
    if (r->run.len > r->best.len) {
        buf_clear(&r->best);
        buf_add_str(&r->best, buf_str(&r->run));
    }
    buf_clear(&r->run);
}

/* The last character may be missing ("ab*", "ab?"): it goes, and the run ends. */
static void
drop_last(struct runs *r)
{
    size_t n = r->run.len;

    while (n && ((unsigned char)r->run.data[n - 1] & 0xC0) == 0x80)
        n--;
    buf_truncate(&r->run, n ? n - 1 : 0);
    end_run(r);
}

/* Past a class or a group at i; 0 when it does not close or is one that changes the meaning of what follows. */
static size_t
skip_brackets(struct str p, size_t i)
{
    int depth = 0;
    bool in_class = false;

    if (p.ptr[i] == '(' && i + 2 < p.len && p.ptr[i + 1] == '?' && p.ptr[i + 2] != ':')
        return 0;
    if (p.ptr[i] == '(' && i + 1 < p.len && p.ptr[i + 1] == '*')
        return 0;
    for (; i < p.len; i++) {
        char c = p.ptr[i];
        if (c == '\\') {
            if (i + 1 < p.len && p.ptr[i + 1] == 'Q')
                return 0;
            i++;
        } else if (in_class) {
            in_class = c != ']';
            if (c == '[')
                return 0; /* [[:alpha:]]: leave it */
        } else if (c == '[') {
            in_class = true;
            if (i + 1 < p.len && p.ptr[i + 1] == '^')
                i++;
            if (i + 1 < p.len && p.ptr[i + 1] == ']')
                i++;
        } else if (c == '(') {
            depth++;
        } else if (c == ')') {
            depth--;
        }
        if (!in_class && depth == 0)
            return i + 1;
    }
    return 0;
}

static bool
scan(struct str p, struct runs *r)
{
    for (size_t i = 0; i < p.len;) {
        char c = p.ptr[i];
        if (c == '|' || c == '\n' || c == ')')
            return false;
        if (c == '(' || c == '[') {
            end_run(r);
            i = skip_brackets(p, i);
            if (!i)
                return false;
            continue;
        }
        if (strchr("*?{", c)) {
            drop_last(r);
            while (c == '{' && i < p.len && p.ptr[i] != '}')
                i++;
        } else if (strchr("+.^$", c)) {
            end_run(r);
        } else if (c == '\\') {
            if (++i >= p.len || p.ptr[i] == 'Q')
                return false;
            if (isalnum((unsigned char)p.ptr[i])) {
                if (!strchr("bBdDsSwWnrt", p.ptr[i]))
                    return false; /* \x41, \p{L}, \1: not read further */
                end_run(r);
            } else {
                buf_addc(&r->run, p.ptr[i]);
            }
        } else {
            buf_addc(&r->run, c);
        }
        i++;
    }
    end_run(r);
    return true;
}

void
grep_required_literal(struct str pattern, struct buf *out)
{
    struct runs r;

    buf_init(&r.run, 1000);
    buf_init(&r.best, 1000);
    if (!memchr(pattern.ptr, '\0', pattern.len) && scan(pattern, &r) && r.best.len >= LITERAL_MIN &&
        r.best.len < pattern.len) /* one that is all of the pattern is found as fast without */
        buf_add_str(out, buf_str(&r.best));
    buf_release(&r.run);
    buf_release(&r.best);
}
