/*
 * Layer 5, one file access at a time: the same judgement for tools and for what shell commands do. Rules first, then places
 * that are guarded in themselves, then whether anything covers it. Both the name and what it leads to are judged: an allow
 * needs all of them, a deny any.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/looks.h"
#include "perm/matches.h"
#include "perm/trees.h"

enum { MATCHES_MAX = 2000 };

static bool
path_rules_exist(const struct chain *c, const struct access *a)
{
    const struct perm_rules *rs = c->req->rules;
    if (a->kind == EFFECT_EXEC) /* what runs may be what a rule for Bash names */
        return rules_any(rs, &c->deny, "Bash") || rules_any(rs, &c->ask, "Bash");
    return c->denies_read || (access_kinds[a->kind].write && c->denies_edit);
}

static enum match_how
cover_how(const struct access *a)
{
    /* A redirection is the shell's own write, no operand of the program that a rule named. */
    return a->cover && !a->redirect ? a->cover->rule.how : MATCH_NONE;
}

/* ---- guarded places ---- */

static bool
harmless(const struct path_names *n)
{
    return path_device_harmless(n->v[0]);
}

/* The history of a repository goes with its folder, with what lies in it and with what it is made of. */
static bool
holds_history(const struct access *a, const char *path)
{
    const char *in = NULL;
    for (const char *p = path; (p = strstr(p, "/.git")); p += 5)
        if (p[5] == 0 || p[5] == '/')
            in = p + 5;
    return in && a->kind == EFFECT_DELETE_TREE &&
           (!*in || in[1] == '*' || strcmp(in, "/objects") == 0 || strcmp(in, "/refs") == 0);
}

static void
judge_removal(struct chain *c, const struct access *a, const char *path)
{
    const char *what = path_critical(c, a, path);
    if (!what && holds_history(a, path))
        what = "a repository's whole history";
    if (what)
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, a->shown, "it removes %s ('%s')", what,
                  path);
}

/* False: asked already, whether it is covered no longer matters. */
static bool
judge_guards(struct chain *c, const struct access *a, const struct path_names *n)
{
    bool write = access_kinds[a->kind].write, own = false, asked = false;
    bool removes = a->kind == EFFECT_DELETE || a->kind == EFFECT_DELETE_TREE;
    for (size_t i = 0; i < n->n; i++) {
        const char *p = n->v[i];
        if (removes)
            judge_removal(c, a, p);
        const char *special = path_special(p, write);
        if (special) {
            /* "/proc/self/cwd/.env" is what nobody can tell from here. */
            bool hides = path_leads_anywhere(p) && path_rules_exist(c, a);
            chain_add(c, "L5", VERDICT_ASK, write || hides ? FORCE_HARD : FORCE_PLAIN, NULL,
                      a->shown, "'%s' is special: %s", p, special);
            asked = true;
        }
        const char *what = write ? path_protected(c, p, removes || a->below, &own) : NULL;
        if (what) {
            chain_add(c, "L5", VERDICT_ASK, own ? FORCE_HARD : FORCE_PERSON, NULL, a->shown,
                      "'%s' is protected: %s", p, what);
            asked = true;
        } else if (a->below && a->leaf && judge_protected_below(c, a, p)) {
            asked = true;
        }
    }
    if (n->lost && !asked) {
        chain_add(c, "L5", VERDICT_ASK, FORCE_PLAIN, NULL, a->shown,
                  "where '%s' leads cannot be told", n->v[0]);
        asked = true;
    }
    return !asked;
}

/* ---- is it covered ---- */

static bool
any_secret(const struct chain *c, const struct path_names *n)
{
    for (size_t i = 0; i < n->n; i++)
        if (path_secret(c, n->v[i]))
            return true;
    return false;
}

