/*
 * Layers 2 and 3: which leaf of a command is covered by what. An allow must cover exactly what will run: a prefix rule for a
 * program that runs others says nothing about those.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"
#include "perm/danger.h"

/* Programs that run or remove what their operands name, never let through by a rule that only begins with their name. */
static const char *const launchers[] = {
    "watch",     "setsid",           "ionice",  "flock",   "find",   "fd",     "fdfind",
    "xargs",     "parallel",         "env",     "script",  "strace", "ltrace", "unshare",
    "nsenter",   "chroot",           "setpriv", "taskset", "chrt",   "entr",   "rlwrap",
    "ssh-agent", "dbus-run-session", "exec",    "coproc",  "trap",   "eval",
};

static bool
is_launcher(const struct perm_leaf *l)
{
    return leaf_is_any(l, launchers, ARRAY_LEN(launchers));
}

static bool
head_has_word(const struct perm_rule *r, struct str word)
{
    struct str head = rule_head(r), part;
    bool first = true;
    while (str_split(&head, ' ', &part)) {
        if (!first && str_eq(part, word))
            return true;
        first = false;
    }
    return false;
}

static const char *
launcher_gap(const struct chain *c, size_t i, const struct perm_rule *r)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    bool inner = false;
    if (!is_launcher(l))
        return NULL;
    for (size_t k = i + 1; k < c->sh.n_leaves; k++) {
        const struct perm_leaf *in = &c->sh.leaves[k];
        if (in->wrapper != i)
            continue;
        inner = true;
        if (!in->n_argv || !in->name_known || !head_has_word(r, in->argv[0].text))
            return "the rule does not name the command that is run in turn";
    }
    if (!inner && l->cls != CLASS_READER && rule_head(r).len <= l->argv[0].text.len + 1)
        return "the rule's prefix does not name what it does beyond reading";
    return NULL;
}

static const char *
force_push_gap(const struct perm_leaf *l, const struct perm_rule *r)
{
    bool push = false;
    if (!leaf_is(l, "git"))
        return NULL;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool forces = push ? danger_push_forces(s) : danger_push_setting(s);
        push = push || str_is(s, "push") || str_is(s, "send-pack");
        if (forces && l->argv[i].known && !head_has_word(r, s))
            return "the rule does not name the forced or deleting push";
    }
    return NULL;
}

/* Settings of git that name no program. */
static bool
is_plain_setting(struct str key)
{
    static const char *const plain[] = {"user.",
                                        "color.",
                                        "init.defaultbranch",
                                        "pull.",
                                        "merge.ff",
                                        "rebase.",
                                        "branch.",
                                        "advice.",
                                        "core.autocrlf",
                                        "core.eol",
                                        "core.quotepath",
                                        "core.filemode",
                                        "core.ignorecase",
                                        "fetch.prune",
                                        "push.",
                                        "commit.gpgsign",
                                        "rerere.",
                                        "diff.algorithm",
                                        "log.",
                                        "status.",
                                        "column.",
                                        "safe.",
                                        "http.version",
                                        "gc.",
                                        "feature.",
                                        "help.",
                                        "tag.sort"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (key.len >= strlen(plain[i]) && strncasecmp(key.ptr, plain[i], strlen(plain[i])) == 0)
            return true;
    return false;
}

static bool
is_git_config(const struct perm_leaf *l)
{
    for (size_t i = 1; i < l->n_argv; i++)
        if (!l->argv[i].known || !l->argv[i].text.len || l->argv[i].text.ptr[0] != '-')
            return l->argv[i].known && str_is(l->argv[i].text, "config");
    return false;
}

/* `git config` of what may name a program: the first operand with a dot in it is the key. */
static bool
sets_programs(const struct perm_leaf *l)
{
    bool config = false;
    if (l->cls == CLASS_GIT_READ && !l->effects_unknown)
        return false;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (!config) {
            config = l->argv[i].known && str_is(s, "config");
            if (!config && s.len && s.ptr[0] != '-' && str_find(s, '=', 0) == (size_t)-1)
                return false; /* another sub-command */
        } else if (!l->argv[i].known) {
            return true;
        } else if (s.len && s.ptr[0] != '-' && memchr(s.ptr, '.', s.len)) {
            return !is_plain_setting(s);
        }
    }
    return config;
}

