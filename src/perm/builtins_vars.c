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

/* declare and its kin: letters that only mark or print. -n makes a reference, -i and arithmetic evaluate. */
/* Attributes change what later assignments mean; those of functions and "export -n" alone do not. */
static void
attribute(struct sh *sh, const struct command *c)
{
    if (arg_is(c, 0, "export") && !arg_is(c, 1, "-f"))
        return;
    state_lose_vars(sh);
    sh->attrs_seen = true;
}

void
builtin_declare(struct sh *sh, size_t leaf, const struct command *c)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    l->cls = CLASS_READER;
    bool exported = arg_is(c, 0, "export"), operands = false;
    bool freezes = arg_is(c, 0, "readonly");
    for (size_t i = 1; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        struct str s = w->w.text;
        if (w->w.known && s.len > 1 && (s.ptr[0] == '-' || s.ptr[0] == '+') && !operands) {
            for (size_t k = 1; k < s.len; k++)
                if (strchr("inulc", s.ptr[k]) || !strchr("rxagAfFpt-", s.ptr[k]))
                    attribute(sh, c);
            for (size_t k = 1; k < s.len; k++)
                if (!strchr("rxagAfFptuln-", s.ptr[k]) || s.ptr[k] == 'n') {
                    effect_unknown(sh, leaf, "an attribute evaluates the value");
                    l->cls = exported && s.ptr[k] == 'n' ? CLASS_KNOWN : CLASS_DANGER;
                }
            exported = exported || memchr(s.ptr, 'x', s.len);
            freezes = freezes || memchr(s.ptr, 'r', s.len);
            sh->frozen_seen = sh->frozen_seen || freezes;
            continue;
        }
        operands = true;
        sh->frozen_seen = sh->frozen_seen || freezes;
        size_t eq = w->w.known ? str_find(s, '=', 0) : (size_t)-1;
        struct str name = eq == (size_t)-1 ? s : str_sub(s, 0, eq);
        if (w->split ||
            (!w->w.known && str_find(w->prefix, '=', 0) == (size_t)-1 &&
             !is_name(str_sub(w->src, 0, str_find(w->src, '=', 0)))) ||
            (w->w.known && !is_name(name))) {
            effect_unknown(sh, leaf, "a name operand evaluates code");
            l->cls = CLASS_DANGER;
            state_lose_shell(sh);
        }
        if (!w->w.known) {
            size_t k = str_find(w->src, '=', 0);
            name = str_sub(w->src, 0, k == (size_t)-1 ? w->src.len : k);
        }
        bool sets = eq != (size_t)-1 || !w->w.known;
        struct word v = *w;
        v.w.text = str_sub(s, eq + 1, s.len);
        if (w->w.known && eq != (size_t)-1 && v.w.text.len && v.w.text.ptr[0] == '(') {
            effect_unknown(sh, leaf, "an array in a word is evaluated");
            l->cls = CLASS_DANGER;
        }
        bool safe = env_name_safe(name) && (!sets || env_value_safe(name, &v));
        if (!safe && (exported || !env_plain_name(name))) {
            l->bad_env = true;
            l->bad_env_name = arena_dup(sh->a, name.ptr, name.len);
        }
        if (is_name(name) && !exported && !arg_is(c, 0, "readonly"))
            func_local(sh, name);
        for (size_t k = 0; k < sh->n_frozen && sets_value(w); k++)
            if (freezes && str_eq(sh->frozen[k], name))
                sh_incomplete(sh, "sets a variable that cannot be set");
        if (freezes && sh->n_frozen < ARRAY_LEN(sh->frozen))
            sh->frozen[sh->n_frozen++] = name;
        /* The walk has set what it saw as assignments; a bare name may be a new variable of a function. */
        if (!w->assign && is_name(name) && (sets || !exported))
            state_set(sh, name, VAR_UNKNOWN, str_from(NULL));
    }
}

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
