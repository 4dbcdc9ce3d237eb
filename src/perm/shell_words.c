/*
 * Words are decoded from their bytes, as bash reads them; the tree only says where a substitution ends. An opener that is live
 * by these rules and has no node in the tree makes the analysis incomplete: this is the independent scanner.
 */
#include <string.h>

#include "base/text.h"
#include "perm/shell.h"

void
words_add(struct sh *sh, struct words *ws, const struct word *w)
{
    if (ws->n >= SH_MAX_WORDS) {
        sh_incomplete(sh, "the command has too many words");
        return;
    }
    if (ws->n == ws->cap) {
        size_t cap = ws->cap ? ws->cap * 2 : 2; /* most are of one or two, and a word is large */
        struct word *v = arena_alloc(sh->a, cap * sizeof *v);
        if (ws->n)
            memcpy(v, ws->v, ws->n * sizeof *v);
        ws->v = v;
        ws->cap = cap;
    }
    ws->v[ws->n++] = *w;
}

struct word
word_literal(struct sh *sh, struct str text)
{
    struct str t = arena_str(sh->a, text);
    return (struct word){.w = {.text = t, .known = true}, .src = t};
}

struct word
word_unknown(struct str src, bool split)
{
    return (struct word){.w = {.text = src}, .src = src, .split = split};
}

void
xword_add(struct sh *sh, struct xword *x, char c, uint8_t f)
{
    if (x->n == x->cap) {
        size_t cap = x->cap ? x->cap * 2 : 32;
        struct xchar *v = arena_alloc(sh->a, cap * sizeof *v);
        if (x->n)
            memcpy(v, x->v, x->n * sizeof *v);
        x->v = v;
        x->cap = cap;
    }
    x->v[x->n++] = (struct xchar){c, f};
}

static bool
is_substitution(TSNode n)
{
    return node_is(n, "command_substitution") || node_is(n, "process_substitution") ||
           node_is(n, "expansion") || node_is(n, "simple_expansion") ||
           node_is(n, "arithmetic_expansion");
}

/* The outermost substitution below n that begins at byte `at`. The parser's search goes through all children before it, which makes a square
 * of a line that is one node: they cost work. */
static bool
find_node(struct sh *sh, TSNode n, uint32_t at, TSNode *ret)
{
    for (int depth = 0; depth < 200 && sh_spend(sh, 1 + ts_node_child_count(n) / 32); depth++) {
        if (is_substitution(n) && ts_node_start_byte(n) == at) {
            *ret = n;
            return true;
        }
        TSNode c = ts_node_first_child_for_byte(n, at);
        if (ts_node_is_null(c) || ts_node_start_byte(c) > at || ts_node_end_byte(c) <= at)
            return false;
        n = c;
    }
    return false;
}

uint32_t
word_counted_at(struct sh *sh, TSNode node, uint32_t at)
{
    TSNode n;
    if (!find_node(sh, node, at, &n) || !node_is(n, "command_substitution") || ts_node_has_error(n))
        return 0;
    walk_substitution(sh, n);
    return substitution_counts(sh, n) ? ts_node_end_byte(n) - at : 0;
}

/* Walks the substitution that begins at body[off], which the tree does not show: parsed as an argument of its own.
 * Returns its length. */
static size_t
live_substitution(struct sh *sh, struct str body, size_t off)
{
    struct str rest = str_sub(body, off, body.len - off);
    size_t len = 0;
    int depth = 0;
    bool tick = rest.ptr[0] == '`';
    for (size_t i = tick ? 1 : 0; i < rest.len && len == 0; i++) {
        char c = rest.ptr[i];
        if (c == '\\')
            i++;
        else if (tick && c == '`')
            len = i + 1;
        else if (!tick && (c == '(' || c == '{'))
            depth++;
        else if (!tick && (c == ')' || c == '}') && --depth == 0)
            len = i + 1;
    }
    if (len == 0 || memchr(rest.ptr, '\'', len) || memchr(rest.ptr, '"', len) ||
        memchr(rest.ptr, '\\', len)) {
        sh_incomplete(sh, "a substitution in a here-document is not understood");
        if (len == 0)
            len = rest.len;
    }
    struct buf b;
    buf_init(&b, SH_PARSE_BYTES);
    buf_adds(&b, ": ");
    buf_add(&b, rest.ptr, len);
    buf_addc(&b, '\n');
    sh_run_text(sh, arena_str(sh->a, buf_str(&b)));
    buf_release(&b);
    /* The ":" that carried it is no command of the person's. */
    struct perm_leaf *last = leaf_at(sh, sh->ret->n_leaves - 1);
    if (last && last->name_known && str_is(last->argv[0].text, ":"))
        sh->ret->n_leaves--;
    return len;
}

