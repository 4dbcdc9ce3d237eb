/* [ ], [[ ]], (( )) and arithmetic. Comparing numbers in [[ and any arithmetic evaluate names, and names hold code. */
#include <ctype.h>
#include <string.h>

#include "perm/shell.h"

/* ---- arithmetic ---- */

static bool
var_is_number(struct sh *sh, struct str name)
{
    /* The shell makes their values itself, whatever its environment holds. */
    static const char *const counted[] = {"RANDOM", "SRANDOM", "SECONDS", "LINENO",      "PPID",
                                          "UID",    "EUID",    "BASHPID", "EPOCHSECONDS"};
    const struct var *v = state_get(&sh->st, name);
    int64_t n;
    for (size_t i = 0; !v && i < ARRAY_LEN(counted); i++)
        if (str_is(name, counted[i]))
            return true;
    return v && (v->kind == VAR_NUMBER || (v->kind == VAR_TEXT && arith_value(v->text, &n)));
}

/* A name in an expression: known to hold a number, or given one here. */
static bool
arith_name(struct sh *sh, struct str all, size_t at, size_t len)
{
    struct str name = str_sub(all, at, len);
    size_t i = at + len;
    while (i < all.len && all.ptr[i] == ' ')
        i++;
    bool assigned = i < all.len && all.ptr[i] == '=' && !(i + 1 < all.len && all.ptr[i + 1] == '=');
    if (assigned && !env_plain_name(name))
        return false;
    if (!assigned && !var_is_number(sh, name))
        return false;
    bool changes = assigned;
    for (size_t k = 0; k < all.len; k++)
        changes = changes || all.ptr[k] == '=' ||
                  (k && all.ptr[k] == all.ptr[k - 1] && (all.ptr[k] == '+' || all.ptr[k] == '-'));
    if (changes)
        state_set(sh, name, VAR_NUMBER, str_from(NULL));
    return true;
}

/* A '$' in an expression: its value must be a number. */
static size_t
arith_dollar(struct sh *sh, struct str all, size_t at)
{
    size_t i = at + 1, end;
    bool brace = i < all.len && all.ptr[i] == '{';
    i += brace;
    bool count = brace && i < all.len && all.ptr[i] == '#';
    i += count;
    end = i;
    while (end < all.len && (isalnum((unsigned char)all.ptr[end]) || all.ptr[end] == '_'))
        end++;
    struct str name = str_sub(all, i, end - i);
    if (!brace && end == i && i < all.len && strchr("?#$!", all.ptr[i]))
        return 2;
    if (!is_name(name) || (brace && !(end < all.len && all.ptr[end] == '}')))
        return 0;
    if (!count && !var_is_number(sh, name))
        return 0;
    return end + brace - at;
}

bool
arith_check(struct sh *sh, TSNode node, uint32_t from, uint32_t to)
{
    struct str s = str_sub(sh->unit->s.text, from, to - from);
    bool ok = true;
    for (size_t i = 0; i < s.len && ok;) {
        char c = s.ptr[i];
        size_t n = 1;
        if (isdigit((unsigned char)c)) {
            while (i + n < s.len && isalnum((unsigned char)s.ptr[i + n]))
                n++;
        } else if (isalpha((unsigned char)c) || c == '_') {
            while (i + n < s.len && (isalnum((unsigned char)s.ptr[i + n]) || s.ptr[i + n] == '_'))
                n++;
            ok = arith_name(sh, s, i, n);
        } else if (c == '$') {
            bool runs = i + 1 < s.len && s.ptr[i + 1] == '(' && str_find(s, '(', i + 2) != i + 2;
            n = runs ? word_counted_at(sh, node, from + (uint32_t)i) : arith_dollar(sh, s, i);
            ok = n > 0;
        } else {
            ok = strchr(" \t\n+-*/%()<>=!&|^~?:,;", c) != NULL;
        }
        i += n;
    }
    if (!ok) /* deny still looks at what runs inside */
        word_scan_rest(sh, node, from, to);
    return ok;
}

