/*
 * What a recursive read can really reach. A rule for ".env" overlaps every folder; whether such a file lies in this one is looked at, so
 * that "grep -r x src" need not ask because of a file that is not there. Errs towards yes: past a number of entries, and where
 * another part of the command may make files first, everything may be there.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

enum { ENTRIES_MAX = 3000, DEPTH_MAX = 32, RULES_LOOKED = 64, ONLY_MAX = 8 };

struct reach {
    const struct chain *c;
    const char *tool;
    const struct path_names *top;
    const struct rule_filter *list;
    const struct perm_rule *rules[RULES_LOOKED]; /* those that overlap the tree at all */
    size_t n_rules;
    bool names_only;            /* what is read are names: only rules for whole folders matter */
    const char *only[ONLY_MAX]; /* patterns of the names of files that are read; none: all */
    char *owned[ONLY_MAX];
    size_t n_only, entries;
    const struct perm_rule *found;
    bool lost;
};

/* ---- what the command says about it ---- */

static bool
lists_names(const struct perm_leaf *l)
{
    static const char *const programs[] = {"find", "fd",   "fdfind", "du",
                                           "ls",   "tree", "exa",    "eza"};
    for (size_t i = 0; l->cls == CLASS_READER && i < ARRAY_LEN(programs); i++)
        if (leaf_is(l, programs[i]))
            return true;
    return false;
}

/* The pattern of "--include=X", "-g X" and the like at *i, which is moved past it. */
static struct str
pattern_of(const struct perm_leaf *l, size_t *i, const char *name, const char *letter)
{
    struct str s = l->argv[*i].text;
    size_t n = strlen(name);
    if (str_starts(s, name) && s.len > n && s.ptr[n] == '=')
        return str_sub(s, n + 1, s.len);
    if ((str_is(s, name) || (letter && str_is(s, letter))) && *i + 1 < l->n_argv)
        return l->argv[++*i].text;
    if (letter && str_starts(s, letter) && s.len > 2)
        return str_sub(s, 2, s.len);
    return (struct str){0};
}

/* "grep --include", "rg -g": only files of these names are read. A pattern that is not plain speaks for none. */
static void
read_only_patterns(struct reach *r, const struct perm_leaf *l)
{
    bool grep = leaf_is(l, "grep") || leaf_is(l, "egrep") || leaf_is(l, "fgrep");
    if (!grep && !leaf_is(l, "rg"))
        return;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = pattern_of(l, &i, grep ? "--include" : "--glob", grep ? NULL : "-g");
        if (!s.ptr)
            continue;
        bool plain = s.len && l->argv[i].known && r->n_only < ONLY_MAX;
        for (size_t k = 0; k < s.len; k++)
            plain = plain && s.ptr[k] && !strchr("!/{[\\", s.ptr[k]);
        if (!plain) {
            r->n_only = 0;
            return;
        }
        r->owned[r->n_only] = str_dup(s);
        r->only[r->n_only] = r->owned[r->n_only];
        r->n_only++;
    }
}

/* ---- the walk ---- */

static bool
is_read(const struct reach *r, const char *name)
{
    if (!r->n_only)
        return true;
    for (size_t i = 0; i < r->n_only; i++)
        if (fnmatch(r->only[i], name, 0) == 0)
            return true;
    return false;
}

/* A plain last component can be told apart without the whole match. */
static bool
may_match(const struct perm_rule *rule, const char *name, bool fold)
{
    const char *last = strrchr(rule->body, '/');
    last = last ? last + 1 : rule->body;
    if (!*last || strpbrk(last, "*?[{\\"))
        return true;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p >= 0x80)
            return true; /* it may be another spelling */
    for (const char *p = last; *p; p++)
        if ((unsigned char)*p >= 0x80)
            return true;
    return fold ? strcasecmp(last, name) == 0 : strcmp(last, name) == 0;
}

static void
look_at(struct reach *r, const char *rel, const char *name)
{
    char *paths[3] = {NULL};
    for (size_t i = 0; i < r->n_rules && !r->found; i++) {
        if (!may_match(r->rules[i], name, r->c->fold))
            continue;
        for (size_t k = 0; k < r->top->n && !paths[k]; k++)
            paths[k] = fs_join(r->top->v[k], rel);
        const struct perm_rules one = {.rules = (struct perm_rule *)r->rules[i], .n = 1};
        if (rules_match_path(&one, r->list, r->tool, (const char *const *)paths, r->top->n,
                             &r->c->anchor))
            r->found = r->rules[i];
    }
    for (size_t k = 0; k < ARRAY_LEN(paths); k++)
        free(paths[k]);
}