/* An allow rule for the path. A tree needs a rule for whatever may lie in it. */
static const struct perm_rule *
path_allowed(const struct chain *c, const struct access *a, const struct path_names *n)
{
    const struct perm_rule *r = NULL;
    struct path_names deep = {0};
    bool tree = access_kinds[a->kind].tree && a->kind != EFFECT_DELETE;
    if (c->mode == PERM_PLAN && access_kinds[a->kind].write)
        return NULL;
    struct perm_rules only = {0};
    bool looked = c->req->rules && may_pass(c->req->rules->n);
    for (size_t i = 0; looked && !r && i < c->req->rules->n; i++) {
        const struct perm_rule *one = &c->req->rules->rules[i];
        /* Rules for the bare tool are judged by the tool's place, below. */
        if (!one->body || !rule_counts(one, &c->allow) || rule_is_for_bash(one))
            continue;
        for (; deep.n < n->n; deep.n++)
            deep.v[deep.n] =
                tree || a->glob ? xasprintf("%s/\x02/\x02", n->v[deep.n]) : xstrdup(n->v[deep.n]);
        only.rules = (struct perm_rule *)one;
        only.n = 1;
        const char *const *v = (const char *const *)deep.v;
        if (rules_match_path(&only, &c->allow, access_rule_tool(a), v, deep.n, &c->anchor) ||
            (a->cd && rules_match_path(&only, &c->allow, "Cd", v, deep.n, &c->anchor)))
            r = one;
    }
    path_names_release(&deep);
    return r;
}

static bool
read_covered(const struct chain *c, const struct access *a, const struct path_names *n)
{
    if (path_in_roots(c, n, true))
        return true;
    enum match_how how = cover_how(a);
    if (how == MATCH_EXACT)
        return true;
    return (how != MATCH_NONE || a->tool_rule) && !any_secret(c, n);
}

/* Into a file that may have a name elsewhere. Tools put a new file in its place. */
static bool
writes_through(const struct access *a, const struct path_names *n)
{
    return a->kind == EFFECT_WRITE && a->cover && path_has_other_names(n);
}

static bool
write_covered(const struct chain *c, const struct access *a, const struct path_names *n)
{
    enum match_how how = cover_how(a);
    bool inside = path_in_roots(c, n, false), tool = !a->cover;
    if (how == MATCH_EXACT || how == MATCH_BLANKET)
        return true;
    if (!inside || writes_through(a, n))
        return false;
    if (how != MATCH_NONE || a->tool_rule)
        return true;
    if (c->mode == PERM_AUTO && tool) /* a command that writes is the classifier's to judge */
        return true;
    return c->mode == PERM_ACCEPT_EDITS && (tool || a->redirect || a->cover->editor);
}

/* Where it lies, for a reason. */
static const char *
place(const struct chain *c, const struct access *a, const struct path_names *n)
{
    if (path_in_roots(c, n, false) && writes_through(a, n))
        return "a file with other names, which may lie outside the project";
    if (path_in_roots(c, n, false))
        return "inside the project";
    return any_secret(c, n) ? "outside the project, where credentials are kept"
                            : "outside the project";
}

/* Edit without brackets is for the shell what it is for the tools: single files, in the project. */
static const struct perm_rule *
bare_edit(const struct chain *c, const struct access *a, const struct path_names *n)
{
    bool edit = a->cover && (a->redirect || a->cover->editor) && access_kinds[a->kind].write &&
                !access_kinds[a->kind].tree;
    if (!edit || c->mode == PERM_PLAN || !path_in_roots(c, n, false))
        return NULL;
    for (size_t i = 0; c->req->rules && i < c->req->rules->n; i++) {
        const struct perm_rule *r = &c->req->rules->rules[i];
        if (!r->body && strcmp(r->tool, "Edit") == 0 && rule_counts(r, &c->allow))
            return r;
    }
    return NULL;
}

/* A rule with a pattern speaks for names, not for the other names that a file has. */
static const struct perm_rule *
place_rule(const struct chain *c, const struct access *a, const struct path_names *n)
{
    if (a->kind == EFFECT_EXEC)
        return NULL;
    const struct perm_rule *r = path_allowed(c, a, n);
    if (!r)
        r = bare_edit(c, a, n);
    bool pattern = r && (!r->body || strpbrk(r->body, "*?[{"));
    return pattern && writes_through(a, n) ? NULL : r;
}

