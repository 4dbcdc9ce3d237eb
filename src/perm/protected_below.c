/* Protected places below a folder of which everything is changed: "chmod -R u+w ." changes .git/hooks as well. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"
#include "perm/looks.h"
#include "perm/shell.h"

enum { ENTRIES_MAX = 12000, DEPTH_MAX = 32 };

struct below {
    const struct chain *c;
    size_t entries;
    const char *what; /* NULL: none so far */
    char *path;       /* where */
    bool own;
};

static bool
is_folder(const struct dirent *e, const char *path)
{
    struct stat st;
    if (e->d_type != DT_UNKNOWN)
        return e->d_type == DT_DIR;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
found(struct below *b, const char *what, const char *path)
{
    free(b->path);
    b->path = xstrdup(path);
    b->what = what;
}

/* Goes on behind the first one: one of yare's own weighs more. */
static void
look_in(struct below *b, const char *dir, int depth)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && !b->own && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (++b->entries > ENTRIES_MAX || depth > DEPTH_MAX || !may_walk(2 * LOOK_NAME)) {
            if (!b->what)
                found(b, "it holds more than is looked through for protected places", dir);
            break;
        }
        char *path = fs_join(dir, e->d_name);
        bool own = false;
        const char *what = path_protected(b->c, path, false, &own);
        if (what && (!b->what || own))
            found(b, what, path);
        b->own = what && own;
        if (!what && is_folder(e, path) && may_walk(LOOK_FOLDER))
            look_in(b, path, depth + 1);
        free(path);
    }
    if (d)
        closedir(d);
}

bool
judge_protected_below(struct chain *c, const struct access *a, const char *path)
{
    struct below b = {.c = c};
    look_in(&b, path, 0);
    if (b.what)
        chain_add(c, "L5", VERDICT_ASK, b.own ? FORCE_HARD : FORCE_PERSON, NULL, a->shown,
                  "it changes all below '%s', where '%s' is protected: %s", path, b.path, b.what);
    free(b.path);
    return b.what != NULL;
}

/* "find . -type f -exec": all names come out. Any other test may leave the protected ones out. */
static bool
finds_all(const struct perm_leaf *f)
{
    static const char *const plain[] = {"-type", "-depth", "-xdev", "-mount", "-print", "-print0"};
    for (size_t i = 1; i < f->n_argv; i++) {
        struct str s = f->argv[i].text;
        bool known = !s.len || s.ptr[0] != '-';
        if (str_starts(s, "-exec") || str_starts(s, "-ok"))
            return true;
        for (size_t k = 0; k < ARRAY_LEN(plain); k++)
            known = known || str_is(s, plain[k]);
        if (!known || str_is(s, "!") || str_is(s, "("))
            return false;
    }
    return false;
}

void
judge_protected_found(struct chain *c, const struct access *a)
{
    size_t by = a->leaf ? a->leaf->wrapper : SIZE_MAX;
    const struct perm_leaf *f = by < c->sh.n_leaves ? &c->sh.leaves[by] : NULL;
    if (!f || !leaf_is(f, "find") || !finds_all(f))
        return;
    for (size_t i = 0; i < f->n_effects; i++)
        if (f->effects[i].kind == EFFECT_READ_TREE && f->effects[i].path && !f->effects[i].glob)
            judge_protected_below(c, a, f->effects[i].path);
}