struct calc {
    struct str s;
    size_t i;
    bool bad;
    int depth;
};

static int64_t calc_sum(struct calc *c);

static char
calc_peek(struct calc *c)
{
    while (c->i < c->s.len && (c->s.ptr[c->i] == ' ' || c->s.ptr[c->i] == '\t'))
        c->i++;
    return c->i < c->s.len ? c->s.ptr[c->i] : '\0';
}

static int64_t
calc_atom(struct calc *c)
{
    char p = calc_peek(c);
    int64_t v = 0;
    if (p == '-' || p == '+' || p == '(') {
        if (++c->depth > 30) {
            c->bad = true;
            return 0;
        }
        c->i++;
        v = p == '(' ? calc_sum(c) : calc_atom(c);
        if (p == '(' && calc_peek(c) != ')')
            c->bad = true;
        c->i += p == '(';
        c->depth--;
        if (p == '-' && __builtin_sub_overflow((int64_t)0, v, &v))
            c->bad = true;
        return v;
    }
    if (!isdigit((unsigned char)p) ||
        (p == '0' && c->i + 1 < c->s.len && isalnum((unsigned char)c->s.ptr[c->i + 1]))) {
        c->bad = true;
        return 0;
    }
    while (c->i < c->s.len && isdigit((unsigned char)c->s.ptr[c->i]) && v < 1000000000)
        v = v * 10 + (c->s.ptr[c->i++] - '0');
    if (c->i < c->s.len && isalnum((unsigned char)c->s.ptr[c->i]))
        c->bad = true;
    return v;
}

static int64_t
calc_product(struct calc *c)
{
    int64_t v = calc_atom(c);
    for (char p = calc_peek(c); !c->bad && (p == '*' || p == '/' || p == '%'); p = calc_peek(c)) {
        c->i++;
        int64_t w = calc_atom(c);
        if (c->bad || (p != '*' && (w == 0 || w == -1)) ||
            (p == '*' && __builtin_mul_overflow(v, w, &v))) {
            c->bad = true;
            return 0;
        }
        v = p == '*' ? v : p == '/' ? v / w : v % w;
    }
    return v;
}

static int64_t
calc_sum(struct calc *c)
{
    int64_t v = calc_product(c);
    for (char p = calc_peek(c); !c->bad && (p == '+' || p == '-'); p = calc_peek(c)) {
        c->i++;
        int64_t w = calc_product(c);
        if (p == '+' ? __builtin_add_overflow(v, w, &v) : __builtin_sub_overflow(v, w, &v)) {
            c->bad = true;
            return 0;
        }
    }
    return v;
}

bool
arith_value(struct str s, int64_t *ret)
{
    struct calc c = {.s = s};
    *ret = calc_sum(&c);
    return !c.bad && calc_peek(&c) == '\0' && c.i >= s.len && s.len > 0;
}

void
walk_arithmetic(struct sh *sh, TSNode node, uint32_t from, uint32_t to)
{
    if (!arith_check(sh, node, from, to))
        sh_incomplete(sh, "arithmetic with names can run code");
    sh_settle(sh);
}

/* ---- tests ---- */

struct piece {
    uint32_t from, to;
};

/* The next word of a test at *i, by the shell's own rules: quotes hold together, blanks part. */
static bool
next_piece(const struct sh *sh, TSNode node, uint32_t *i, uint32_t end, struct piece *p)
{
    const char *t = sh->unit->s.text.ptr;
    while (*i < end && strchr(" \t\n", t[*i]))
        (*i)++;
    if (*i >= end)
        return false;
    p->from = *i;
    while (*i < end && !strchr(" \t\n", t[*i])) {
        char q = t[*i];
        TSNode n = {0};
        if (q == '\\') {
            *i += 2;
            continue;
        }
        if (q == '\'') {
            for ((*i)++; *i < end && t[*i] != '\'';)
                (*i)++;
            (*i)++;
            continue;
        }
        if (q == '"' || q == '$' || q == '`')
            n = ts_node_descendant_for_byte_range(node, *i, *i + 1);
        while (!ts_node_is_null(n) && !ts_node_is_named(n) && !ts_node_eq(n, node))
            n = ts_node_parent(n);
        bool whole = !ts_node_is_null(n) && !ts_node_eq(n, node) && ts_node_start_byte(n) == *i &&
                     ts_node_end_byte(n) > *i;
        *i = whole ? ts_node_end_byte(n) : *i + 1;
    }
    if (*i > end)
        *i = end;
    p->to = *i;
    return true;
}

