/* What bash does to a decoded word: brace expansion, tilde, globs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "perm/shell.h"

struct braces {
    struct sh *sh;
    struct xword *out;
    size_t n, cap;
    size_t work;
    bool full;
};

static void
emit(struct braces *b, const struct xword *x)
{
    if (b->n >= SH_MAX_BRACES) {
        b->full = true;
        return;
    }
    if (b->n == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 4;
        struct xword *v = arena_alloc(b->sh->a, cap * sizeof *v);
        if (b->n)
            memcpy(v, b->out, b->n * sizeof *v);
        b->out = v;
        b->cap = cap;
    }
    b->out[b->n++] = *x;
}

static bool
bare(const struct xword *x, size_t i, char c)
{
    return x->v[i].f == 0 && x->v[i].c == c;
}

/* The '}' that closes the '{' at open; *ret_comma: a comma stands between at this level. 0: none. */
static size_t
close_brace(const struct xword *x, size_t open, bool *ret_comma)
{
    int depth = 0;
    *ret_comma = false;
    for (size_t i = open; i < x->n; i++) {
        if (bare(x, i, '{'))
            depth++;
        else if (bare(x, i, '}') && --depth == 0)
            return i;
        else if (depth == 1 && bare(x, i, ','))
            *ret_comma = true;
    }
    return 0;
}

static void
add_range(struct sh *sh, struct xword *to, const struct xword *from, size_t a, size_t b)
{
    for (size_t i = a; i < b; i++)
        xword_add(sh, to, from->v[i].c, from->v[i].f);
}

/* {1..5}, {a..e}, {01..10..2}: the parts, or false. */
struct seq {
    long from, to, step;
    int width;
    bool letters;
};

static bool
seq_number(const char **p, long *ret, int *width)
{
    char *end;
    const char *digits = *p + (**p == '-' || **p == '+');
    if (!isdigit((unsigned char)*digits))
        return false;
    *ret = strtol(*p, &end, 10);
    if (labs(*ret) > 1000000)
        return false;
    if (*digits == '0' && end - *p > 1 && (int)(end - *p) > *width)
        *width = (int)(end - *p);
    *p = end;
    return true;
}

static bool
seq_parse(const struct xword *x, size_t open, size_t close, struct seq *s)
{
    char t[64];
    size_t n = close - open - 1;
    if (n == 0 || n >= sizeof t)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (x->v[open + 1 + i].f)
            return false;
        t[i] = x->v[open + 1 + i].c;
    }
    t[n] = '\0';
    *s = (struct seq){.step = 1};
    const char *p = t;
    if (isalpha((unsigned char)t[0]) && t[1] == '.' && t[2] == '.' &&
        isalpha((unsigned char)t[3])) {
        s->letters = true;
        s->from = t[0];
        s->to = t[3];
        p = t + 4;
    } else {
        if (!seq_number(&p, &s->from, &s->width) || strncmp(p, "..", 2) != 0)
            return false;
        p += 2;
        if (!seq_number(&p, &s->to, &s->width))
            return false;
    }
    int ignored = 0;
    if (strncmp(p, "..", 2) == 0) {
        p += 2;
        if (!seq_number(&p, &s->step, &ignored))
            return false;
    }
    s->step = labs(s->step) ? labs(s->step) : 1;
    return *p == '\0';
}

static void expand_from(struct braces *b, const struct xword *x, size_t from);

static void
expand_seq(struct braces *b, const struct xword *x, size_t open, size_t close, const struct seq *s)
{
    long step = s->from <= s->to ? s->step : -s->step;
    for (long v = s->from; step > 0 ? v <= s->to : v >= s->to; v += step) {
        if (b->full || ++b->work > 4 * SH_MAX_BRACES) {
            b->full = true;
            return;
        }
        struct xword y = {0};
        add_range(b->sh, &y, x, 0, open);
        if (s->letters) {
            xword_add(b->sh, &y, (char)v, XQ);
        } else {
            const char *t = arena_printf(b->sh->a, "%0*ld", s->width, v);
            for (; *t; t++)
                xword_add(b->sh, &y, *t, XQ);
        }
        size_t next = y.n;
        add_range(b->sh, &y, x, close + 1, x->n);
        expand_from(b, &y, next);
    }
}

