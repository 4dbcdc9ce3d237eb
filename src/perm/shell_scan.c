/*
 * What happens to the bytes before the parser sees them. The scanner knows quotes, substitutions, comments and
 * here-documents the way bash reads them; what it cannot follow with certainty it says, and the caller asks.
 */
#include <string.h>

#include "base/text.h"
#include "perm/shell.h"

static bool
odd_space(int32_t cp)
{
    return cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200d) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x2060 || cp == 0x3000 ||
           cp == 0xfeff || cp == 0x3164 || cp == 0x2800 || cp == 0x115f || cp == 0x1160 ||
           cp == 0xffa0;
}

bool
scan_bytes(struct str s, const char **ret_why)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
            *ret_why = c == '\r' ? "holds a carriage return"
                       : c == 0  ? "holds a NUL byte"
                                 : "holds a control character";
            return false;
        }
    }
    if (!text_valid_utf8(s)) {
        *ret_why = "is not valid UTF-8";
        return false;
    }
    for (size_t i = 0; i < s.len;) {
        int32_t cp = 0;
        if ((unsigned char)s.ptr[i] < 0x80) {
            i++;
            continue;
        }
        i += text_decode(s, i, &cp);
        if (odd_space(cp) || text_is_unsafe_cp(cp)) {
            *ret_why = "holds an invisible or misleading Unicode character";
            return false;
        }
    }
    return true;
}

enum ctx_kind { C_TOP, C_PAREN, C_TICK, C_QUOTE, C_BRACE, C_ARITH };
struct ctx {
    enum ctx_kind kind;
    unsigned parens; /* open ones inside C_ARITH */
};
enum { MAX_CTX = 64, MAX_DOCS = 32 };

struct pending {
    struct str delim;
    size_t doc;
    int depth;
    bool strip;
};

struct scan {
    struct arena *a;
    struct str in;
    size_t i;
    struct buf text, joined, body;
    struct ctx stack[MAX_CTX];
    int depth;
    struct heredoc docs[MAX_DOCS];
    struct pending pend[MAX_DOCS];
    size_t n_docs, n_pend, joins;
    struct stand_in stand_ins[MAX_DOCS];
    size_t n_stand_ins;
    const char *bad;
    bool saw_case;
};

static void
fail(struct scan *s, const char *why)
{
    if (!s->bad)
        s->bad = why;
}

static char
peek(const struct scan *s, size_t off)
{
    return s->i + off < s->in.len ? s->in.ptr[s->i + off] : '\0';
}

/* Copies n bytes to both outputs. */
static void
copy(struct scan *s, size_t n)
{
    if (n > s->in.len - s->i)
        n = s->in.len - s->i;
    buf_add(&s->text, s->in.ptr + s->i, n);
    buf_add(&s->joined, s->in.ptr + s->i, n);
    s->i += n;
}

static void
push(struct scan *s, enum ctx_kind kind)
{
    if (s->depth + 1 >= MAX_CTX) {
        fail(s, "is nested too deeply");
        return;
    }
    s->stack[++s->depth] = (struct ctx){kind, 0};
}

static void
pop(struct scan *s)
{
    if (s->depth > 0)
        s->depth--;
}

static enum ctx_kind
top(const struct scan *s)
{
    return s->stack[s->depth].kind;
}

static void
copy_single(struct scan *s, bool ansi)
{
    copy(s, ansi ? 2 : 1);
    while (s->i < s->in.len && peek(s, 0) != '\'')
        copy(s, ansi && peek(s, 0) == '\\' ? 2 : 1);
    copy(s, 1);
}

/* A backslash outside single quotes: with a newline both vanish. */
static void
backslash(struct scan *s)
{
    if (peek(s, 1) == '\n') {
        s->i += 2;
        s->joins++;
    } else {
        copy(s, 2);
    }
}

/* "$(", "${", "$((", a backtick: the openers that are live in nearly every context. */
static bool
opener(struct scan *s)
{
    char c = peek(s, 0), d = peek(s, 1);
    if (c == '`') {
        if (top(s) == C_TICK)
            pop(s);
        else
            push(s, C_TICK);
        copy(s, 1);
        return true;
    }
    if (c != '$' || (d != '(' && d != '{'))
        return false;
    bool arith = d == '(' && peek(s, 2) == '(';
    push(s, d == '{' ? C_BRACE : arith ? C_ARITH : C_PAREN);
    copy(s, arith ? 3 : 2);
    return true;
}

static bool
is_meta(char c)
{
    return c == '\0' || strchr(" \t\n;&|<>()", c) != NULL;
}

