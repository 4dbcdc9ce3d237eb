/*
 * The shell's builtins, each with a specification of its own: many evaluate operands that look quoted. One
 * that is not here and not a program of the table is unknown.
 */
#include <string.h>

#include "perm/builtins.h"
#include "perm/name_index.h"
#include "perm/wrappers.h"

typedef void (*builtin_fn)(struct sh *, size_t, const struct command *);

/* ---- directories ---- */

static void
go_to(struct sh *sh, size_t leaf, const struct word *w)
{
    struct cwdset old = sh->st.cwd, to = {0};
    if (!w->w.known || w->w.glob || w->split) {
        to.unknown = true;
        struct word u = *w;
        u.w.known = u.w.glob = false;
        effect_add(sh, leaf, EFFECT_READ, &u);
    } else if (w->w.text.len) {
        bool absolute = w->w.text.ptr[0] == '/';
        if (!absolute && (old.unknown || old.n == 0))
            to.unknown = true;
        for (size_t i = 0; i < (absolute ? 1 : old.n) && !to.unknown; i++) {
            const char *from = absolute ? NULL : old.dir[i];
            struct cwdset one = {.dir = {path_clean(sh->a, from, w->w.text)}, .n = 1};
            /* cd takes "link/.." away by text, everything else asks the kernel. */
            if (!one.dir[0] || strcmp(one.dir[0], path_by_text(sh->a, from, w->w.text)) != 0)
                one = (struct cwdset){.unknown = true};
            cwd_join(&to, &one);
        }
        /* Only where it goes when all before it went well: elsewhere it merely fails, and what follows is judged there. */
        sh->st.cwd.n = old.n ? 1 : 0;
        effect_add(sh, leaf, EFFECT_READ, w);
        sh->st.cwd = old;
    } else {
        to = old; /* cd "" stays */
    }
    sh->ok = to;
    sh->fail = old;
    cwd_join(&sh->st.old, &old);
}

/* To a folder that an earlier part was in, and was judged then. */
static void
go_back(struct sh *sh)
{
    const struct cwdset *old = &sh->st.old;
    struct cwdset was = sh->st.cwd;
    sh->fail = was;
    sh->ok = old->n ? *old : (struct cwdset){.unknown = true};
    cwd_join(&sh->st.old, &was);
}

/* "CDPATH=/etc cd x": an assignment before the command decides where it goes. */
static bool
steered(const struct command *c)
{
    static const char *const names[] = {"CDPATH", "HOME", "OLDPWD", "PWD"};
    for (size_t i = 0; i < c->n_assigns + c->n_around; i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            const struct perm_assign *a =
                i < c->n_assigns ? &c->assigns[i] : &c->around[i - c->n_assigns];
            if (str_is(a->name, names[k]))
                return true;
        }
    return false;
}

static void
do_cd(struct sh *sh, size_t leaf, const struct command *c)
{
    size_t i = 1;
    set_class(sh, leaf, CLASS_READER);
    while (arg_is(c, i, "-L") || arg_is(c, i, "-P") || arg_is(c, i, "-e"))
        i++;
    if (arg_is(c, i, "--"))
        i++;
    struct word home = word_unknown(STR("~"), false);
    const struct var *v = state_get(&sh->st, STR("HOME"));
    if (!v && !sh->st.vars_lost && sh->env->home)
        home = word_literal(sh, str_from(sh->env->home));
    if (steered(c))
        home = word_unknown(STR("~"), false);
    if (i >= c->n) {
        go_to(sh, leaf, &home);
        return;
    }
    struct word w = c->argv[i];
    /* OLDPWD is no variable that a fresh shell is given: it is a folder that this command was in. */
    bool back = c->n == 2 && arg_is(c, 1, "-") && !sh->st.vars_lost &&
                !state_get(&sh->st, STR("OLDPWD")) && !steered(c);
    if (back) {
        go_back(sh);
        return;
    }
    bool odd = arg_is(c, i, "-") || (i + 1 < c->n) || (is_option(&w) && !arg_is(c, i - 1, "--")) ||
               sh->cdpath_seen || steered(c);
    if (odd) {
        w.w.known = false;
        effect_unknown(sh, leaf, "where it goes cannot be known");
    }
    go_to(sh, leaf, &w);
}

