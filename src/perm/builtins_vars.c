/* Builtins that set variables: an operand that is no plain name is evaluated as code. */
#include <string.h>

#include "perm/builtins.h"

/* A variable that a builtin sets. */
static void
sets_name(struct sh *sh, size_t leaf, const struct word *w)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    if (!w->w.known || w->w.glob || !is_name(w->w.text)) {
        effect_unknown(sh, leaf, "a name operand evaluates code");
        l->cls = CLASS_DANGER;
        state_lose_shell(sh);
        return;
    }
    if (!env_plain_name(w->w.text)) {
        l->bad_env = true;
        l->bad_env_name = arena_dup(sh->a, w->w.text.ptr, w->w.text.len);
    }
    state_set(sh, w->w.text, VAR_UNKNOWN, str_from(NULL));
}

static bool
sets_value(const struct word *w)
{
    return !w->w.known || str_find(w->w.text, '=', 0) != (size_t)-1;
}

/* ---- declare, typeset, local, export, readonly ---- */

struct declares {
    struct sh *sh;
    size_t leaf;
    const struct command *c;
    bool exported, freezes; /* -x and -r, or the builtin's name */
};

/* Attributes change what later assignments mean; those of functions and "export -n" alone do not. */
static void
attribute(struct sh *sh, const struct command *c)
{
    if (arg_is(c, 0, "export") && !arg_is(c, 1, "-f"))
        return;
    state_lose_vars(sh);
    sh->attrs_seen = true;
}

/* Letters that only mark or print are fine. -n makes a reference, -i and those that are not known evaluate. */
static void
declare_option(struct declares *d, struct str s)
{
    struct perm_leaf *l = leaf_at(d->sh, d->leaf);
    for (size_t k = 1; k < s.len; k++) {
        if (strchr("inulc", s.ptr[k]) || !strchr("rxagAfFpt-", s.ptr[k]))
            attribute(d->sh, d->c);
        if (strchr("rxagAfFptul-", s.ptr[k]))
            continue;
        effect_unknown(d->sh, d->leaf, "an attribute evaluates the value");
        l->cls = d->exported && s.ptr[k] == 'n' ? CLASS_KNOWN : CLASS_DANGER;
    }
    d->exported = d->exported || memchr(s.ptr, 'x', s.len);
    d->freezes = d->freezes || memchr(s.ptr, 'r', s.len);
    d->sh->frozen_seen = d->sh->frozen_seen || d->freezes;
}

static void
declare_evaluates(struct declares *d, const char *why)
{
    effect_unknown(d->sh, d->leaf, why);
    leaf_at(d->sh, d->leaf)->cls = CLASS_DANGER;
}

/* The name of "name" or "name=value"; of an unknown word what its source says. */
static struct str
declared_name(const struct word *w)
{
    struct str s = w->w.known ? w->w.text : w->src;
    size_t eq = str_find(s, '=', 0);
    return str_sub(s, 0, eq == (size_t)-1 ? s.len : eq);
}

/* Setting a variable that is readonly fails, and what then holds is not known. */
static void
declare_frozen(struct declares *d, const struct word *w, struct str name)
{
    struct sh *sh = d->sh;
    sh->frozen_seen = sh->frozen_seen || d->freezes;
    for (size_t k = 0; k < sh->n_frozen && sets_value(w); k++)
        if (d->freezes && str_eq(sh->frozen[k], name))
            sh_incomplete(sh, "sets a variable that cannot be set");
    if (d->freezes && sh->n_frozen < ARRAY_LEN(sh->frozen))
        sh->frozen[sh->n_frozen++] = name;
}

static void
declare_operand(struct declares *d, const struct word *w)
{
    struct sh *sh = d->sh;
    struct perm_leaf *l = leaf_at(sh, d->leaf);
    struct str name = declared_name(w);
    bool sets = sets_value(w);
    bool hides_name = !w->w.known && str_find(w->prefix, '=', 0) == (size_t)-1;
    if (w->split || ((w->w.known || hides_name) && !is_name(name))) {
        declare_evaluates(d, "a name operand evaluates code");
        state_lose_shell(sh);
    }
    struct word v = *w;
    v.w.text = str_sub(w->w.text, sets && w->w.known ? name.len + 1 : 0, w->w.text.len);
    if (w->w.known && sets && str_starts(v.w.text, "("))
        declare_evaluates(d, "an array in a word is evaluated");
    bool safe = env_name_safe(name) && (!sets || env_value_safe(name, &v));
    if (!safe && (d->exported || !env_plain_name(name))) {
        l->bad_env = true;
        l->bad_env_name = arena_dup(sh->a, name.ptr, name.len);
    }
    if (is_name(name) && !d->exported && !arg_is(d->c, 0, "readonly"))
        func_local(sh, name);
    declare_frozen(d, w, name);
    /* The walk has set what it saw as assignments; a bare name may be a new variable of a function. */
    if (!w->assign && is_name(name) && (sets || !d->exported))
        state_set(sh, name, VAR_UNKNOWN, str_from(NULL));
}