/* A rule for git as a whole was written for its sub-commands, not for programs that its options, settings and transports start. */
static const char *
git_gap(const struct chain *c, size_t i, const struct perm_rule *r)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    if (!leaf_is(l, "git") || rule_head(r).len > 4)
        return NULL;
    if (sets_programs(l))
        return "the rule does not name 'config', and what is set can run programs";
    if (is_git_config(l))
        return NULL;
    for (size_t k = i + 1; k < c->sh.n_leaves; k++)
        if (c->sh.leaves[k].wrapper == i && c->sh.leaves[k].cls != CLASS_READER)
            return "the rule does not name the command that git runs in turn";
    for (size_t k = 1; k < l->n_argv; k++)
        if (l->argv[k].known && str_contains(l->argv[k].text, STR("ext::")))
            return "its address is a command that git runs";
        else if (l->argv[k].known && str_starts(l->argv[k].text, "--template"))
            return "the rule does not name the template, whose hooks run";
    return git_inside_gap(l);
}

/* wait -p NAME assigns, and a subscript in the name is evaluated. */
static bool
wait_sets_name(const struct perm_leaf *l)
{
    bool sets = false;
    for (size_t i = 1; leaf_is(l, "wait") && i < l->n_argv; i++)
        sets =
            sets || !l->argv[i].known || str_starts(l->argv[i].text, "-p") ||
            (str_starts(l->argv[i].text, "-") && str_find(l->argv[i].text, 'p', 1) != (size_t)-1);
    return sets;
}

/* Builtins that look harmless and evaluate an operand: a rule for their name was not written for that. */
static const char *
evaluates_gap(const struct perm_leaf *l)
{
    static const char *const builtins[] = {
        "printf",    "unset",   "read",   "test",     "[",     "[[",   "declare",
        "typeset",   "local",   "export", "readonly", "let",   "wait", "mapfile",
        "readarray", "getopts", "hash",   "enable",   "alias", "bind", "complete",
        "compgen",   "history", "fc",     "trap",     "shopt",
    };
    bool unsure = l->cls == CLASS_DANGER || l->effects_unknown || wait_sets_name(l);
    if (!unsure || !leaf_is_any(l, builtins, ARRAY_LEN(builtins)))
        return NULL;
    return l->unknown_why ? l->unknown_why : "it evaluates an operand as code";
}

static const char *
repository_gap(const struct chain *c, const struct perm_leaf *l)
{
    if (!leaf_is(l, "git"))
        return NULL;
    return repo_git_is_own(c, l)
               ? NULL
               : "it works in another repository, whose settings can run programs";
}

/* "* --version" was written for whatever prints its version, not for what a shell or an interpreter is told to run. */
static const char *
any_program_gap(const struct perm_leaf *l, const struct perm_rule *r)
{
    bool runs = l->cls == CLASS_DANGER || (l->role == LEAF_WRAPPER && !l->transparent);
    return runs && r->body && r->body[0] == '*' && r->body[1]
               ? "the rule does not name the program that runs another one"
               : NULL;
}

/* Why a rule with a wildcard does not reach this leaf, or NULL. */
static const char *
prefix_gap(const struct chain *c, size_t i, const struct perm_rule *r)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    const char *why = launcher_gap(c, i, r);
    if (!why)
        why = any_program_gap(l, r);
    if (!why)
        why = force_push_gap(l, r);
    if (!why)
        why = git_gap(c, i, r);
    if (!why)
        why = options_gap(l, r);
    if (!why)
        why = dots_gap(l, r);
    if (!why)
        why = evaluates_gap(l);
    return why ? why : repository_gap(c, l);
}

/* A folder that neither is there nor is made by the call: a cd into it failed, and the shell stayed where the others say. */
static bool
may_be_there(const struct chain *c, const char *dir)
{
    bool there = fs_exists(dir);
    for (size_t i = 0; i < c->sh.n_leaves && !there; i++)
        for (size_t k = 0; k < c->sh.leaves[i].n_effects && !there; k++) {
            const struct perm_effect *e = &c->sh.leaves[i].effects[k];
            there = e->kind == EFFECT_WRITE &&
                    (!e->path || e->glob || path_inside(dir, e->path, c->fold) ||
                     path_inside(e->path, dir, c->fold));
        }
    return there;
}