static void
judge_place(struct chain *c, const struct access *a, const struct path_names *n)
{
    bool write = access_kinds[a->kind].write;
    const struct perm_rule *r = place_rule(c, a, n);
    const char *leads = n->v[n->n - 1];
    if (r) {
        chain_add(c, "rules", VERDICT_ALLOW, FORCE_PLAIN, r, a->shown, "an allow rule names '%s'",
                  n->v[0]);
        return;
    }
    bool ok = write                    ? write_covered(c, a, n)
              : a->kind == EFFECT_EXEC ? cover_how(a) != MATCH_NONE
                                       : read_covered(c, a, n);
    if (!ok) {
        chain_add(c, "L5", VERDICT_ASK, FORCE_PLAIN, NULL, a->shown,
                  "it %s '%s', %s, and no rule covers that", access_kinds[a->kind].verb, leads,
                  place(c, a, n));
    } else if (!a->cover || a->redirect) {
        const char *by = a->tool_rule           ? "an allow rule"
                         : !write               ? "reading inside the project"
                         : c->mode == PERM_AUTO ? "auto mode"
                                                : "accept edits mode";
        chain_add(c,
                  a->tool_rule ? "rules"
                  : write      ? "mode"
                               : "L5",
                  VERDICT_ALLOW, FORCE_PLAIN, a->tool_rule, a->shown, "%s covers '%s'", by, leads);
    }
}

/* ---- patterns ---- */

static char *
fixed_folder(const char *pattern)
{
    size_t end = 0;
    for (size_t i = 0; pattern[i] && !strchr("*?[\\", pattern[i]); i++)
        if (pattern[i] == '/')
            end = i;
    return end ? str_dup(str_make(pattern, end)) : xstrdup("/");
}

/* A plain name in the last place reaches what a link may lead to only when it is a link. */
static bool
match_needs_look(const struct access *a, const char *pattern, const char *path)
{
    struct stat st;
    const char *slash = strrchr(pattern, '/');
    size_t head = slash ? (size_t)(slash - pattern) : 0;
    if (access_kinds[a->kind].write || strcspn(pattern, "*?[") < head)
        return true;
    return lstat(path, &st) != 0 || S_ISLNK(st.st_mode) ||
           (access_kinds[a->kind].tree && S_ISDIR(st.st_mode));
}

/* Nothing that a written pattern stands for is there yet, or known: when it runs there may be. */
static void
judge_unmatched(struct chain *c, const struct access *a, const char *pattern, size_t matches)
{
    bool own = false;
    const char *what =
        access_kinds[a->kind].write && !matches ? path_pattern_protected(c, pattern, &own) : NULL;
    if (what)
        chain_add(c, "L5", VERDICT_ASK, own ? FORCE_HARD : FORCE_PERSON, NULL, a->shown,
                  "'%s' may stand for a protected path: %s", a->path, what);
}

static void
judge_pattern(struct chain *c, const struct access *a)
{
    glob_t g;
    struct access one = *a;
    enum force force = path_rules_exist(c, a) ? FORCE_HARD : FORCE_PLAIN;
    struct path_names n;

    path_names_init(&n, c->cwd, a->path, c->fold);
    if (!access_rules(c, a, &n)) {
        path_names_release(&n);
        return;
    }
    if (a->kind == EFFECT_DELETE || a->kind == EFFECT_DELETE_TREE)
        judge_removal(c, a, n.v[0]);
    int failed = path_glob(n.v[0], &g);
    if (failed && failed != GLOB_NOMATCH)
        chain_add(c, "L5", VERDICT_ASK, force, NULL, a->shown,
                  "what '%s' stands for cannot be told", a->path);
    if (g.gl_pathc > MATCHES_MAX)
        chain_add(c, "L5", VERDICT_ASK, force, NULL, a->shown, "'%s' stands for too many files",
                  a->path);
    one.glob = false;
    for (size_t i = 0; !failed && i < g.gl_pathc && i < MATCHES_MAX; i++) {
        if (!match_needs_look(a, n.v[0], g.gl_pathv[i]))
            continue;
        one.path = g.gl_pathv[i];
        one.shown = g.gl_pathv[i];
        judge_access(c, &one);
    }
    judge_unmatched(c, a, n.v[0], failed ? 0 : g.gl_pathc);
    globfree(&g);
    path_names_release(&n);

    char *folder = fixed_folder(a->path);
    path_names_init(&n, c->cwd, folder, c->fold);
    judge_place(c, a, &n);
    path_names_release(&n);
    free(folder);
}