static bool
one_of(struct str s, const char *const *list)
{
    for (; *list; list++)
        if (str_is(s, *list))
            return true;
    return false;
}

/* In [[: operators that stand bare between words. */
static bool
is_operator(struct str raw)
{
    static const char *const ops[] = {"(", ")",  "&&", "||", "<",  ">",
                                      "!", "=~", "==", "=",  "!=", NULL};
    return one_of(raw, ops);
}

static bool
number_word(const struct word *w)
{
    int64_t v;
    return w->numeric || (w->w.known && arith_value(w->w.text, &v));
}

/* [[: numeric comparison evaluates both sides, -v and -R a name. */
static void
check_double(struct sh *sh, const struct words *ws)
{
    static const char *const numeric[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge", NULL};
    static const char *const names[] = {"-v", "-R", NULL};
    for (size_t i = 1; i + 1 < ws->n; i++) {
        const struct word *w = &ws->v[i];
        if (w->quoted)
            continue;
        if (one_of(w->src, numeric) && !(number_word(&ws->v[i - 1]) && number_word(&ws->v[i + 1])))
            sh_incomplete(sh, "a numeric comparison in [[ evaluates its operands");
        if (one_of(w->src, names) && !(ws->v[i + 1].w.known && is_name(ws->v[i + 1].w.text)))
            sh_incomplete(sh, "a test evaluates a name");
    }
}

static void
add_test_word(struct sh *sh, TSNode node, struct piece p, bool dbl, bool regex, struct words *ws)
{
    struct str raw = str_sub(sh->unit->s.text, p.from, p.to - p.from);
    if (dbl && (is_operator(raw) || regex)) {
        struct word w = word_literal(sh, raw);
        if (regex)
            word_scan_rest(sh, node, p.from, p.to);
        words_add(sh, ws, &w);
        return;
    }
    word_decode(sh, node, p.from, p.to, dbl ? WORD_TEXT : WORD_ARG, ws);
}

void
walk_test(struct sh *sh, TSNode node, const struct redirs *rd)
{
    struct str t = node_text(sh, node);
    bool dbl = str_starts(t, "[["), regex = false;
    uint32_t open = dbl ? 2 : 1, i = ts_node_start_byte(node) + open;
    uint32_t end = ts_node_end_byte(node) - open;
    struct words ws = {0};
    struct word name = word_literal(sh, dbl ? STR("[[") : STR("["));
    struct word close = word_literal(sh, dbl ? STR("]]") : STR("]"));
    struct piece p;
    if (t.len < 2 * open || ts_node_has_error(node) || (!dbl && memchr(t.ptr, '\n', t.len)))
        sh_incomplete(sh, "a test is not understood");
    words_add(sh, &ws, &name);
    while (t.len >= 2 * open && sh_spend(sh, 1) && next_piece(sh, node, &i, end, &p)) {
        add_test_word(sh, node, p, dbl, regex, &ws);
        regex = dbl && str_is(str_sub(sh->unit->s.text, p.from, p.to - p.from), "=~");
    }
    words_add(sh, &ws, &close);
    if (dbl)
        check_double(sh, &ws);
    struct command c = {.argv = ws.v, .n = ws.n, .source = t, .redirs = rd};
    leaf_command(sh, &c);
}