void
builtin_declare(struct sh *sh, size_t leaf, const struct command *c)
{
    struct declares d = {.sh = sh,
                         .leaf = leaf,
                         .c = c,
                         .exported = arg_is(c, 0, "export"),
                         .freezes = arg_is(c, 0, "readonly")};
    bool operands = false;
    set_class(sh, leaf, CLASS_READER);
    for (size_t i = 1; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        bool option = w->w.known && w->w.text.len > 1 && is_option(w);
        operands = operands || !option;
        if (operands)
            declare_operand(&d, w);
        else
            declare_option(&d, w->w.text);
    }
}

/* ---- the others ---- */

void
builtin_unset(struct sh *sh, size_t leaf, const struct command *c)
{
    set_class(sh, leaf, CLASS_READER);
    for (size_t i = 1; i < c->n; i++) {
        if (arg_is(c, i, "-v") || arg_is(c, i, "-f") || arg_is(c, i, "--"))
            continue;
        sets_name(sh, leaf, &c->argv[i]);
    }
}

static void
set_names(struct sh *sh, size_t leaf, const struct command *c, const struct options *o)
{
    for (size_t i = 0; i < o->n_operands; i++)
        sets_name(sh, leaf, &c->argv[o->operands[i]]);
    if (o->seen['a'] && o->value['a'])
        sets_name(sh, leaf, o->value['a']);
}

/* "read -r f" of what a pipe feeds to its loop: f is one of those names as it is. */
static bool
reads_name(const struct sh *sh, const struct command *c, const struct options *o)
{
    const struct word *end = o->value['d'];
    for (size_t i = 0; i < ARRAY_LEN(o->seen); i++)
        if (o->seen[i] && !strchr("rd", (int)i))
            return false;
    bool whole = c->n_assigns == 0 ||
                 (c->n_assigns == 1 && c->assigns[0].value.known && !c->assigns[0].value.text.len);
    bool nul = end && end->w.known && !end->w.text.len;
    return sh->feed && !sh->ifs_seen && !o->unknown && whole && c->n_around == 0 && !c->doc &&
           !c->herestring && !c->stdin_file && c->n_rv == 0 && o->n_operands == 1 &&
           is_name(c->argv[o->operands[0]].w.text) && (end ? nul : true) && sh->feed->n.nul == nul;
}

void
builtin_read(struct sh *sh, size_t leaf, const struct command *c)
{
    static const struct optspec spec = {.shorts = "rsp:t:n:N:d:u:a:", .posix = true, .exact = true};
    struct options o;
    set_class(sh, leaf, CLASS_READER);
    options_parse(sh, leaf, c, 1, &spec, &o);
    if (o.unknown || o.bad) {
        effect_unknown(sh, leaf, "an option of read is not understood");
        set_class(sh, leaf, CLASS_UNKNOWN);
    }
    set_names(sh, leaf, c, &o);
    if (reads_name(sh, c, &o))
        state_set_found(sh, c->argv[o.operands[0]].w.text, sh->feed);
}

void
builtin_mapfile(struct sh *sh, size_t leaf, const struct command *c)
{
    static const struct optspec spec = {.shorts = "td:n:O:s:u:C+c:", .posix = true, .exact = true};
    struct options o;
    set_class(sh, leaf, CLASS_READER);
    options_parse(sh, leaf, c, 1, &spec, &o);
    if (o.unknown || o.bad) {
        effect_unknown(sh, leaf, "mapfile runs a callback");
        set_class(sh, leaf, CLASS_DANGER);
        if (o.value['C'] && o.value['C']->w.known)
            leaf_inner_text(sh, leaf, o.value['C']->w.text, false);
    }
    set_names(sh, leaf, c, &o);
}

void
builtin_getopts(struct sh *sh, size_t leaf, const struct command *c)
{
    set_class(sh, leaf, CLASS_READER);
    if (c->n > 2)
        sets_name(sh, leaf, &c->argv[2]);
}

void
builtin_let(struct sh *sh, size_t leaf, const struct command *c)
{
    int64_t v;
    set_class(sh, leaf, CLASS_READER);
    for (size_t i = 1; i < c->n; i++)
        if (!c->argv[i].w.known || !arith_value(c->argv[i].w.text, &v)) {
            effect_unknown(sh, leaf, "let evaluates names");
            set_class(sh, leaf, CLASS_DANGER);
        }
    state_lose_vars(sh);
}