static void
expand_list(struct braces *b, const struct xword *x, size_t open, size_t close)
{
    int depth = 0;
    size_t start = open + 1;
    for (size_t i = open; i <= close && !b->full; i++) {
        if (bare(x, i, '{'))
            depth++;
        bool end = bare(x, i, '}') && --depth == 0;
        if (!end && !(depth == 1 && bare(x, i, ',')))
            continue;
        struct xword y = {0};
        add_range(b->sh, &y, x, 0, open);
        add_range(b->sh, &y, x, start, i);
        add_range(b->sh, &y, x, close + 1, x->n);
        if (++b->work > 4 * SH_MAX_BRACES)
            b->full = true;
        else
            expand_from(b, &y, open);
        start = i + 1;
    }
}

/* Everything before `from` is done. Recursion is bounded by the work counter. */
static void
expand_from(struct braces *b, const struct xword *x, size_t from)
{
    for (size_t i = from; i < x->n; i++) {
        if (!bare(x, i, '{'))
            continue;
        bool comma;
        struct seq s;
        size_t close = close_brace(x, i, &comma);
        if (close && comma) {
            expand_list(b, x, i, close);
            return;
        }
        if (close && seq_parse(x, i, close, &s)) {
            /* Between 'Z' and 'a' lie characters that the shell then reads anew. */
            if (s.letters && (s.from >= 'a') != (s.to >= 'a'))
                b->full = true;
            expand_seq(b, x, i, close, &s);
            return;
        }
    }
    emit(b, x);
}

bool
expand_braces(struct sh *sh, const struct xword *x, struct xword **ret, size_t *ret_n)
{
    size_t opens = 0;
    for (size_t i = 0; i < x->n; i++)
        opens += bare(x, i, '{');
    if (opens > 32)
        return false;
    if (!opens)
        return true;
    struct braces b = {.sh = sh};
    expand_from(&b, x, 0);
    *ret = b.out;
    *ret_n = b.n;
    return !b.full && sh_spend(sh, b.work);
}

/* ~ and ~/x become the home; ~user and ~- cannot be known; *ret is what is appended instead. */
static bool
tilde(struct sh *sh, const struct xword *x, size_t i, bool colons, size_t *ret_len, struct str *ret)
{
    size_t j = i + 1;
    while (j < x->n && x->v[j].f == 0 && x->v[j].c != '/' && !(colons && x->v[j].c == ':'))
        j++;
    for (size_t k = i; k < j; k++)
        if (x->v[k].c == ':')
            return *ret_len = 0, false; /* bash has its own ideas of "~:~" */
    if (j < x->n && (x->v[j].f & (uint8_t)~XU)) {
        *ret_len = 0; /* quoted: no tilde */
        return true;
    }
    *ret_len = j - i;
    const struct var *home = state_get(&sh->st, STR("HOME"));
    if (j == i + 1 && home && home->kind == VAR_TEXT)
        *ret = home->text;
    else if (j == i + 1 && !home && sh->env->home && !sh->st.vars_lost)
        *ret = str_from(sh->env->home);
    else if (j == i + 2 && x->v[i + 1].c == '+' && sh->st.cwd.n == 1 && !sh->st.vars_lost &&
             !state_get(&sh->st, STR("PWD")))
        *ret = str_from(sh->st.cwd.dir[0]);
    else
        return false;
    return true;
}

/* "name=": bash expands tildes behind it in any word; the index of the '=', or SIZE_MAX. */
static size_t
assignment_sign(const struct xword *x)
{
    for (size_t i = 0; i < x->n && x->v[i].f == 0; i++) {
        char c = x->v[i].c;
        bool letter = isalpha((unsigned char)c) || c == '_';
        if (c == '=' && i > 0)
            return i;
        if (!letter && !(i > 0 && isdigit((unsigned char)c)))
            break;
    }
    return SIZE_MAX;
}

static void
expand_tilde(struct sh *sh, struct xword *x, enum word_mode mode, bool braces)
{
    size_t sign = mode == WORD_ARG ? assignment_sign(x) : SIZE_MAX;
    struct xword y = {0};
    bool first = true;
    for (size_t i = 0; i < x->n;) {
        struct str home;
        size_t len = 0;
        bool here = first && bare(x, i, '~');
        /* "~{0..1}" may become the name of a user or a place of the folder stack. */
        bool named = x->n > 1 && !(x->v[1].f == 0 && x->v[1].c == '/');
        if (here && braces && (i > 0 || named)) {
            /* The brace expansion came first, and then bash leaves this tilde alone: or not. */
            xword_add(sh, &y, 0, XU);
            first = false;
            i++;
            continue;
        }
        bool value = mode == WORD_ASSIGN || (sign != SIZE_MAX && i > sign);
        first = i == sign || (value && bare(x, i, ':'));
        if (!here) {
            xword_add(sh, &y, x->v[i].c, x->v[i].f);
            i++;
        } else if (!tilde(sh, x, i, value, &len, &home)) {
            xword_add(sh, &y, 0, XU);
            i += len ? len : 1;
        } else if (len == 0) {
            xword_add(sh, &y, '~', XQ);
            i++;
        } else {
            for (size_t k = 0; k < home.len; k++)
                xword_add(sh, &y, home.ptr[k], XQ);
            i += len;
        }
    }
    *x = y;
}