/* The delimiter word at s->i; false when it holds what only the shell could tell. */
static bool
read_delim(struct scan *s, struct buf *delim, bool *ret_quoted)
{
    bool quoted = false;
    size_t start = s->i;
    while (s->i < s->in.len && !is_meta(peek(s, 0))) {
        char c = peek(s, 0);
        if (c == '$' || c == '`')
            return false;
        if (c == '\'' || c == '"') {
            quoted = true;
            for (s->i++; s->i < s->in.len && peek(s, 0) != c; s->i++) {
                if (c == '"' && strchr("\\$`", peek(s, 0)))
                    return false;
                buf_addc(delim, peek(s, 0));
            }
            s->i++;
        } else if (c == '\\') {
            quoted = true;
            buf_addc(delim, peek(s, 1));
            s->i += 2;
        } else {
            buf_addc(delim, c);
            s->i++;
        }
    }
    if (s->i > s->in.len)
        s->i = s->in.len;
    buf_add(&s->joined, s->in.ptr + start, s->i - start);
    *ret_quoted = quoted;
    return s->i > start && !memchr(buf_cstr(delim), '\n', delim->len);
}

static void
heredoc(struct scan *s)
{
    if (s->n_docs >= MAX_DOCS) {
        fail(s, "has too many here-documents");
        copy(s, 2);
        return;
    }
    for (int i = 1; i <= s->depth; i++)
        if (s->stack[i].kind == C_TICK) /* its backslashes are taken away before it is read */
            fail(s, "has a here-document in backticks");
    struct heredoc *d = &s->docs[s->n_docs];
    struct pending *p = &s->pend[s->n_pend];
    *d = (struct heredoc){.at = s->text.len, .body = STR("")};
    *p = (struct pending){.doc = s->n_docs, .depth = s->depth};
    size_t start = s->i;
    s->i += 2;
    if (peek(s, 0) == '-') {
        p->strip = true;
        s->i++;
    }
    while (peek(s, 0) == ' ' || peek(s, 0) == '\t')
        s->i++;
    buf_add(&s->joined, s->in.ptr + start, s->i - start);
    d->joined_at = s->joined.len;
    buf_adds(&s->text, "<HEREDOC");
    struct buf delim;
    buf_init(&delim, 4096);
    if (!read_delim(s, &delim, &d->quoted))
        fail(s, "has a here-document whose end cannot be known");
    p->delim = arena_str(s->a, buf_str(&delim));
    buf_release(&delim);
    s->n_docs++;
    s->n_pend++;
}

/* One logical line of a body: from s->i to past its newline, continuations joined in an unquoted body. */
static void
body_line(struct scan *s, const struct pending *p, struct buf *line)
{
    buf_clear(line);
    if (p->strip)
        while (peek(s, 0) == '\t')
            s->i++;
    bool quoted = s->docs[p->doc].quoted;
    while (s->i < s->in.len && peek(s, 0) != '\n') {
        if (!quoted && peek(s, 0) == '\\' && peek(s, 1) == '\n') {
            s->i += 2;
            continue;
        }
        if (!quoted && peek(s, 0) == '\\' && s->i + 1 < s->in.len) {
            buf_addc(line, '\\');
            s->i++;
        }
        buf_addc(line, peek(s, 0));
        s->i++;
    }
}

static void
read_body(struct scan *s, const struct pending *p, struct buf *line)
{
    size_t start = s->i;
    bool ended = false;
    buf_clear(&s->body);
    while (s->i < s->in.len && !ended) {
        body_line(s, p, line);
        ended = str_eq(buf_str(line), p->delim);
        bool newline = s->i < s->in.len;
        if (newline)
            s->i++;
        if (!ended) {
            buf_add_str(&s->body, buf_str(line));
            if (newline)
                buf_addc(&s->body, '\n');
        }
    }
    if (!ended)
        fail(s, "has a here-document without its end");
    buf_add(&s->joined, s->in.ptr + start, s->i - start);
    s->docs[p->doc].body = arena_str(s->a, buf_str(&s->body));
}

static void
newline(struct scan *s)
{
    copy(s, 1);
    if (!s->n_pend)
        return;
    struct buf line;
    buf_init(&line, SH_PARSE_BYTES);
    for (size_t k = 0; k < s->n_pend; k++) {
        if (s->pend[k].depth != s->depth)
            fail(s, "has a here-document that is read in another place than it is written");
        read_body(s, &s->pend[k], &line);
    }
    buf_release(&line);
    s->n_pend = 0;
}

static bool
word_start(const struct scan *s)
{
    return s->i == 0 || strchr(" \t\n;&|()", s->in.ptr[s->i - 1]) != NULL ||
           (s->in.ptr[s->i - 1] == '`');
}

static void
comment(struct scan *s)
{
    while (s->i < s->in.len && peek(s, 0) != '\n')
        copy(s, 1);
}

/* The grammar does not know "<>", and "<<<" only before other redirections. For it both are a '<'; what they are is kept. */
static void
stand_in(struct scan *s, const char *op)
{
    if (s->n_stand_ins == MAX_DOCS) {
        fail(s, "has too many redirections");
        copy(s, strlen(op));
        return;
    }
    s->stand_ins[s->n_stand_ins++] = (struct stand_in){s->text.len, op};
    buf_addf(&s->text, "<%*s", (int)strlen(op) - 1, "");
    buf_addf(&s->joined, "<%*s", (int)strlen(op) - 1, "");
    s->i += strlen(op);
}