static void
walk(struct reach *r, const char *dir, const char *rel, int depth)
{
    DIR *d = depth > DEPTH_MAX ? NULL : opendir(dir);
    if (!d) {
        r->lost = r->lost || depth > DEPTH_MAX; /* what cannot be opened cannot be read either */
        return;
    }
    for (struct dirent *e = readdir(d); e && !r->found && !r->lost; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        r->lost = ++r->entries > ENTRIES_MAX;
        char *at = fs_join(dir, e->d_name),
             *below = *rel ? fs_join(rel, e->d_name) : xstrdup(e->d_name);
        struct stat st;
        bool folder = e->d_type == DT_DIR ||
                      (e->d_type == DT_UNKNOWN && lstat(at, &st) == 0 && S_ISDIR(st.st_mode));
        if (folder || is_read(r, e->d_name))
            look_at(r, below, e->d_name);
        if (folder && !r->found)
            walk(r, at, below, depth + 1);
        free(at);
        free(below);
    }
    closedir(d);
}

/* ---- the question ---- */

static void
pick_rules(struct reach *r)
{
    const struct perm_rules *rs = r->c->req->rules;
    for (size_t i = 0; rs && i < rs->n; i++) {
        const struct perm_rule *rule = &rs->rules[i];
        const struct perm_rules one = {.rules = (struct perm_rule *)rule, .n = 1};
        bool overlaps = false;
        if (!rule_counts(rule, r->list))
            continue;
        for (size_t k = 0; k < r->top->n && !overlaps; k++)
            overlaps = rules_overlap_path(&one, r->list, r->tool, r->top->v[k], true,
                                          &r->c->anchor) != NULL;
        bool whole = !rule->body || str_ends(str_from(rule->body), "/**") ||
                     str_ends(str_from(rule->body), "/");
        if (!overlaps || (r->names_only && !whole))
            continue;
        if (r->n_rules == RULES_LOOKED || !rule->body) {
            r->found = rule;
            return;
        }
        r->rules[r->n_rules++] = rule;
    }
}

/* An earlier part of the call may put such a file there first. */
static bool
changes_before(const struct chain *c)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        bool empty = leaf_is(l, "mkdir") || leaf_is(l, "touch"); /* what they make holds nothing */
        for (size_t k = 0; k < l->n_effects && !empty; k++)
            if (l->effects[k].kind == EFFECT_WRITE &&
                (!l->effects[k].path || !l->effects[k].redirect))
                return true;
    }
    return c->sh.incomplete || c->sh.unparsable;
}

/* The project itself is no folder of it: what a rule names is most likely to lie right there, if not now then soon. */
static bool
below_root(const struct chain *c, const struct path_names *n)
{
    for (size_t i = 0; i < n->n; i++) {
        bool below = false;
        for (size_t k = 0; k < c->n_roots && k < 2; k++)
            below = below || (path_inside(n->v[i], c->roots[k], c->fold) &&
                              strcmp(n->v[i], c->roots[k]) != 0);
        if (!below)
            return false;
    }
    return true;
}

/* A reader whose unknown words are only what find or a pipe names, all below folders that are among its effects. */
static bool
given_names(const struct chain *c, const struct perm_leaf *l)
{
    if (l->cls != CLASS_READER || l->effects_unknown || !l->name_known ||
        l->wrapper >= c->sh.n_leaves)
        return false;
    const struct perm_leaf *outer = &c->sh.leaves[l->wrapper];
    for (size_t i = 0; i < l->n_effects; i++)
        if (!l->effects[i].path)
            return false;
    return outer->cls == CLASS_READER && !outer->effects_unknown &&
           (leaf_is(outer, "find") || leaf_is(outer, "xargs"));
}

const struct perm_rule *
tree_reaches(const struct chain *c, const struct access *a, const struct rule_filter *f,
             const char *tool, const struct path_names *n)
{
    struct reach r = {.c = c, .tool = tool, .top = n, .list = f};
    bool known = a->leaf->argv_known;
    r.names_only = known && lists_names(a->leaf);
    if (known)
        read_only_patterns(&r, a->leaf);
    pick_rules(&r);
    bool looks = !n->lost && (known || given_names(c, a->leaf)) && !changes_before(c) &&
                 (r.names_only || r.n_only || below_root(c, n));
    if (!r.found && r.n_rules && looks)
        walk(&r, n->v[n->n - 1], "", 0);
    if (!r.found && r.n_rules && (!looks || r.lost))
        r.found = r.rules[0];
    for (size_t i = 0; i < ARRAY_LEN(r.owned); i++)
        free(r.owned[i]);
    return r.found;
}
