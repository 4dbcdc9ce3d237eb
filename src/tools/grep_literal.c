#include "tools/grep_literal.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 50 };

struct parser {
    struct str p;
    size_t at;
    bool fold;
    int depth;
    bool plain; /* only characters and "|" so far */
};

void
grep_literals_release(struct literals *l)
{
    for (size_t i = 0; i < LITERALS_MAX; i++)
        buf_release(&l->text[i]);
    l->n = 0;
}

static void
literals_init(struct literals *l)
{
    *l = (struct literals){.n = 0};
    for (size_t i = 0; i < LITERALS_MAX; i++)
        buf_init(&l->text[i], LITERAL_MAX);
}

/* The shortest decides how much text is passed over; a set is searched more slowly than one. */
static size_t
worth(const struct literals *l)
{
    size_t least = LITERAL_MAX;

    for (size_t i = 0; i < l->n; i++)
        if (l->text[i].len < least)
            least = l->text[i].len;
    return l->n && least >= LITERAL_MIN ? least * 4 + (l->n == 1 ? 3 : 0) : 0;
}

/* Takes what `from` holds. */
static void
literals_move(struct literals *to, struct literals *from)
{
    grep_literals_release(to);
    *to = *from;
    literals_init(from);
}

static void
keep_better(struct literals *best, struct literals *other)
{
    if (worth(other) > worth(best))
        literals_move(best, other);
}

/* The characters read so far end: are they better than what was found? */
static void
end_run(struct buf *run, struct literals *best)
{
    struct literals one;

    literals_init(&one);
    if (run->len) {
        buf_add_str(&one.text[0], buf_str(run));
        one.n = 1;
    }
    keep_better(best, &one);
    grep_literals_release(&one);
    buf_clear(run);
}

/* The last character may be missing ("ab*", "ab?"). */
static void
drop_last(struct buf *run)
{
    size_t n = run->len;

    while (n && ((unsigned char)run->data[n - 1] & 0xC0) == 0x80)
        n--;
    buf_truncate(run, n ? n - 1 : 0);
}

static void
add_char(struct parser *s, char c, struct buf *run, struct literals *best)
{
    if (s->fold && (unsigned char)c >= 0x80) {
        end_run(run, best);
        s->plain = false;
    } else if (run->len == LITERAL_MAX) {
        s->plain = false;
    } else {
        buf_addc(run, s->fold ? (char)tolower((unsigned char)c) : c);
    }
}

static char
peek(const struct parser *s, size_t ahead)
{
    return s->at + ahead < s->p.len ? s->p.ptr[s->at + ahead] : '\0';
}

/* Past "[...]"; false when it does not close or holds more than plain characters and escapes. */
static bool
skip_class(struct parser *s)
{
    s->at++;
    if (peek(s, 0) == '^')
        s->at++;
    for (bool first = true; s->at < s->p.len; s->at++, first = false) {
        char c = peek(s, 0);
        if (c == ']' && !first) {
            s->at++;
            return true;
        }
        if (c == '\\' && (peek(s, 1) == 'Q' || peek(s, 1) == 'E'))
            return false;
        if (c == '[' && strchr(":.=", peek(s, 1)) && peek(s, 1))
            return false;
        if (c == '\\')
            s->at++;
    }
    return false;
}

/* What follows an atom: may it be missing? Steps past it. */
static bool
skip_quantifier(struct parser *s)
{
    bool optional = false;

    for (char c = peek(s, 0); c && strchr("*?+{", c); c = peek(s, 0)) {
        optional |= c != '+'; /* also a lazy "+?": careful rather than clever */
        if (c == '{') {
            size_t close = str_find(s->p, '}', s->at);
            s->at = close == (size_t)-1 ? s->p.len : close;
            if (s->at == s->p.len)
                return true;
        }
        s->at++;
    }
    return optional;
}

static bool parse_alternatives(struct parser *s, struct literals *ret);

/* "(...)": its own literals count unless it may be missing. */
static bool
parse_group(struct parser *s, struct literals *best)
{
    struct literals inner;

    s->plain = false;
    s->at++;
    if (peek(s, 0) == '*' || (peek(s, 0) == '?' && peek(s, 1) != ':'))
        return false; /* flags, looking around, verbs */
    if (peek(s, 0) == '?')
        s->at += 2;
    if (++s->depth > DEPTH_MAX)
        return false;
    literals_init(&inner);
    bool ok = parse_alternatives(s, &inner) && peek(s, 0) == ')';
    if (ok) {
        s->at++;
        if (!skip_quantifier(s))
            keep_better(best, &inner);
    }
    grep_literals_release(&inner);
    s->depth--;
    return ok;
}

/* After a backslash. */
static bool
parse_escape(struct parser *s, struct buf *run, struct literals *best)
{
    char c = peek(s, 1);

    if (!c || c == 'Q' || c == 'E')
        return false;
    s->at += 2;
    if (!isalnum((unsigned char)c)) {
        add_char(s, c, run, best);
        return true;
    }
    s->plain = false;
    end_run(run, best);
    return strchr("bBdDsSwWnrt", c) != NULL; /* \x41, \p{L}, \1: not read further */
}

static bool
parse_atom(struct parser *s, struct buf *run, struct literals *best)
{
    char c = peek(s, 0);

    if (c == '(' || c == '[') {
        end_run(run, best);
        s->plain = false;
        if (c == '(')
            return parse_group(s, best);
        if (!skip_class(s))
            return false;
        skip_quantifier(s);
        return true;
    }
    if (c == '\\')
        return parse_escape(s, run, best);
    if (c == '*' || c == '?' || c == '{') {
        s->plain = false;
        drop_last(run);
        end_run(run, best);
        skip_quantifier(s);
        return true;
    }
    s->at++;
    if (strchr("+.^$", c)) {
        s->plain = false;
        end_run(run, best);
        return true;
    }
    add_char(s, c, run, best);
    return true;
}

/* One alternative, up to "|", ")" or the end. */
static bool
parse_sequence(struct parser *s, struct literals *best)
{
    struct buf run;
    bool ok = true;

    buf_init(&run, LITERAL_MAX + 8);
    while (ok && s->at < s->p.len && peek(s, 0) != '|' && peek(s, 0) != ')')
        ok = peek(s, 0) != '\0' && peek(s, 0) != '\n' && parse_atom(s, &run, best);
    end_run(&run, best);
    buf_release(&run);
    return ok;
}

/* A literal of each alternative; none when one has none. False: not understood. */
static bool
parse_alternatives(struct parser *s, struct literals *ret)
{
    bool known = true, ok;

    for (;;) {
        struct literals one;
        literals_init(&one);
        ok = parse_sequence(s, &one);
        known &= ok && worth(&one) && ret->n + one.n <= LITERALS_MAX;
        for (size_t i = 0; known && i < one.n; i++)
            buf_add_str(&ret->text[ret->n++], buf_str(&one.text[i]));
        grep_literals_release(&one);
        if (!ok || peek(s, 0) != '|')
            break;
        s->at++;
    }
    if (!known)
        grep_literals_release(ret);
    return ok;
}

void
grep_required_literals(struct str pattern, bool fold, struct literals *ret)
{
    struct parser s = {.p = pattern, .fold = fold, .plain = true};

    literals_init(ret);
    if (!parse_alternatives(&s, ret) || s.at < s.p.len)
        grep_literals_release(ret);
    ret->exact = ret->n && s.plain;
}