static void
step_code(struct scan *s)
{
    char c = peek(s, 0);
    if (c == '\\')
        backslash(s);
    else if (c == '\'')
        copy_single(s, false);
    else if (c == '$' && peek(s, 1) == '\'')
        copy_single(s, true);
    else if (c == '"') {
        push(s, C_QUOTE);
        copy(s, 1);
    } else if (c == '#' && word_start(s))
        comment(s);
    else if (opener(s))
        return;
    else if (c == '(') {
        bool arith = peek(s, 1) == '(';
        push(s, arith ? C_ARITH : C_PAREN);
        copy(s, arith ? 2 : 1);
    } else if (c == ')') {
        if (top(s) == C_PAREN)
            pop(s);
        copy(s, 1);
    } else if (c == '<' && peek(s, 1) == '<' && peek(s, 2) == '<')
        stand_in(s, "<<<");
    else if (c == '<' && peek(s, 1) == '<')
        heredoc(s);
    else if (c == '<' && peek(s, 1) == '>')
        stand_in(s, "<>");
    else if (c == '\n')
        newline(s);
    else {
        if (c == 'c' && s->depth > 0 && word_start(s) && peek(s, 1) == 'a' && peek(s, 2) == 's' &&
            peek(s, 3) == 'e')
            s->saw_case = true;
        copy(s, 1);
    }
}

static void
step_quote(struct scan *s)
{
    char c = peek(s, 0);
    if (c == '\\')
        backslash(s);
    else if (!opener(s)) {
        if (c == '"')
            pop(s);
        copy(s, 1);
    }
}

/* Inside ${...}: single quotes quote unless double quotes are around it. */
static void
step_brace(struct scan *s)
{
    char c = peek(s, 0);
    if (c == '\\')
        backslash(s);
    else if (c == '\'' && !(s->depth > 0 && s->stack[s->depth - 1].kind == C_QUOTE))
        copy_single(s, false);
    else if (c == '"') {
        push(s, C_QUOTE);
        copy(s, 1);
    } else if (!opener(s)) {
        if (c == '}')
            pop(s);
        copy(s, 1);
    }
}

static void
step_arith(struct scan *s)
{
    char c = peek(s, 0);
    struct ctx *t = &s->stack[s->depth];
    if (c == '\\')
        backslash(s);
    else if (c == '\'')
        copy_single(s, false);
    else if (c == '"') {
        push(s, C_QUOTE);
        copy(s, 1);
    } else if (opener(s))
        return;
    else if (c == '(') {
        t->parens++;
        copy(s, 1);
    } else if (c == ')' && t->parens > 0) {
        t->parens--;
        copy(s, 1);
    } else if (c == ')') {
        /* One bracket alone: it was a subshell in a subshell, read as arithmetic. */
        bool two = peek(s, 1) == ')';
        pop(s);
        if (!two)
            push(s, C_PAREN);
        copy(s, two ? 2 : 1);
    } else {
        copy(s, 1);
    }
}

static void
step(struct scan *s)
{
    switch (top(s)) {
    case C_QUOTE:
        step_quote(s);
        break;
    case C_BRACE:
        step_brace(s);
        break;
    case C_ARITH:
        step_arith(s);
        break;
    case C_TOP:
    case C_PAREN:
    case C_TICK:
        step_code(s);
        break;
    }
}

void
scan_text(struct arena *a, struct str in, struct scanned *ret)
{
    *ret = (struct scanned){.text = in, .joined = in};
    bool continued = str_contains(in, STR("\\\n")),
         docs = str_contains(in, STR("<<")) || str_contains(in, STR("<>"));
    if (!continued && !docs)
        return;
    struct scan *s = arena_alloc(a, sizeof *s);
    s->a = a;
    s->in = in;
    buf_init(&s->text, SH_PARSE_BYTES * 2);
    buf_init(&s->joined, SH_PARSE_BYTES * 2);
    buf_init(&s->body, SH_PARSE_BYTES * 2);
    while (s->i < in.len && !(s->bad && s->depth + 2 >= MAX_CTX))
        step(s);
    copy(s, in.len - s->i);
    if (s->n_pend)
        fail(s, "has a here-document without its text");
    if ((s->joins || s->n_docs) && (s->depth != 0 || s->saw_case))
        fail(s, "cannot be split into lines with certainty");
    ret->text = arena_str(a, buf_str(&s->text));
    ret->joined = arena_str(a, buf_str(&s->joined));
    ret->docs = s->docs;
    ret->n_docs = s->n_docs;
    ret->stand_ins = s->stand_ins;
    ret->n_stand_ins = s->n_stand_ins;
    ret->bad = s->bad;
    buf_release(&s->text);
    buf_release(&s->joined);
    buf_release(&s->body);
}