static void
do_pushd(struct sh *sh, size_t leaf, const struct command *c)
{
    set_class(sh, leaf, CLASS_READER);
    if (c->n == 2 && arg_is(c, 0, "pushd") && !is_option(&c->argv[1])) {
        go_to(sh, leaf, &c->argv[1]);
        return;
    }
    if (c->n == 1 && arg_is(c, 0, "popd") && !sh->st.vars_lost) {
        sh->st.old = (struct cwdset){.unknown = true}; /* the stack is another one */
        go_back(sh);
        return;
    }
    struct word w = word_unknown(c->source, false);
    go_to(sh, leaf, &w);
}

/* ---- running text ---- */

static void
danger(struct sh *sh, size_t leaf, const char *why)
{
    set_class(sh, leaf, CLASS_DANGER);
    effect_unknown(sh, leaf, why);
}

static void
lose_all(struct sh *sh)
{
    sh->calls_hidden = true;
    state_lose_shell(sh);
    sh->st.cwd = (struct cwdset){.unknown = true};
    sh_settle(sh);
}

/* eval joins its operands with blanks and runs them. */
static void
do_eval(struct sh *sh, size_t leaf, const struct command *c)
{
    danger(sh, leaf, "eval runs text");
    struct buf b;
    size_t from = c->n > 1 && str_is(c->argv[1].w.text, "--") ? 2 : 1;
    buf_init(&b, SH_PARSE_BYTES);
    for (size_t i = from; i < c->n; i++) {
        buf_add_str(&b, c->argv[i].w.text);
        buf_addc(&b, ' ');
    }
    leaf_inner_text(sh, leaf, buf_str(&b), false);
    buf_release(&b);
    lose_all(sh);
}

static void
do_source(struct sh *sh, size_t leaf, const struct command *c)
{
    danger(sh, leaf, "runs a file in this shell");
    if (c->n > 1) {
        effect_add(sh, leaf, EFFECT_READ, &c->argv[1]);
        effect_add(sh, leaf, EFFECT_EXEC, &c->argv[1]);
        /* What comes through a pipe may be anything. */
        if (word_is_input(sh, &c->argv[1]) || str_starts(c->argv[1].w.text, "/dev/") ||
            str_starts(c->argv[1].w.text, "/proc/"))
            leaf_inner_text(sh, leaf, STR("\"$stdin\""), false);
    }
    /* A virtual environment's script stays where it is; who may run it may do all else in it anyway. */
    if (c->n == 2 && c->argv[1].w.known && str_ends(c->argv[1].w.text, "/bin/activate"))
        state_lose_vars(sh);
    else
        lose_all(sh);
}

static void
do_exec(struct sh *sh, size_t leaf, const struct command *c)
{
    if (c->n == 1) {
        set_class(sh, leaf, CLASS_KNOWN);
        return;
    }
    danger(sh, leaf, "replaces the shell");
    size_t i = 1;
    while (i < c->n && is_option(&c->argv[i]))
        i += arg_is(c, i, "-a") ? 2 : 1;
    leaf_inner(sh, leaf, c, i, false);
    sh_settle(sh);
}

