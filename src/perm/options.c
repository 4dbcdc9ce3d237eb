/*
 * Reads the options of a program by its table. An option that the table does not list, or that cannot be known before running,
 * makes the reading `unknown`; nothing is ever assumed harmless.
 */
#include <dirent.h>
#include <string.h>

#include "perm/looks.h"
#include "perm/shell.h"

struct reader {
    struct sh *sh;
    size_t leaf;
    const struct command *c;
    const struct optspec *spec;
    struct options *o;
    size_t i;
};

static void
take_value(struct reader *r, char letter, char kind, const struct word *v)
{
    if (letter > 0)
        r->o->value[(unsigned char)letter & 127] = v;
    switch (kind) {
    case '<':
        effect_add(r->sh, r->leaf, EFFECT_READ, v);
        break;
    case '@': {
        struct word any = word_unknown(v->src, true);
        r->o->bad = true;
        effect_add(r->sh, r->leaf, EFFECT_READ, v);
        effect_add(r->sh, r->leaf, EFFECT_READ, &any);
        break;
    }
    case '~':
        r->o->pattern = true;
        if (!(v->w.known && str_is(v->w.text, "-")))
            effect_add(r->sh, r->leaf, EFFECT_READ, v);
        break;
    case '>':
        r->o->writes = true;
        effect_add(r->sh, r->leaf, EFFECT_WRITE, v);
        break;
    case '|':
        r->o->pattern = true;
        if (r->o->n_patterns < ARRAY_LEN(r->o->patterns))
            r->o->patterns[r->o->n_patterns++] = v;
        else
            r->o->unknown = true;
        break;
    case '+':
        r->o->bad = true;
        break;
    default:
        break;
    }
}

static bool
wants_value(char kind)
{
    return kind && strchr(":<>|~+@", kind);
}

/* A word for a part of another: "-ofile", "--output=file". */
static const struct word *
attached(struct reader *r, const struct word *w, size_t from)
{
    struct word *v = arena_alloc(r->sh->a, sizeof *v);
    *v = *w;
    if (w->w.known)
        v->w.text = str_sub(w->w.text, from, w->w.text.len);
    else
        v->prefix = str_sub(w->prefix, from, w->prefix.len);
    v->w.glob = false;
    return v;
}

/* The next word as the value of an option; NULL: there is none. */
static const struct word *
next_word(struct reader *r)
{
    if (r->i + 1 >= r->c->n) {
        r->o->unknown = true;
        return NULL;
    }
    const struct word *v = &r->c->argv[++r->i];
    if (v->split || v->w.glob)
        r->o->unknown = r->o->uncounted = true;
    return v;
}

static void
seen(struct reader *r, char letter, char kind)
{
    if (letter > 0)
        r->o->seen[(unsigned char)letter & 127] = true;
    if (kind == '!')
        r->o->bad = true;
    if (kind == '|' || kind == '~')
        r->o->pattern = true;
}

/* One entry of `longs` that starts at p: its name, its letter and its kind. */
static const char *
long_entry(const char *p, struct str *name, char *letter, char *kind)
{
    while (*p == ' ')
        p++;
    const char *start = p;
    while (*p && *p != ' ' && *p != '=' && *p != '/' && *p != '!')
        p++;
    *name = str_make(start, (size_t)(p - start));
    *letter = *kind = '\0';
    if (*p == '/') {
        *letter = p[1];
        p += 2;
    }
    if (*p == '=') {
        p++;
        *kind = *p && *p != ' ' ? *p++ : ':';
    } else if (*p == '!') {
        *kind = '!';
        p++;
    }
    return p;
}

/* Exact names first, then an abbreviation that only one entry has. */
static bool
find_long(const struct optspec *spec, struct str name, char *letter, char *kind)
{
    size_t hits = 0;
    for (const char *p = spec->longs ? spec->longs : ""; *p;) {
        struct str n;
        char l, k;
        p = long_entry(p, &n, &l, &k);
        if (n.len == 0)
            break;
        bool exact = str_eq(n, name);
        if (exact || (!spec->exact && name.len < n.len && memcmp(n.ptr, name.ptr, name.len) == 0)) {
            *letter = l;
            *kind = k;
            if (exact)
                return true;
            hits++;
        }
    }
    return hits == 1;
}

static void
long_option(struct reader *r, const struct word *w)
{
    struct str t = w->w.known ? w->w.text : w->prefix;
    size_t eq = str_find(t, '=', 0);
    struct str name = str_sub(t, 2, (eq == (size_t)-1 ? t.len : eq) - 2);
    char letter = '\0', kind = '\0';
    if ((!w->w.known && eq == (size_t)-1) || w->split ||
        !find_long(r->spec, name, &letter, &kind)) {
        r->o->unknown = true;
        return;
    }
    seen(r, letter, kind);
    r->o->long_seen = r->o->long_seen || letter == '\0';
    if (eq != (size_t)-1) {
        if (!kind || kind == '!')
            r->o->unknown = true;
        take_value(r, letter, kind, attached(r, w, eq + 1));
    } else if (wants_value(kind)) {
        const struct word *v = next_word(r);
        if (v)
            take_value(r, letter, kind, v);
    }
}

static bool
find_short(const struct optspec *spec, char c, char *kind)
{
    static const char kinds[] = ":<>?|~!+@";
    if (!spec->shorts || strchr(kinds, c))
        return false;
    const char *p = strchr(spec->shorts, c);
    if (!p)
        return false;
    *kind = p[1] && strchr(kinds, p[1]) ? p[1] : '\0';
    return true;
}

