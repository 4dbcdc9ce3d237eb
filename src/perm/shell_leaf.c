/* Simple commands: their words, assignments and redirections become a leaf, which is then judged. */
#include <string.h>

#include "perm/wrappers.h"

struct perm_leaf *
leaf_at(struct sh *sh, size_t i)
{
    return i < sh->ret->n_leaves ? &sh->ret->leaves[i] : NULL;
}

static void
set_cwd(struct sh *sh, struct perm_leaf *l)
{
    const struct cwdset *c = &sh->st.cwd;
    if (c->unknown || c->n == 0)
        return;
    const char **v = arena_alloc(sh->a, c->n * sizeof *v);
    memcpy(v, c->dir, c->n * sizeof *v);
    l->cwds = v;
    l->n_cwds = c->n;
    l->cwd = v[0];
}

static size_t
leaf_new(struct sh *sh, const struct command *c)
{
    struct perm_analysis *r = sh->ret;
    if (r->n_leaves >= SH_MAX_LEAVES || !sh_spend(sh, 1 + c->n)) {
        sh_incomplete(sh, "the command has too many parts");
        return SIZE_MAX;
    }
    ARRAY_GROW(r->leaves, r->n_leaves, sh->cap_leaves);
    struct perm_leaf *l = &r->leaves[r->n_leaves];
    struct perm_word *argv = arena_alloc(sh->a, (c->n + 1) * sizeof *argv);
    bool given = true;
    *l = (struct perm_leaf){.argv = argv, .n_argv = c->n, .argv_known = true};
    for (size_t i = 0; i < c->n; i++) {
        argv[i] = c->argv[i].w;
        argv[i].split = c->argv[i].split;
        l->argv_known = l->argv_known && argv[i].known;
        given = given && (argv[i].known || c->argv[i].below.len);
    }
    l->given = given && !l->argv_known;
    l->fed = sh->fed && !c->doc && !c->herestring && !c->stdin_file;
    l->name_known = c->n > 0 && argv[0].known && !argv[0].glob;
    set_cwd(sh, l);
    l->assigns = c->assigns;
    l->n_assigns = c->n_assigns;
    l->role = sh->inner ? LEAF_INNER : c->n == 0 && c->n_assigns > 0 ? LEAF_ASSIGN : LEAF_RUN;
    l->wrapper = sh->wrapper;
    l->bad_env = c->bad_env;
    l->bad_env_name = c->bad_env_name;
    l->source = c->source;
    if (c->n == 0)
        l->cls = CLASS_READER; /* what it does are its effects */
    return r->n_leaves++;
}

void
command_bad_env(struct sh *sh, struct command *c, struct str name)
{
    c->bad_env = true;
    if (!c->bad_env_name)
        c->bad_env_name = arena_dup(sh->a, name.ptr, name.len);
}

struct str
program_name(struct str word, bool *ret_trusted)
{
    static const char *const folders[] = {"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/",
                                          "/usr/sbin/"};
    size_t cut = word.len;
    while (cut > 0 && word.ptr[cut - 1] != '/')
        cut--;
    struct str base = str_sub(word, cut, word.len - cut), dir = str_sub(word, 0, cut);
    *ret_trusted = cut == 0;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        *ret_trusted = *ret_trusted || str_is(dir, folders[i]);
    return base;
}

/* printf -v NAME: the judge of the program printf knows nothing of the shell's variables. */
static void
printf_sets(struct sh *sh, const struct command *c)
{
    if (c->n < 2 || (c->argv[1].w.known && !str_starts(c->argv[1].w.text, "-v")))
        return;
    const struct word *name = c->n > 2 ? &c->argv[2] : NULL;
    if (arg_is(c, 1, "-v") && name && name->w.known && is_name(name->w.text))
        state_set(sh, name->w.text, VAR_UNKNOWN, str_from(NULL));
    else
        state_lose_shell(sh);
}

void
leaf_judge_program(struct sh *sh, size_t leaf, const struct command *c)
{
    if (!builtin_run(sh, leaf, c) && !wrapper_run(sh, leaf, c))
        program_run(sh, leaf, c);
    hide_program(sh, leaf, c);
    if (str_is(c->argv[0].w.text, "printf"))
        printf_sets(sh, c);
}

