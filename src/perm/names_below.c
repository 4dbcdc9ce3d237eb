/*
 * What lies below the folders that names come from (names.c). Where it is certain that no name can be taken for an option or fall apart
 * into others, and where the links among them lead, the inner command is judged as one that reads those folders.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/repo.h"
#include "perm/looks.h"
#include "perm/shell.h"

enum { ENTRIES_MAX = 6000, LINKS_MAX = 200, DEPTH_MAX = 24 };

struct look {
    struct sh *sh;
    size_t leaf; /* links below are reads of its own */
    size_t entries, links;
    bool odd; /* a name with a blank, a quote or a backslash, or a leading dash */
    bool lost;
    const char *only; /* the names that come out of it match this, or NULL */
    bool no_links;    /* and are no links */
    bool quoted;      /* ... and when git would put it into quotes */
    bool flat;        /* only what lies in the folder itself */
    bool globs;       /* a name is odd too when it is a pattern */
};

static bool
name_is_odd(const struct look *k, const char *s)
{
    if (*s == '-')
        return true;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || (k->quoted && (unsigned char)*s >= 0x80) ||
            (k->globs && strchr("*?[", *s)) || *s == 0x7f || *s == '\'' || *s == '"' || *s == '\\')
            return true;
    return false;
}

static void
look_below(struct look *k, const char *path, int depth)
{
    DIR *d = opendir(path);
    if (!d)
        return; /* no folder, or one that cannot be read: no names come out of it */
    k->lost = k->lost || depth > DEPTH_MAX || !may_walk(LOOK_FOLDER);
    for (struct dirent *e = readdir(d); e && !k->lost; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        bool named = !k->only || fnmatch(k->only, e->d_name, 0) == 0;
        k->odd = k->odd || ((named || e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) &&
                            name_is_odd(k, e->d_name));
        k->lost = ++k->entries > ENTRIES_MAX || !may_walk(LOOK_NAME + LOOK_STAT);
        if (e->d_type != DT_DIR && e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
            continue;
        const char *at = arena_printf(k->sh->a, "%s/%s", path, e->d_name);
        struct stat st;
        if (lstat(at, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            if (!k->flat)
                look_below(k, at, depth + 1);
        } else if (!named || k->no_links)
            continue;
        else if (S_ISLNK(st.st_mode) && ++k->links > LINKS_MAX)
            k->lost = true;
        else if (S_ISLNK(st.st_mode) && k->leaf != SIZE_MAX)
            effect_text(k->sh, k->leaf,
                        stat(at, &st) == 0 && S_ISDIR(st.st_mode) ? EFFECT_READ_TREE : EFFECT_READ,
                        str_from(at));
    }
    closedir(d);
}

struct listed {
    struct look *k;
    const char *top, *dir;
};

static bool
look_at_listed(void *arg, struct str name)
{
    struct listed *t = arg;
    struct look *k = t->k;
    struct stat st;
    const char *path = arena_printf(k->sh->a, "%s/%.*s", strcmp(t->top, "/") == 0 ? "" : t->top,
                                    (int)name.len, name.ptr);
    size_t n = strlen(t->dir);
    k->lost = k->lost || ++k->entries > ENTRIES_MAX || !may_walk(LOOK_STAT) || str_ends(name, "/");
    if (k->lost || strncmp(path, t->dir, n) != 0 || path[n] != '/')
        return !k->lost;
    k->odd = k->odd || name_is_odd(k, path + n + 1);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && k->leaf != SIZE_MAX)
        effect_text(k->sh, k->leaf, EFFECT_READ, str_from(path));
    return true;
}

/* What git ls-files names below dir: the names of its index. */
static void
look_at_index(struct look *k, const char *dir)
{
    bool found = false;
    char *top = repo_find_top(dir);
    struct listed t = {.k = k, .top = top, .dir = dir};
    if (top && !repo_each_tracked(top, look_at_listed, &t, &found) && found)
        k->lost = true;
    /* Without a repository there are no names; a folder with a HEAD may be one that has no work tree of its own. */
    char *bare = top ? NULL : fs_find_up(dir, "HEAD");
    k->lost = k->lost || bare;
    free(bare);
    free(top);
}

bool
leaf_changes(const struct perm_leaf *l)
{
    bool wrapper = l->role == LEAF_WRAPPER && l->transparent;
    if (l->effects_unknown && !wrapper)
        return true;
    for (size_t k = 0; k < l->n_effects; k++)
        if (l->effects[k].kind != EFFECT_READ && l->effects[k].kind != EFFECT_READ_TREE)
            return true;
    return false;
}

bool
changed_before(const struct sh *sh, size_t to)
{
    for (size_t i = 0; i < to && i < sh->ret->n_leaves; i++)
        if (leaf_changes(&sh->ret->leaves[i]))
            return true;
    return false;
}

static void
below_one(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w)
{
    struct word dir = word_literal(sh, w->below);
    dir.src = w->src;
    const struct cwdset *c = &sh->st.cwd;
    struct look k = {.sh = sh, .leaf = leaf, .lost = c->n != 1 || c->unknown};
    /* Of a folder with that name all is read: only of files it says enough. */
    struct str only = kind == EFFECT_READ_TREE && !w->no_links ? str_from(NULL) : w->only;
    k.only = only.len ? arena_dup(sh->a, only.ptr, only.len) : NULL;
    k.no_links = w->no_links;
    k.flat = w->found && w->found->n.flat && kind == EFFECT_READ;
    const char *path = k.lost ? NULL : path_clean(sh->a, c->dir[0], w->below);
    bool reads = kind == EFFECT_READ || kind == EFFECT_READ_TREE;
    if (reads && path && !changed_before(sh, leaf)) {
        if (w->tracked) {
            effect_span(sh, leaf, &dir, SPAN_TRACKED);
            look_at_index(&k, path);
        } else {
            effect_only(sh, leaf, &dir, only);
            look_below(&k, path, 0);
        }
    } else {
        k.lost = true;
    }
    if (leaf_at(sh, leaf))
        leaf_at(sh, leaf)->looked = true;
    if (!k.lost)
        return;
    bool removes = kind == EFFECT_DELETE || kind == EFFECT_DELETE_TREE;
    struct word u = word_unknown(w->src, true);
    effect_add(sh, leaf, removes ? EFFECT_DELETE_TREE : kind, removes ? &dir : &u);
    effect_unknown(sh, leaf, "what lies there was not looked at in full");
}

void
effect_below(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w)
{
    struct word one = *w;
    for (size_t i = 0; w->found && i < w->found->n.n; i++) {
        one.below = w->found->n.below[i];
        below_one(sh, leaf, kind, &one);
    }
    if (!w->found)
        below_one(sh, leaf, kind, w);
}

bool
names_are_plain(struct sh *sh, const struct names *n, bool globs)
{
    const struct cwdset *c = &sh->st.cwd;
    struct look k = {
        .sh = sh, .leaf = SIZE_MAX, .globs = globs, .flat = n->flat, .quoted = n->quoted};
    k.only = n->only.len ? arena_dup(sh->a, n->only.ptr, n->only.len) : NULL;
    if (c->n != 1 || c->unknown || changed_before(sh, sh->ret->n_leaves))
        return false;
    for (size_t i = 0; i < n->n && !k.lost; i++) {
        const char *path = path_clean(sh->a, c->dir[0], n->below[i]);
        struct str s = n->below[i], part;
        while (str_split(&s, '/', &part))
            k.odd = k.odd || name_is_odd(&k, arena_dup(sh->a, part.ptr, part.len));
        if (path && n->tracked)
            look_at_index(&k, path);
        else if (path)
            look_below(&k, path, 0);
        k.lost = k.lost || !path;
    }
    return !k.lost && !k.odd;
}
