/*
 * What find gives to a program that changes it, and what containers are given of the disk. The folders that find starts in are known, and a
 * lone -name narrows what comes out of them; so "find src -name '*.c' -exec sed -i ... {} +" need not ask because of a rule for
 * "config". Links on the way could lead anywhere: then it is not known.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
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
    bool found = depth > DEPTH_MAX;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char *at = fs_join(dir, e->d_name);
        bool known = lstat(at, &st) == 0;
        found = ++*entries > ENTRIES_MAX || (known && S_ISLNK(st.st_mode)) ||
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

/* ---- containers ---- */

/* A folder that a container sees, and may write unless it is said otherwise. */
static void
judge_mount(struct chain *c, const struct perm_leaf *l, struct str source, bool read_only)
{
    if (!source.len || source.len >= 4096 || memchr(source.ptr, '\0', source.len))
        return;
    const char *cwd = l->cwd ? l->cwd : c->root;
    char *text = str_dup(source), *path = fs_normalize(cwd, text);
    for (int write = 0; write <= !read_only && fs_exists(path); write++) {
        struct path_names n;
        if (chain_seen(c, xasprintf("mount %d %s", write, path)))
            continue;
        path_names_init(&n, cwd, text, c->fold);
        struct access a = {.kind = write ? EFFECT_WRITE : EFFECT_READ_TREE,
                           .path = n.v[0],
                           .shown = text,
                           .leaf = l,
                           .below = write};
        const struct perm_rule *whole = write ? trees_whole_rule(c, "Edit", &n) : NULL;
        if (whole)
            chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, whole, text,
                      "a container may change '%s', which a deny rule is about", text);
        else
            access_rules(c, &a, &n);
        path_names_release(&n);
    }
    free(path);
    free(text);
}

/* "SRC:DST[:ro]", "type=bind,src=SRC,dst=DST[,readonly]" */
static void
judge_mount_value(struct chain *c, const struct perm_leaf *l, struct str v, bool known)
{
    struct str rest = v, part;
    if (!known) {
        judge_mount(c, l, STR("."), false);
        return;
    }
    if (!memchr(v.ptr, '=', v.len)) {
        size_t colon = str_find(v, ':', 0);
        if (colon != (size_t)-1)
            judge_mount(c, l, str_sub(v, 0, colon),
                        str_ends(v, ":ro") || str_contains(v, STR(":ro,")));
        return;
    }
    bool read_only = str_contains(v, STR("readonly")) || str_contains(v, STR(",ro"));
    while (str_split(&rest, ',', &part))
        if (str_starts(part, "src=") || str_starts(part, "source="))
            judge_mount(c, l, str_sub(part, str_find(part, '=', 0) + 1, part.len), read_only);
}

void
judge_mounts(struct chain *c, const struct perm_leaf *l)
{
    bool boxes = leaf_is(l, "docker") || leaf_is(l, "podman") || leaf_is(l, "nerdctl");
    if (!boxes || !trees_rules_exist(c, true) || !trees_has(l, "run|create"))
        return;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool bundle = s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-' && s.ptr[s.len - 1] == 'v';
        bool name = bundle || str_is(s, "-v") || str_is(s, "--volume") || str_is(s, "--mount");
        if (name && i + 1 < l->n_argv)
            judge_mount_value(c, l, l->argv[i + 1].text, l->argv[i + 1].known);
        else if (str_starts(s, "--volume=") || str_starts(s, "--mount="))
            judge_mount_value(c, l, str_sub(s, str_find(s, '=', 0) + 1, s.len), l->argv[i].known);
        else if (str_starts(s, "-v") && s.len > 2)
            judge_mount_value(c, l, str_sub(s, 2, s.len), l->argv[i].known);
    }
}