struct decode {
    struct sh *sh;
    TSNode node;
    struct str s;
    uint32_t i, to;
    struct xword x;
    enum word_mode mode;
    bool broken;
    bool bare_name; /* an unquoted $name: what braces put behind it would become part of the name */
};

static void
put(struct decode *d, char c, uint8_t f)
{
    xword_add(d->sh, &d->x, c, f);
}

static char
at(const struct decode *d, uint32_t off)
{
    return d->i + off < d->to ? d->s.ptr[d->i + off] : '\0';
}

static void
broken(struct decode *d, const char *why)
{
    sh_incomplete(d->sh, why);
    d->broken = true;
}

static void
put_text(struct decode *d, struct str t, uint8_t f)
{
    for (size_t k = 0; k < t.len; k++)
        put(d, t.ptr[k], f);
}

/* Arithmetic: a plain number is its value. */
static void
put_arith(struct decode *d, TSNode n, bool dq)
{
    struct sh *sh = d->sh;
    uint32_t from = ts_node_start_byte(n), to = ts_node_end_byte(n);
    bool bracket = sh->unit->s.text.ptr[from + 1] == '[';
    uint32_t open = bracket ? 2 : 3, close = bracket ? 1 : 2;
    int64_t v;
    if (to - from < open + close || !arith_check(sh, n, from + open, to - close)) {
        sh_incomplete(sh, "arithmetic with names can run code");
        put(d, 0, (uint8_t)(XU | (dq ? 0 : XS)));
        return;
    }
    if (arith_value(str_sub(sh->unit->s.text, from + open, to - close - from - open), &v))
        put_text(d, str_from(arena_printf(sh->a, "%lld", (long long)v)), XQ);
    else
        put(d, 0, XU | XN);
}

/* Unquoted it would be cut, or taken for a pattern. */
static bool
splits(const struct sh *sh, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(" \t\n*?[\\", text.ptr[i]))
            return true;
    return sh->ifs_seen;
}

static void
put_substitution(struct decode *d, TSNode n, bool dq)
{
    struct sh *sh = d->sh;
    struct str text;
    if (node_is(n, "command_substitution")) {
        size_t first = sh->ret->n_leaves;
        bool literal = walk_literal_substitution(sh, n, &text);
        if (!literal)
            walk_substitution(sh, n);
        if (literal && dq)
            put_text(d, text, XQ);
        else if (!literal && substitution_counts(sh, n))
            put(d, 0, XU | XN);
        else if (!literal && substitution_folder(sh, n, first, &text) && (dq || !splits(sh, text)))
            put_text(d, text, XQ);
        else if (!literal && substitution_revision(sh, n, first) && !sh->ifs_seen)
            put(d, 0, (uint8_t)(XU | XT | (dq ? 0 : XS)));
        else
            put(d, literal ? 0 : found_in_substitution(sh, n, first),
                (uint8_t)(XU | (dq ? 0 : XS)));
    } else if (node_is(n, "process_substitution")) {
        walk_substitution(sh, n);
        put(d, 0, XU | XP);
    } else if (node_is(n, "arithmetic_expansion")) {
        put_arith(d, n, dq);
    } else {
        d->bare_name = d->bare_name || (!dq && node_is(n, "simple_expansion"));
        param_expand(sh, n, dq, &d->x);
    }
}

/* An opener without a node: what may run there is still shown to deny. */
static void
unseen(struct decode *d)
{
    bool runs = at(d, 0) == '`' || (at(d, 0) == '$' && at(d, 1) == '(');
    d->i += runs ? (uint32_t)live_substitution(d->sh, str_sub(d->s, 0, d->to), d->i) : 1;
}