static void
do_trap(struct sh *sh, size_t leaf, const struct command *c)
{
    size_t at = arg_is(c, 1, "--") ? 2 : 1;
    bool text = c->n > at && c->argv[at].w.known && c->argv[at].w.text.len > 0;
    if (text && arg_is(c, at, "-")) { /* forgets what was to run */
        set_class(sh, leaf, CLASS_READER);
        return;
    }
    danger(sh, leaf, "trap runs text later");
    sh->calls_hidden = true;
    struct cwdset cwd = sh->st.cwd;
    sh->st.cwd = (struct cwdset){.unknown = true}; /* wherever the shell is by then */
    if (text && (at == 2 || !is_option(&c->argv[at])))
        leaf_inner_text(sh, leaf, c->argv[at].w.text, false);
    sh->st.cwd = cwd;
    sh_settle(sh);
}

static void
do_alias(struct sh *sh, size_t leaf, const struct command *c)
{
    danger(sh, leaf, "changes what commands mean");
    for (size_t i = 1; i < c->n; i++) {
        size_t eq = str_find(c->argv[i].w.text, '=', 0);
        if (c->argv[i].w.known && eq != (size_t)-1)
            leaf_inner_text(sh, leaf, str_sub(c->argv[i].w.text, eq + 1, (size_t)-1 >> 1), false);
    }
}

static void
do_danger(struct sh *sh, size_t leaf, const struct command *c)
{
    (void)c;
    danger(sh, leaf, "changes how the shell reads or finds commands");
    lose_all(sh);
}

/* ---- control ---- */

static void
do_exit(struct sh *sh, size_t leaf, const struct command *c)
{
    int64_t v;
    set_class(sh, leaf, CLASS_READER);
    bool number = c->n == 2 && (c->argv[1].numeric ||
                                (c->argv[1].w.known && arith_value(c->argv[1].w.text, &v)));
    if (c->n > 2 || (c->n == 2 && !number))
        return; /* bash may go on then */
    sh->ok = sh->fail = (struct cwdset){0};
}

static void
do_harmless(struct sh *sh, size_t leaf, const struct command *c)
{
    (void)c;
    set_class(sh, leaf, CLASS_READER);
}

static void
do_help(struct sh *sh, size_t leaf, const struct command *c)
{
    bool plain = true;
    for (size_t i = 1; i < c->n; i++)
        plain = plain && c->argv[i].w.known && !is_option(&c->argv[i]);
    set_class(sh, leaf, plain ? CLASS_READER : CLASS_UNKNOWN);
    if (!plain)
        effect_unknown(sh, leaf, "an option is not known");
}

static void
do_wait(struct sh *sh, size_t leaf, const struct command *c)
{
    set_class(sh, leaf, CLASS_READER);
    for (size_t i = 1; i < c->n; i++)
        if (!c->argv[i].w.known || arg_is(c, i, "-p") || str_starts(c->argv[i].w.text, "-p"))
            state_lose_shell(sh); /* -p sets a variable */
}

static void
do_query(struct sh *sh, size_t leaf, const struct command *c)
{
    set_class(sh, leaf, CLASS_READER);
    for (size_t i = 1; i < c->n; i++)
        if (c->argv[i].split ||
            (is_option(&c->argv[i]) && !arg_is(c, i, "-a") && !arg_is(c, i, "-l") &&
             !arg_is(c, i, "-t") && !arg_is(c, i, "-p") && !arg_is(c, i, "-P") &&
             !arg_is(c, i, "-f") && !arg_is(c, i, "-r")))
            effect_unknown(sh, leaf, "an option is not known");
    if (arg_is(c, 0, "hash")) /* -p puts another program behind a name, -d forgets */
        for (size_t i = 1; i < c->n; i++)
            if (arg_is(c, i, "-p") || c->n > 2)
                do_danger(sh, leaf, c);
    if (leaf_at(sh, leaf)->effects_unknown && leaf_at(sh, leaf)->cls == CLASS_READER)
        set_class(sh, leaf, CLASS_UNKNOWN);
}