/* Judges argv of a leaf: function, builtin, wrapper or program. */
static void
leaf_judge(struct sh *sh, size_t leaf, const struct command *c)
{
    static const char *const misplaced[] = {"{",    "}",    "do",   "done",   "then",     "fi",
                                            "esac", "else", "elif", "if",     "while",    "until",
                                            "for",  "case", "in",   "select", "function", "!"};
    sh_settle(sh);
    if (leaf == SIZE_MAX || c->n == 0)
        return;
    const struct word *name = &c->argv[0];
    if (!name->w.known || name->w.glob) {
        effect_unknown(sh, leaf, "the program's name cannot be known before it runs");
        program_guess_reads(sh, leaf, c, 1);
        sh->calls_hidden = true;
        state_lose_shell(sh);
        sh->st.cwd = (struct cwdset){.unknown = true};
        sh_settle(sh);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(misplaced); i++) {
        if (name->quoted || !str_is(name->src, misplaced[i]))
            continue;
        sh_incomplete(sh, "a word of the shell's grammar stands where a command should");
        leaf_inner(sh, leaf, c, 1, false);
    }
    if (!c->program && funcs_have(sh, name->w.text))
        func_call(sh, leaf, c);
    else
        leaf_judge_program(sh, leaf, c);
}

size_t
leaf_command(struct sh *sh, struct command *c)
{
    struct words extra = {0};
    for (const struct redirs *r = c->redirs; r; r = r->next)
        redirs_collect(sh, r->node, c, &extra);
    struct words all = {.v = c->argv, .n = c->n, .cap = c->n};
    for (size_t i = 0; i < extra.n; i++)
        words_add(sh, &all, &extra.v[i]);
    c->argv = all.v;
    c->n = all.n;
    size_t leaf = leaf_new(sh, c);
    redirs_apply(sh, leaf, c);
    leaf_judge(sh, leaf, c);
    return leaf;
}

/* ---- commands found inside other commands ---- */

struct saved {
    bool inner;
    size_t wrapper;
};

static struct saved
enter(struct sh *sh, size_t outer, bool transparent)
{
    struct saved s = {sh->inner, sh->wrapper};
    struct perm_leaf *l = leaf_at(sh, outer);
    if (transparent && l) {
        if (l->role == LEAF_RUN)
            l->role = LEAF_WRAPPER;
        l->transparent = true;
    } else {
        sh->inner = true;
    }
    sh->wrapper = outer;
    return s;
}

void
leaf_inner(struct sh *sh, size_t outer, const struct command *c, size_t from, bool transparent)
{
    if (from >= c->n || outer == SIZE_MAX)
        return;
    if (sh->wraps >= SH_MAX_WRAPS) {
        sh_incomplete(sh, "commands are wrapped too deeply");
        return;
    }
    sh->wraps++;
    struct saved s = enter(sh, outer, transparent);
    struct command in = {.argv = c->argv + from, .n = c->n - from, .source = c->source};
    in.doc = c->doc;
    in.herestring = c->herestring;
    in.stdin_file = c->stdin_file;
    in.around = c->n_assigns ? c->assigns : c->around;
    in.n_around = c->n_assigns ? c->n_assigns : c->n_around;
    in.program = !(str_is(c->argv[0].w.text, "time") || str_is(c->argv[0].w.text, "coproc"));
    size_t leaf = leaf_new(sh, &in);
    leaf_judge(sh, leaf, &in);
    sh->inner = s.inner;
    sh->wrapper = s.wrapper;
    sh->wraps--;
}

void
leaf_is_opaque(struct sh *sh, size_t outer, size_t first)
{
    struct perm_leaf *l = leaf_at(sh, outer);
    l->role = sh->inner ? LEAF_INNER : LEAF_RUN;
    l->transparent = false;
    for (size_t i = first; i < sh->ret->n_leaves; i++)
        leaf_at(sh, i)->role = LEAF_INNER;
}

bool
leaf_inner_reads(struct sh *sh, size_t outer, const struct command *c, size_t from)
{
    size_t first = sh->ret->n_leaves;
    leaf_inner(sh, outer, c, from, true);
    const struct perm_leaf *in = leaf_at(sh, first);
    if (in && in->cls == CLASS_READER)
        return true;
    leaf_is_opaque(sh, outer, first);
    return false;
}

void
leaf_inner_text(struct sh *sh, size_t outer, struct str text, bool transparent)
{
    if (outer == SIZE_MAX)
        return;
    const char *why = NULL;
    struct saved s = enter(sh, outer, transparent);
    struct state st = state_copy(sh, &sh->st);
    state_lose_vars(sh);
    if (!scan_bytes(text, &why))
        sh_incomplete(sh, arena_printf(sh->a, "a command in a string %s", why));
    if (!memchr(text.ptr ? text.ptr : "", '\0', text.len))
        sh_run_text(sh, arena_str(sh->a, text));
    sh->st = st;
    sh->inner = s.inner;
    sh->wrapper = s.wrapper;
    sh_settle(sh);
}