/* At an opener: steps over its node; without one the whole asks. */
static void
substitution(struct decode *d, bool dq)
{
    TSNode n;
    if (!find_node(d->sh, d->node, d->i, &n) || ts_node_end_byte(n) > d->to ||
        ts_node_end_byte(n) <= d->i || ts_node_has_error(n)) {
        broken(d, "a substitution is not seen by the parser");
        put(d, 0, XU | XS);
        unseen(d);
        return;
    }
    d->i = ts_node_end_byte(n);
    put_substitution(d, n, dq);
}

static bool
is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A '$' or backtick that bash would expand here. */
static bool
opens(const struct decode *d)
{
    char c = at(d, 0), n = at(d, 1);
    if (c == '`')
        return true;
    return c == '$' && n != '\0' && (is_name_char(n) || strchr("{([@*#?$!-", n) != NULL);
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* \x41 \u00e9 \U0001f600 \101 inside $'...'; at the character after the backslash. */
static void
ansi_number(struct decode *d)
{
    char kind = at(d, 0);
    bool octal = kind >= '0' && kind <= '7';
    int max = octal ? 3 : kind == 'x' ? 2 : kind == 'u' ? 4 : 8, n = 0;
    int32_t v = 0;
    if (!octal)
        d->i++;
    for (; n < max; n++, d->i++) {
        int h = hex(at(d, 0));
        if (h < 0 || (octal && h > 7))
            break;
        v = v * (octal ? 8 : 16) + h;
        if (v > 0x10ffff)
            break;
    }
    if (n > 0 && v == 0) { /* the string ends here, the word goes on behind its quote */
        while (d->i < d->to && at(d, 0) != '\'')
            d->i += at(d, 0) == '\\' ? 2 : 1;
        return;
    }
    if (n == 0 || v > 0x10ffff || ((octal || kind == 'x') && v > 0x7f)) {
        broken(d, "an escape in $'...' is not understood");
        return;
    }
    char out[4];
    size_t len = text_encode(v, out);
    put_text(d, str_make(out, len), XQ);
}

static void
ansi_string(struct decode *d)
{
    static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    put(d, 0, XM);
    for (d->i += 2; d->i < d->to && at(d, 0) != '\'' && !d->broken;) {
        if (at(d, 0) != '\\') {
            put(d, at(d, 0), XQ);
            d->i++;
            continue;
        }
        d->i++;
        char c = at(d, 0);
        const char *k = c ? strchr(from, c) : NULL;
        if (k) {
            put(d, to[k - from], XQ);
            d->i++;
        } else if (c == 'x' || c == 'u' || c == 'U' || (c >= '0' && c <= '7')) {
            ansi_number(d);
        } else if (c == 'c' && is_letter(at(d, 1))) {
            put(d, (char)(at(d, 1) & 0x1f), XQ);
            d->i += 2;
        } else if (c == 'c' || c == '\0') {
            broken(d, "an escape in $'...' is not understood");
        } else {
            put(d, '\\', XQ); /* bash leaves what it does not know as it is */
            put(d, c, XQ);
            d->i++;
        }
    }
    if (at(d, 0) != '\'')
        broken(d, "a quote does not end");
    d->i++;
}

static void
single_quoted(struct decode *d)
{
    put(d, 0, XM);
    for (d->i++; d->i < d->to && at(d, 0) != '\''; d->i++)
        put(d, at(d, 0), XQ);
    if (at(d, 0) != '\'')
        broken(d, "a quote does not end");
    d->i++;
}

static void
double_quoted(struct decode *d)
{
    put(d, 0, XM);
    for (d->i++; d->i < d->to && at(d, 0) != '"';) {
        char c = at(d, 0), n = at(d, 1);
        if (c == '\\' && n == '\n') {
            d->i += 2;
        } else if (c == '\\' && n && strchr("$`\"\\", n)) {
            put(d, n, XQ);
            d->i += 2;
        } else if (opens(d)) {
            substitution(d, true);
        } else {
            put(d, c, XQ);
            d->i++;
        }
    }
    if (at(d, 0) != '"')
        broken(d, "a quote does not end");
    d->i++;
}

static void
plain(struct decode *d)
{
    char c = at(d, 0);
    bool angle = (c == '<' || c == '>') && at(d, 1) == '(';
    if (angle) {
        substitution(d, false);
        return;
    }
    if (strchr(" \t\n|&;()<>", c)) {
        broken(d, "the parser and the shell split the words in different ways");
        put(d, 0, XU | XS);
    } else {
        put(d, c, 0);
    }
    d->i++;
}

static void
decode(struct decode *d)
{
    if (at(d, 0) == '#' && d->mode == WORD_ARG)
        broken(d, "a comment was read as a word");
    while (d->i < d->to) {
        char c = at(d, 0), n = at(d, 1);
        if (c == '\\' && d->i + 1 < d->to) {
            if (n != '\n')
                put(d, n, XQ);
            d->i += 2;
        } else if (c == '\\') {
            broken(d, "a word ends with a backslash");
            d->i++;
        } else if (c == '\'') {
            single_quoted(d);
        } else if (c == '"') {
            double_quoted(d);
        } else if (c == '$' && n == '\'') {
            ansi_string(d);
        } else if (c == '$' && n == '"') {
            /* A translated string: what it says depends on a catalogue. */
            d->i++;
            double_quoted(d);
            put(d, 0, XU);
        } else if (opens(d)) {
            substitution(d, false);
        } else {
            plain(d);
        }
    }
}

void
word_decode(struct sh *sh, TSNode node, uint32_t from, uint32_t to, enum word_mode mode,
            struct words *out)
{
    struct str src = str_sub(sh->unit->s.text, from, to - from);
    if (!sh_spend(sh, 1 + src.len / 64)) {
        struct word w = word_unknown(src, true);
        words_add(sh, out, &w);
        return;
    }
    struct decode d = {
        .sh = sh, .node = node, .s = sh->unit->s.text, .i = from, .to = to, .mode = mode};
    decode(&d);
    if (d.broken) {
        struct word w = word_unknown(src, mode == WORD_ARG);
        words_add(sh, out, &w);
        return;
    }
    struct xword *list = &d.x;
    size_t n = 1;
    if (d.bare_name && mode == WORD_ARG && memchr(src.ptr, '{', src.len)) {
        struct word w = word_unknown(src, true);
        words_add(sh, out, &w);
        return;
    }
    if (mode == WORD_ARG && !expand_braces(sh, &d.x, &list, &n)) {
        sh_incomplete(sh, "a brace expansion gives too many words");
        struct word w = word_unknown(src, true);
        words_add(sh, out, &w);
        return;
    }
    for (size_t k = 0; k < n; k++)
        expand_finish(sh, &list[k], src, mode, out);
}

void
word_scan_rest(struct sh *sh, TSNode node, uint32_t from, uint32_t to)
{
    struct decode d = {.sh = sh, .node = node, .s = sh->unit->s.text, .i = from, .to = to};
    TSNode n;
    while (d.i < d.to) {
        bool angle = (at(&d, 0) == '<' || at(&d, 0) == '>') && at(&d, 1) == '(';
        if (at(&d, 0) == '\\' && at(&d, 1) != '\0') {
            d.i += 2;
        } else if (!angle && !opens(&d)) {
            d.i++;
        } else if (find_node(sh, node, d.i, &n) && ts_node_end_byte(n) > d.i &&
                   !(ts_node_start_byte(n) == ts_node_start_byte(node) &&
                     ts_node_end_byte(n) == ts_node_end_byte(node))) {
            d.i = ts_node_end_byte(n);
            put_substitution(&d, n, true);
        } else {
            sh_incomplete(sh, "a substitution is not seen by the parser");
            unseen(&d);
        }
    }
}

bool
word_heredoc(struct sh *sh, struct str body)
{
    bool literal = true;
    for (size_t i = 0; i < body.len && sh_spend(sh, 0);) {
        char c = body.ptr[i], n = i + 1 < body.len ? body.ptr[i + 1] : '\0';
        if (c == '\\') {
            literal = false;
            i += 2;
        } else if (c == '`' || (c == '$' && n && strchr("({[", n))) {
            literal = false;
            i += live_substitution(sh, body, i);
        } else if (c == '$' && (is_name_char(n) || (n && strchr("@*#?$!-", n)))) {
            literal = false;
            i += 2;
        } else {
            i++;
        }
    }
    return literal;
}