/* ---- the whole ---- */

/* What is known of it already names a place that no broad rule speaks of. */
static bool
shown_is_secret(const char *shown)
{
    static const char *const marks[] = {"/proc/", ".ssh",        ".aws",  ".gnupg",
                                        ".netrc", "credentials", "shadow"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (strstr(shown, marks[i]))
            return true;
    return false;
}

static void
judge_unknown(struct chain *c, const struct access *a)
{
    const char *shown = a->shown && *a->shown ? a->shown : "a file";
    if (access_kinds[a->kind].write && strcmp(shown, "{}") == 0)
        judge_protected_found(c, a);
    if (a->kind == EFFECT_DELETE_TREE)
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown,
                  "it removes everything below '%s', which cannot be known before it runs", shown);
    else if (path_rules_exist(c, a) &&
             !(access_kinds[a->kind].write && strcmp(shown, "{}") == 0 && trees_found(c, a->leaf)))
        chain_add(
            c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown,
            "it %s '%s', which cannot be known before it runs and may be what a deny rule names",
            access_kinds[a->kind].verb, shown);
    else if (cover_how(a) == MATCH_NONE ||
             (cover_how(a) != MATCH_EXACT && shown_is_secret(shown)) ||
             (access_kinds[a->kind].write && cover_how(a) == MATCH_PREFIX))
        chain_add(c, "L5", VERDICT_ASK, FORCE_PLAIN, NULL, shown,
                  "it %s '%s', which cannot be known before it runs", access_kinds[a->kind].verb,
                  shown);
}

static void
judge_net(struct chain *c, const struct access *a)
{
    const char *host = a->path && *a->path ? a->path : "the network";
    if (cover_how(a) == MATCH_NONE)
        chain_add(c, "L5", VERDICT_ASK, FORCE_PLAIN, NULL, a->shown,
                  "it connects to %s and no rule covers that", host);
}

/* Into the record: its name, and each place that it leads to. */
static void
note_effect(struct chain *c, const struct access *a, const struct path_names *n)
{
    const char *kind = access_kinds[a->kind].name;
    if (n->n == 1)
        decision_add_effect(c->d, kind, n->v[0], NULL);
    for (size_t i = 1; i < n->n; i++)
        decision_add_effect(c->d, kind, n->v[0], n->v[i]);
}

void
judge_access(struct chain *c, const struct access *a)
{
    struct path_names n;
    if (a->kind == EFFECT_NET || !a->path || a->glob)
        decision_add_effect(c->d, access_kinds[a->kind].name, a->path, NULL);
    if (a->kind == EFFECT_NET) {
        judge_net(c, a);
        return;
    }
    if (!a->path) {
        judge_unknown(c, a);
        return;
    }
    if (a->glob) {
        judge_pattern(c, a);
        return;
    }
    if (a->itself)
        path_names_init_itself(&n, c->cwd, a->path, c->fold);
    else
        path_names_init(&n, c->cwd, a->path, c->fold);
    note_effect(c, a, &n);
    struct access named = *a;
    if (!named.shown || !*named.shown)
        named.shown = n.v[0];
    if (!harmless(&n) && access_rules(c, &named, &n) && judge_guards(c, &named, &n))
        judge_place(c, &named, &n);
    path_names_release(&n);
}
