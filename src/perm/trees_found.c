/*
 * What find gives to a program that changes it. The folders that find starts in are known, and a lone -name narrows what comes out of
 * them; so "find src -name '*.c' -exec sed -i ... {} +" need not ask because of a rule for "config". Links on the way could lead
 * anywhere: then it is not known.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/looks.h"
#include "perm/trees.h"

enum { ENTRIES_MAX = 12000, DEPTH_MAX = 32 };

static const struct perm_leaf *
finder_of(const struct chain *c, const struct perm_leaf *l)
{
    const struct perm_leaf *f = l->wrapper < c->sh.n_leaves ? &c->sh.leaves[l->wrapper] : NULL;
    return f && (leaf_is(f, "find") || leaf_is(f, "fd") || leaf_is(f, "fdfind")) ? f : NULL;
}

bool
trees_is_given_found(const struct chain *c, const struct perm_leaf *l)
{
    const struct perm_leaf *f = finder_of(c, l);
    if (!f || !leaf_is(f, "find"))
        return false; /* fd has a row of its own */
    for (size_t i = 1; i < l->n_argv; i++)
        if (!l->argv[i].known)
            return true;
    return false;
}

/* The pattern of a lone -name that nothing but "and" joins; *ret_files: no links come out. NULL: any name. Yours. */
static char *
lone_name(const struct perm_leaf *f, bool *ret_files)
{
    struct str name = {0};
    size_t names = 0, types = 0;
    for (size_t i = 1; i < f->n_argv; i++) {
        struct str s = f->argv[i].text;
        if (!f->argv[i].known || str_is(s, "-o") || str_is(s, "-or") || str_is(s, "!") ||
            str_is(s, "-not") || str_is(s, ",") || str_is(s, "-L") || str_is(s, "-follow"))
            return NULL;
        bool value = i + 1 < f->n_argv && f->argv[i + 1].known;
        if (str_is(s, "-exec") || str_is(s, "-execdir") || str_is(s, "-ok") || str_is(s, "-okdir"))
            break;
        if (str_is(s, "-name") && value && ++names == 1)
            name = f->argv[i + 1].text;
        types += str_is(s, "-type") && value && str_is(f->argv[i + 1].text, "f");
    }
    *ret_files = types > 0;
    return names == 1 ? str_dup(name) : NULL;
}

/* A link, or too much to look at. */
static bool
has_links(const char *dir, size_t *entries, int depth)
{
    DIR *d = depth > DEPTH_MAX ? NULL : opendir(dir);
    bool found = depth > DEPTH_MAX || !may_walk(LOOK_FOLDER);
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char *at = fs_join(dir, e->d_name);
        bool known = lstat(at, &st) == 0;
        found = ++*entries > ENTRIES_MAX || !may_walk(LOOK_NAME + LOOK_STAT) ||
                (known && S_ISLNK(st.st_mode)) ||
                (known && S_ISDIR(st.st_mode) && has_links(at, entries, depth + 1));
        free(at);
    }
    if (d)
        closedir(d);
    return found;
}

/* Another part of the call may make files or links first. */
static bool
writes(const struct perm_leaf *l)
{
    for (size_t i = 0; i < l->n_effects; i++)
        if (l->effects[i].kind == EFFECT_WRITE)
            return true;
    return l->effects_unknown;
}

static bool
others_write(const struct chain *c, const struct perm_leaf *f)
{
    for (size_t i = 0; i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        bool own = l == f || (l->wrapper < c->sh.n_leaves && &c->sh.leaves[l->wrapper] == f);
        if (!own && writes(l))
            return true;
    }
    return c->sh.incomplete || c->sh.unparsable;
}

static void
judge_start(struct chain *c, const struct perm_leaf *f, const char *path, const char *only)
{
    struct path_names n;
    if (chain_seen(c, xasprintf("found %s %s", path, only ? only : "")))
        return;
    path_names_init(&n, c->cwd, path, c->fold);
    struct access a = {
        .kind = EFFECT_WRITE, .path = path, .shown = path, .leaf = f, .below = true, .only = only};
    access_rules(c, &a, &n);
    path_names_release(&n);
}

bool
trees_found(struct chain *c, const struct perm_leaf *l)
{
    const struct perm_leaf *f = l ? finder_of(c, l) : NULL;
    if (!f || !leaf_is(f, "find") || !f->argv_known || f->n_cwds != 1 || others_write(c, f))
        return false;
    bool files = false, any = false, known = true;
    size_t entries = 0;
    char *only = lone_name(f, &files);
    for (size_t i = 0; i < f->n_effects && known; i++) {
        const struct perm_effect *e = &f->effects[i];
        if (e->kind != EFFECT_READ_TREE)
            continue;
        known = e->path && !e->glob && !trees_has(f, "-L|-follow|-H") &&
                (files || !has_links(e->path, &entries, 0));
        any = any || known;
        if (known)
            judge_start(c, f, e->path, only);
    }
    free(only);
    return any && known;
}

void
trees_ask_of_anything(struct chain *c, const struct perm_leaf *l)
{
    const struct perm_rules *rs = c->req->rules;
    const struct perm_rule *r = rules_overlap_path(rs, &c->deny, "Edit", c->root, true, &c->anchor);
    char *shown = str_dup(l->argv[0].text);
    if (r)
        chain_add(
            c, "rules", VERDICT_ASK, FORCE_HARD, r, shown,
            "what '%s' changes cannot be told before it runs, and the rule names some of what "
            "may be",
            shown);
    free(shown);
}