/* A rule for a program whose effects are its own was written for this project: elsewhere it would build, test or run what
 * another folder holds. */
static const char *
place_gap(const struct chain *c, const struct perm_leaf *l, enum match_how how)
{
    if (how == MATCH_BLANKET || !l->effects_unknown || l->n_argv == 0)
        return NULL;
    if (!l->n_cwds)
        return "the folder it runs in cannot be known";
    for (size_t i = 0; i < l->n_cwds; i++) {
        struct path_names n;
        if (i > 0 && !may_be_there(c, l->cwds[i]))
            continue;
        path_names_init(&n, c->cwd, l->cwds[i], c->fold);
        bool inside = path_in_roots(c, &n, false) || strcmp(l->cwds[i], c->cwd) == 0;
        path_names_release(&n);
        if (!inside)
            return "it may run in a folder outside the project";
    }
    return how == MATCH_PREFIX ? place_option_gap(c, l) : NULL;
}

/* The strongest rule that really covers leaf i. */
static void
cover_by_rule(struct chain *c, size_t i)
{
    struct cover *v = &c->covers[i];
    const struct perm_rules *rs = c->req->rules;
    for (size_t k = 0; rs && k < rs->n; k++) {
        const struct perm_rule *r = &rs->rules[k];
        if (rule_begins_otherwise(r, &c->texts[i]) || !rule_counts(r, &c->allow))
            continue;
        enum match_how how = rule_match_leaf(r, &c->texts[i], &c->sh.leaves[i], false);
        if (how <= v->rule.how)
            continue;
        const char *why = how == MATCH_PREFIX ? prefix_gap(c, i, r) : NULL;
        if (!why)
            why = place_gap(c, &c->sh.leaves[i], how);
        if (why)
            v->why = why;
        else if (!c->clean)
            v->why = "plan mode: rules let through only what is known to change nothing";
        else
            v->rule = (struct leaf_match){r, how};
    }
    v->env_named = rules_name_env(rs, &c->allow, &c->texts[i]);
}

/* Without operands these print every variable, and some hold credentials. */
static bool
prints_environment(const struct perm_leaf *l)
{
    static const char *const builtins[] = {"export", "declare", "typeset", "readonly", "local"};
    if (leaf_is(l, "set"))
        return l->n_argv == 1;
    if (!leaf_is_any(l, builtins, ARRAY_LEN(builtins)))
        return false;
    for (size_t k = 1; k < l->n_argv; k++)
        if (!l->argv[k].known || !l->argv[k].text.len || l->argv[k].text.ptr[0] != '-')
            return false;
    return true;
}

static bool
config_runs(struct chain *c)
{
    if (c->config == CONFIG_UNREAD)
        c->config = repo_config_runs(c->root) ? CONFIG_RUNS : CONFIG_PLAIN;
    return c->config == CONFIG_RUNS;
}

static bool
runs_free(struct chain *c, const struct perm_leaf *l)
{
    if (l->effects_unknown || l->raises_power || !l->name_known || prints_environment(l) ||
        wait_sets_name(l))
        return false;
    if (l->cls == CLASS_READER)
        return true;
    if (l->cls != CLASS_GIT_READ || !c->trusted)
        return false;
    return repo_git_is_own(c, l) && !config_runs(c);
}

/* An Edit rule speaks for this write, under each of its names, and nothing about the place is odd. */
static bool
write_is_allowed(const struct chain *c, const char *path)
{
    struct path_names n;
    path_names_init(&n, c->cwd, path, c->fold);
    bool ok = !n.lost && !path_has_other_names(&n) && path_in_roots(c, &n, false) &&
              rules_match_path(c->req->rules, &c->allow, "Edit", (const char *const *)n.v, n.n,
                               &c->anchor) != NULL;
    path_names_release(&n);
    return ok;
}

