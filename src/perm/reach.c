/*
 * Whether a read of a whole folder really reaches what a rule names. A rule for one place asks whether or not it is there now;
 * one that names files at any depth ("Read(.env)") asks for a folder of the project only where such a file is found in it.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

enum { ENTRIES_MAX = 6000, DEPTH_MAX = 24 };

/* Whether its pattern names files wherever they lie: a name without a folder, perhaps behind double stars or with all below it. */
static bool
at_any_depth(const struct perm_rule *r)
{
    struct str b = str_from(r->body);
    if (!r->body || str_starts(b, "/") || str_starts(b, "~") || str_starts(b, "./") ||
        str_starts(b, "../"))
        return false;
    while (str_starts(b, "**/"))
        b = str_sub(b, 3, b.len);
    if (str_ends(b, "/**"))
        b.len -= 3;
    if (str_ends(b, "/"))
        b.len--;
    return b.len > 0 && !memchr(b.ptr, '/', b.len);
}

struct walk {
    const struct chain *c;
    const struct rule_filter *list;
    size_t entries;
    bool clear;
};

static void
look_below(struct walk *w, const char *path, int depth)
{
    DIR *d = depth > DEPTH_MAX ? NULL : opendir(path);
    w->clear = w->clear && d;
    for (struct dirent *e = w->clear ? readdir(d) : NULL; e && w->clear; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char *at = fs_join(path, e->d_name);
        const char *names[] = {at};
        struct stat st;
        if (++w->entries > ENTRIES_MAX ||
            rules_match_path(w->c->req->rules, w->list, "Read", names, 1, &w->c->anchor))
            w->clear = false;
        else if (e->d_type == DT_DIR ||
                 (e->d_type == DT_UNKNOWN && lstat(at, &st) == 0 && S_ISDIR(st.st_mode)))
            look_below(w, at, depth + 1);
        free(at);
    }
    if (d)
        closedir(d);
}

/* The folder of a pattern up to its first wildcard. */
static char *
fixed_part(const char *path)
{
    size_t cut = strcspn(path, "*?[\\");
    if (!path[cut])
        return xstrdup(path);
    while (cut > 1 && path[cut - 1] != '/')
        cut--;
    return str_dup(str_make(path, cut));
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
    return false;
}

/* The project itself is no folder of it: what a rule names is most likely to lie right there, if not now then soon. */
static bool
below_root(const struct chain *c, const char *path)
{
    for (size_t i = 0; i < c->n_roots && i < 2; i++)
        if (path_inside(path, c->roots[i], c->fold) && strcmp(path, c->roots[i]) != 0)
            return true;
    return false;
}

bool
reach_is_clear(const struct chain *c, const struct rule_filter *list, const char *path)
{
    const struct perm_rules *rs = c->req->rules;
    for (size_t i = 0; rs && i < rs->n; i++) {
        const struct perm_rules one = {.rules = &rs->rules[i], .n = 1};
        if (!at_any_depth(&rs->rules[i]) &&
            rules_overlap_path(&one, list, "Read", path, true, &c->anchor))
            return false;
    }
    struct path_names n;
    struct walk w = {.c = c, .list = list, .clear = true};
    char *dir = fixed_part(path);
    path_names_init(&n, c->cwd, dir, c->fold);
    w.clear = !n.lost && !changes_before(c);
    for (size_t i = 0; i < n.n && w.clear; i++)
        w.clear = below_root(c, n.v[i]);
    struct stat st;
    if (w.clear && lstat(n.v[0], &st) == 0 && !S_ISDIR(st.st_mode))
        w.clear = S_ISREG(st.st_mode);
    else if (w.clear)
        look_below(&w, n.v[0], 0);
    path_names_release(&n);
    free(dir);
    return w.clear;
}