/* A '[' is one only before the last ']'. */
static bool
globs(const struct xword *x, size_t i, size_t last_bracket)
{
    const struct xchar *c = &x->v[i];
    if (c->f != 0 && c->f != XV)
        return false;
    return c->c == '*' || c->c == '?' || (c->c == '[' && i < last_bracket);
}

/* Where the last ']' stands, or 0. */
static size_t
bracket_end(const struct xword *x)
{
    size_t i = x->n;
    while (i > 0 && x->v[i - 1].c != ']')
        i--;
    return i > 0 ? i - 1 : 0;
}

/* The text: of a pattern the quoted specials get a backslash. */
static struct str
plain_text(struct sh *sh, const struct xword *x, size_t n, bool pattern)
{
    char *t = arena_alloc(sh->a, 2 * n + 1);
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (x->v[i].f & (XM | XU))
            continue;
        if (pattern && (x->v[i].f & XQ) && strchr("*?[]\\", x->v[i].c))
            t[len++] = '\\';
        t[len++] = x->v[i].c;
    }
    return str_make(t, len);
}

/* "${n}p", "$a,${b}d": numbers that are not known, with a 1 in the place of each, and beside them only what makes addresses of them.
 * Empty: something else. */
static struct str
counted_text(struct sh *sh, const struct xword *x)
{
    struct xword y = {0};
    for (size_t i = 0; i < x->n; i++) {
        bool number = (x->v[i].f & XN) || (x->v[i].f & XM);
        if ((x->v[i].f & XU) ? !number : !number && !strchr("0123456789,$pdq=!;+~ {}", x->v[i].c))
            return str_from(NULL);
        xword_add(sh, &y, x->v[i].f & XU ? '1' : x->v[i].c, x->v[i].f & XU ? XQ : x->v[i].f);
    }
    return plain_text(sh, &y, y.n, false);
}

void
expand_finish(struct sh *sh, struct xword *x, struct str src, enum word_mode mode,
              struct words *out)
{
    bool has_tilde = false;
    for (size_t i = 0; i < x->n; i++)
        has_tilde = has_tilde || bare(x, i, '~');
    if (has_tilde)
        expand_tilde(sh, x, mode, memchr(src.ptr, '{', src.len) != NULL);
    struct word w = {.src = src};
    size_t known_to = x->n, last_bracket = bracket_end(x);
    bool glob = false, number = true, token = x->n > 0, text = false;
    for (size_t i = 0; i < x->n; i++) {
        uint8_t f = x->v[i].f;
        if ((f & XU) && known_to == x->n)
            known_to = i;
        w.split = w.split || (f & XS);
        token = token && (!(f & XU) || (f & XT));
        text = text || !(f & (XU | XM));
        w.procsub = w.procsub || (f & XP);
        w.quoted = w.quoted || (f & (XM | XQ));
        glob = glob || (mode == WORD_ARG && globs(x, i, last_bracket));
        number =
            number && ((f & XN) || (f & XM) || (!(f & XU) && x->v[i].c >= '0' && x->v[i].c <= '9'));
    }
    if (x->n == 0 && mode == WORD_ARG && src.len)
        return; /* an unquoted empty value leaves no word */
    w.w.known = known_to == x->n;
    if (glob && state_get(&sh->st, STR("GLOBIGNORE")))
        w.w.known = false; /* it also decides whether hidden files are matched */
    w.prefix = plain_text(sh, x, known_to, false);
    w.token = !w.w.known && token && !glob && !(w.prefix.len && w.prefix.ptr[0] == '-');
    w.pure = w.token && !text;
    if (w.token && text)
        w.split = false; /* what stands beside it keeps it one word */
    w.numeric = !w.w.known && number && !w.split;
    w.w.glob = glob && w.w.known;
    w.w.text = w.w.known ? plain_text(sh, x, x->n, glob) : src;
    if (!w.w.known && !glob && !w.split)
        w.counted = counted_text(sh, x);
    if (!w.w.known)
        found_word(sh, x, mode != WORD_ARG, &w);
    words_add(sh, out, &w);
}