/* history, ulimit, umask, dirs, shopt, enable, ...: only the bare form prints. */
static void
do_bare(struct sh *sh, size_t leaf, const struct command *c)
{
    int64_t v;
    bool number = c->n == 2 && c->argv[1].w.known && arith_value(c->argv[1].w.text, &v) &&
                  arg_is(c, 0, "history");
    bool print = c->n == 1 || number || (c->n == 2 && arg_is(c, 1, "-a") && arg_is(c, 0, "ulimit"));
    set_class(sh, leaf, print ? CLASS_READER : CLASS_DANGER);
    if (!print)
        effect_unknown(sh, leaf, "changes the shell");
    if (!print && (arg_is(c, 0, "shopt") || arg_is(c, 0, "enable")))
        sh_incomplete(sh, "the shell is told to read commands in another way");
}

/* set: only options that make it stricter or print. */
static void
do_set(struct sh *sh, size_t leaf, const struct command *c)
{
    set_class(sh, leaf, CLASS_READER);
    bool name_next = false;
    for (size_t i = 1; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        struct str s = w->w.text;
        bool ok = w->w.known;
        if (ok && !name_next && (str_is(s, "--") || (s.len && !strchr("-+", s.ptr[0]))))
            break; /* the rest are positional parameters, whose values nobody claims to know */
        if (name_next) {
            ok = str_is(s, "pipefail") || str_is(s, "errexit") || str_is(s, "nounset") ||
                 str_is(s, "xtrace") || str_is(s, "verbose");
            name_next = false;
        } else if (ok) {
            ok = s.len > 1 && (s.ptr[0] == '-' || s.ptr[0] == '+');
            for (size_t k = 1; ok && k < s.len; k++) {
                ok = strchr("euxvoCE", s.ptr[k]) != NULL;
                name_next = name_next || s.ptr[k] == 'o';
            }
        }
        if (!ok) {
            danger(sh, leaf, "the shell is told to read commands in another way");
            sh_incomplete(sh, "the shell is told to read commands in another way");
        }
    }
}

struct builtin {
    const char *name;
    builtin_fn fn;
};
static const struct builtin builtins[] = {
    {"cd", do_cd},
    {"pushd", do_pushd},
    {"popd", do_pushd},
    {"export", builtin_declare},
    {"declare", builtin_declare},
    {"typeset", builtin_declare},
    {"readonly", builtin_declare},
    {"local", builtin_declare},
    {"unset", builtin_unset},
    {"read", builtin_read},
    {"mapfile", builtin_mapfile},
    {"readarray", builtin_mapfile},
    {"getopts", builtin_getopts},
    {"let", builtin_let},
    {"eval", do_eval},
    {"source", do_source},
    {".", do_source},
    {"exec", do_exec},
    {"trap", do_trap},
    {"alias", do_alias},
    {"unalias", do_danger},
    {"enable", do_bare},
    {"shopt", do_bare},
    {"bind", do_danger},
    {"complete", do_danger},
    {"compgen", do_danger},
    {"compopt", do_danger},
    {"fc", do_danger},
    {"history", do_bare},
    {"hash", do_query},
    {"type", do_query},
    {"set", do_set},
    {"exit", do_exit},
    {"return", do_harmless},
    {"break", do_harmless},
    {"continue", do_harmless},
    {"shift", do_harmless},
    {"wait", do_wait},
    {"jobs", do_bare},
    {"times", do_bare},
    {"help", do_help},
    {"umask", do_bare},
    {"ulimit", do_bare},
    {"dirs", do_bare},
    {"disown", do_danger},
    {"suspend", do_danger},
    {"logout", do_danger},
    {"caller", do_bare},
    {"unsetenv", builtin_unset},
};

bool
builtin_run(struct sh *sh, size_t leaf, const struct command *c)
{
    static struct name_index index;
    size_t i =
        name_first(&index, builtins, ARRAY_LEN(builtins), sizeof *builtins, c->argv[0].w.text);
    if (i == NAME_NONE)
        return false;
    builtins[i].fn(sh, leaf, c);
    return true;
}
