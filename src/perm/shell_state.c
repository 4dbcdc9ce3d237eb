/* What is known while walking: the working directory as a set of candidates, and variables. */
#include <string.h>

#include "perm/shell.h"

const struct var *
state_get(const struct state *st, struct str name)
{
    for (size_t i = st->n_vars; i-- > 0;)
        if (str_eq(st->vars[i].name, name))
            return &st->vars[i];
    return NULL;
}

/* Variables that the shell itself sets or computes: what was assigned is not what is read. */
static bool
is_dynamic(struct str name)
{
    static const char *const names[] = {
        "_",       "RANDOM",  "SRANDOM",      "SECONDS",       "LINENO",   "PPID",
        "UID",     "EUID",    "EPOCHSECONDS", "EPOCHREALTIME", "OPTARG",   "OPTIND",
        "OPTERR",  "REPLY",   "MAPFILE",      "COPROC",        "DIRSTACK", "FUNCNAME",
        "GROUPS",  "HISTCMD", "PIPESTATUS",   "SHLVL",         "PWD",      "OLDPWD",
        "COLUMNS", "LINES",   "SHELLOPTS",    "READLINE_LINE",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return str_starts(name, "BASH") || str_starts(name, "COMP_");
}

static void
note_special(struct sh *sh, struct str name)
{
    sh->ifs_seen = sh->ifs_seen || str_is(name, "IFS");
    sh->cdpath_seen = sh->cdpath_seen || str_is(name, "CDPATH");
    static const char *const fixed[] = {"PPID",     "UID",       "EUID",
                                        "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO"};
    bool fails = sh->n_frozen == ARRAY_LEN(sh->frozen);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        fails = fails || str_is(name, fixed[i]);
    for (size_t i = 0; i < sh->n_frozen; i++)
        fails = fails || str_eq(name, sh->frozen[i]);
    if (fails) /* what stands behind it on the line is then left out */
        sh_incomplete(sh, "sets a variable that cannot be set");
    if (str_is(name, "POSIXLY_CORRECT") || str_is(name, "BASH_COMPAT"))
        sh_incomplete(sh, "the shell is told to read commands in another way");
}

void
state_set(struct sh *sh, struct str name, enum var_kind kind, struct str text)
{
    struct state *st = &sh->st;
    if (sh->attrs_seen || is_dynamic(name))
        kind = VAR_UNKNOWN;
    note_special(sh, name);
    for (size_t i = 0; i < st->n_vars; i++) {
        if (str_eq(st->vars[i].name, name)) {
            st->vars[i].kind = kind;
            st->vars[i].text = text;
            return;
        }
    }
    if (st->n_vars >= 64) {
        state_lose_vars(sh);
        return;
    }
    if (st->n_vars == st->cap_vars) {
        size_t cap = st->cap_vars ? st->cap_vars * 2 : 8;
        struct var *v = arena_alloc(sh->a, cap * sizeof *v);
        if (st->n_vars)
            memcpy(v, st->vars, st->n_vars * sizeof *v);
        st->vars = v;
        st->cap_vars = cap;
    }
    st->vars[st->n_vars++] = (struct var){.name = name, .text = text, .kind = kind};
}

void
state_lose_vars(struct sh *sh)
{
    sh->st.vars = NULL;
    sh->st.n_vars = sh->st.cap_vars = 0;
    sh->st.vars_lost = true;
}

void
state_lose_shell(struct sh *sh)
{
    state_lose_vars(sh);
    sh->ifs_seen = sh->cdpath_seen = sh->attrs_seen = true;
}

void
state_set_found(struct sh *sh, struct str name, const struct found *f)
{
    state_set(sh, name, VAR_UNKNOWN, str_from(NULL));
    for (size_t i = 0; i < sh->st.n_vars && !sh->attrs_seen && !is_dynamic(name); i++)
        if (str_eq(sh->st.vars[i].name, name)) {
            sh->st.vars[i].kind = VAR_FOUND;
            sh->st.vars[i].found = f;
        }
}

struct state
state_copy(struct sh *sh, const struct state *st)
{
    struct state c = *st;
    c.cap_vars = st->n_vars;
    c.vars = NULL;
    if (st->n_vars) {
        c.vars = arena_alloc(sh->a, st->n_vars * sizeof *c.vars);
        memcpy(c.vars, st->vars, st->n_vars * sizeof *c.vars);
    }
    return c;
}

static bool
var_equal(const struct var *a, const struct var *b)
{
    if (a && b && a->kind == VAR_FOUND && b->kind == VAR_FOUND)
        return a->found == b->found;
    return a && b && a->kind == b->kind &&
           (a->kind == VAR_UNKNOWN || a->kind == VAR_NUMBER || a->kind == VAR_TOKEN ||
            str_eq(a->text, b->text));
}

static bool
var_is_number(const struct var *v)
{
    int64_t n;
    return v && (v->kind == VAR_NUMBER || (v->kind == VAR_TEXT && arith_value(v->text, &n)));
}

void
state_join(struct sh *sh, const struct state *other)
{
    struct state *st = &sh->st;
    cwd_join(&st->cwd, &other->cwd);
    cwd_join(&st->old, &other->old);
    if (other->vars_lost)
        state_lose_vars(sh);
    for (size_t i = 0; i < st->n_vars; i++) {
        const struct var *o = state_get(other, st->vars[i].name);
        if (var_equal(&st->vars[i], o))
            continue;
        st->vars[i].kind =
            var_is_number(&st->vars[i]) && var_is_number(o) ? VAR_NUMBER : VAR_UNKNOWN;
    }
    for (size_t i = 0; i < other->n_vars; i++)
        if (!state_get(st, other->vars[i].name))
            state_set(sh, other->vars[i].name, VAR_UNKNOWN, str_from(NULL));
}

static bool
cwd_has(const struct cwdset *s, const char *dir)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->dir[i], dir) == 0)
            return true;
    return false;
}

static bool
cwd_equal(const struct cwdset *a, const struct cwdset *b)
{
    if (a->unknown != b->unknown || a->n != b->n)
        return false;
    for (size_t i = 0; i < b->n; i++)
        if (!cwd_has(a, b->dir[i]))
            return false;
    return true;
}

bool
state_equal(const struct state *a, const struct state *b)
{
    if (a->vars_lost != b->vars_lost || a->n_vars != b->n_vars || !cwd_equal(&a->cwd, &b->cwd) ||
        !cwd_equal(&a->old, &b->old))
        return false;
    for (size_t i = 0; i < a->n_vars; i++)
        if (!var_equal(&a->vars[i], state_get(b, a->vars[i].name)))
            return false;
    return true;
}

void
cwd_join(struct cwdset *a, const struct cwdset *b)
{
    a->unknown = a->unknown || b->unknown;
    for (size_t i = 0; i < b->n && !a->unknown; i++) {
        if (cwd_has(a, b->dir[i]))
            continue;
        if (a->n < sizeof a->dir / sizeof a->dir[0])
            a->dir[a->n++] = b->dir[i];
        else
            a->unknown = true;
    }
    if (a->unknown)
        a->n = 0;
}

void
sh_settle(struct sh *sh)
{
    sh->ok = sh->fail = sh->st.cwd;
}

bool
is_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return s.len > 0;
}