/* Whatever the pattern stands for: its one folder is known, and an Edit rule speaks for all that lies there. */
static bool
pattern_is_allowed(const struct chain *c, const char *pattern)
{
    size_t cut = strcspn(pattern, "*?[\\");
    if (strchr(pattern + cut, '/'))
        return false;
    while (cut > 0 && pattern[cut - 1] != '/')
        cut--;
    char *any = xasprintf("%.*s\x02", (int)cut, pattern);
    bool ok = write_is_allowed(c, any);
    free(any);
    return ok;
}

/* What Edit and Write may do without a question, an editor of single files may: rules for Edit cover all that it writes and
 * removes. Whole folders need a rule for the command. */
static bool
edits_are_allowed(const struct chain *c, const struct perm_leaf *l)
{
    bool any = false;
    if (c->mode == PERM_PLAN || !l->argv_known || !l->name_known)
        return false;
    for (size_t i = 0; i < l->n_effects; i++) {
        const struct perm_effect *e = &l->effects[i];
        if (!e->path || (e->glob && leaf_is(l, "mv")))
            return false;
        if (e->redirect || e->kind == EFFECT_READ)
            continue;
        if ((e->kind != EFFECT_WRITE && e->kind != EFFECT_DELETE) ||
            !(e->glob ? pattern_is_allowed(c, e->path) : write_is_allowed(c, e->path)))
            return false;
        any = true;
    }
    return any;
}

static bool
has_inner(const struct perm_analysis *sh, size_t i)
{
    for (size_t k = i + 1; k < sh->n_leaves; k++)
        if (sh->leaves[k].wrapper == i)
            return true;
    return false;
}

static void
cover_leaf(struct chain *c, size_t i)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    struct cover *v = &c->covers[i];
    cover_by_rule(c, i);
    v->free = runs_free(c, l);
    bool editor = l->cls == CLASS_EDITOR && !l->effects_unknown;
    bool tee = l->cls == CLASS_KNOWN && leaf_is(l, "tee") && !l->effects_unknown;
    v->editor =
        (editor && c->mode == PERM_ACCEPT_EDITS) || ((editor || tee) && edits_are_allowed(c, l));
    v->carried = l->n_argv == 0 || l->role == LEAF_INNER ||
                 (l->role == LEAF_WRAPPER && l->transparent && has_inner(&c->sh, i));
    if (l->wrapper >= i)
        return;
    /* Words that were approved as they stand, and what an opaque wrapper's own rule speaks for. */
    const struct cover *outer = &c->covers[l->wrapper];
    bool whole = outer->rule.how == MATCH_EXACT || outer->rule.how == MATCH_BLANKET ||
                 (outer->rule.how == MATCH_PREFIX && l->name_known &&
                  head_has_word(outer->rule.rule, l->argv[0].text));
    if ((whole || l->role == LEAF_INNER) && outer->rule.how > v->rule.how)
        v->rule = outer->rule;
}

static bool
changes_nothing(const struct perm_analysis *sh)
{
    for (size_t i = 0; i < sh->n_leaves; i++) {
        const struct perm_leaf *l = &sh->leaves[i];
        if (l->effects_unknown || l->cls == CLASS_UNKNOWN || l->cls == CLASS_DANGER)
            if (!(l->role == LEAF_WRAPPER && l->transparent) && l->n_argv)
                return false;
        for (size_t k = 0; k < l->n_effects; k++) {
            enum perm_effect_kind kind = l->effects[k].kind;
            if (kind != EFFECT_READ && kind != EFFECT_READ_TREE && kind != EFFECT_NET)
                return false;
        }
    }
    return !sh->incomplete && !sh->unparsable;
}

void
covers_make(struct chain *c)
{
    size_t n = c->sh.n_leaves;
    c->covers = xcalloc(n + 1, sizeof *c->covers);
    c->texts = xcalloc(n + 1, sizeof *c->texts);
    c->clean = c->mode != PERM_PLAN || changes_nothing(&c->sh);
    for (size_t i = 0; i < n; i++) {
        leaf_texts_init(&c->texts[i], &c->sh.leaves[i]);
        cover_leaf(c, i);
    }
}

void
covers_release(struct chain *c)
{
    for (size_t i = 0; i < c->sh.n_leaves; i++)
        leaf_texts_release(&c->texts[i]);
    free(c->texts);
    free(c->covers);
}