/* "-abc": letters until one takes the rest as its value. */
static void
short_options(struct reader *r, const struct word *w)
{
    struct str t = w->w.known ? w->w.text : w->prefix;
    for (size_t k = 1; k < t.len; k++) {
        char kind = '\0', c = t.ptr[k];
        if (r->spec->numbers && c >= '0' && c <= '9')
            continue;
        if (!find_short(r->spec, c, &kind)) {
            r->o->unknown = true;
            return;
        }
        seen(r, c, kind);
        bool rest = k + 1 < t.len || !w->w.known;
        if (kind == '?' || (wants_value(kind) && rest)) {
            if (rest)
                take_value(r, c, kind, attached(r, w, k + 1));
            if (w->split)
                r->o->unknown = true;
            return;
        }
        if (wants_value(kind)) {
            const struct word *v = next_word(r);
            if (v)
                take_value(r, c, kind, v);
            return;
        }
    }
    if (!w->w.known)
        r->o->unknown = true; /* "-$x" */
}

static void
operand(struct reader *r)
{
    r->o->operands[r->o->n_operands++] = r->i;
}

enum { MAX_ENTRIES = 4096 };

/* Some file in the folder has a name that begins so, or there are too many to say. */
static bool
has_file_like(const char *dir, char first)
{
    DIR *d = opendir(dir);
    if (!d)
        return false;
    bool found = false;
    size_t n = 0;
    for (struct dirent *e = readdir(d); e && !found; e = readdir(d))
        found = e->d_name[0] == first || ++n > MAX_ENTRIES || !may_walk(LOOK_NAME);
    closedir(d);
    return found;
}

/* An earlier part of this command line makes one. */
static bool
makes_file_like(struct sh *sh, char first)
{
    for (size_t i = 0; i < sh->ret->n_leaves; i++)
        for (size_t k = 0; k < sh->ret->leaves[i].n_effects; k++) {
            const struct perm_effect *e = &sh->ret->leaves[i].effects[k];
            const char *base = e->path ? strrchr(e->path, '/') : NULL;
            if (e->kind == EFFECT_WRITE && (!base || base[1] == first || e->glob))
                return true;
        }
    return false;
}

/* A pattern may match a file whose name begins so. */
static bool
glob_may_begin(struct sh *sh, const struct word *w, char first)
{
    struct str t = w->w.text;
    if (!w->w.glob || t.len == 0 || !strchr("*?[", t.ptr[0]))
        return false;
    const struct cwdset *cwd = &sh->st.cwd;
    bool found = cwd->unknown || cwd->n == 0 || makes_file_like(sh, first);
    for (size_t i = 0; i < cwd->n && !found; i++)
        found = has_file_like(cwd->dir[i], first);
    return found;
}

bool
word_may_begin(struct sh *sh, const struct word *w, char first)
{
    struct str t = w->w.known ? w->w.text : w->prefix;
    if (w->below.len) /* a name with its folder in front, or that was seen to be no option */
        return first != '-' && w->found && w->found->n.bare && !t.len;
    if (t.len && t.ptr[0] == first)
        return true;
    if (w->w.known)
        return glob_may_begin(sh, w, first);
    if (w->token && first == '-')
        return false;
    return (t.len == 0 && !w->procsub && !w->numeric) || w->split;
}

/* A word that may or may not be an option. */
static bool
unknown_option(struct reader *r, const struct word *w)
{
    if (w->w.known)
        return glob_may_begin(r->sh, w, '-');
    return !w->below.len && !w->token && !w->counted.len &&
           ((w->prefix.len == 0 && !w->procsub && !w->numeric) || w->split);
}

static void
end_options(struct reader *r, bool *ended)
{
    *ended = r->o->ended = true;
    r->o->n_before_end = r->o->n_operands;
}

static void
one_word(struct reader *r, bool *ended)
{
    const struct word *w = &r->c->argv[r->i];
    struct str t = w->w.known ? w->w.text : w->prefix;
    bool dash = t.len > 1 && t.ptr[0] == '-';
    if (w->split || w->w.glob)
        r->o->uncounted = true;
    if (!*ended && !r->spec->single && !r->spec->safe_all && unknown_option(r, w))
        r->o->unknown = true;
    if (*ended || r->spec->single)
        operand(r);
    else if (w->w.known && str_is(t, "--"))
        end_options(r, ended);
    else if (dash && t.ptr[1] == '-' && t.len > 2)
        long_option(r, w);
    else if (dash)
        short_options(r, w);
    else if (r->spec->plus && t.len > 1 && t.ptr[0] == '+')
        return;
    else {
        operand(r);
        *ended = r->spec->posix;
    }
}

void
options_parse(struct sh *sh, size_t leaf, const struct command *c, size_t from,
              const struct optspec *spec, struct options *ret)
{
    *ret = (struct options){.operands = arena_alloc(sh->a, (c->n + 1) * sizeof(size_t))};
    struct reader r = {.sh = sh, .leaf = leaf, .c = c, .spec = spec, .o = ret, .i = from};
    bool ended = false;
    ret->n_before_end = SIZE_MAX;
    for (; r.i < c->n; r.i++)
        one_word(&r, &ended);
    if (ret->n_before_end == SIZE_MAX)
        ret->n_before_end = ret->n_operands;
}
