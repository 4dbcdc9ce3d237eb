/*
 * Programs that follow links while they read or change a folder (grep -R, rg -L, find -L, ls -L, diff -r, cp -rL): each link below,
 * also behind another link, is an access of its own, which is judged by where it leads. A tree without links gives none.
 */
#include <dirent.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "perm/looks.h"
#include "perm/matches.h"
#include "perm/programs.h"

enum { ENTRIES_MAX = 10000, LINKS_MAX = 200, DEPTH_MAX = 24, MATCHES_MAX = 500 };

struct follow {
    struct sh *sh;
    size_t leaf;
    enum follow_how how;
    size_t entries, links, n_seen;
    struct {
        dev_t dev;
        ino_t ino;
    } seen[LINKS_MAX]; /* folders that links led to: they are walked once */
    bool lost;         /* too much to look at */
};

static void
access_of(struct follow *f, const char *path, bool dir)
{
    enum perm_effect_kind kind = f->how == FOLLOW_WRITE               ? EFFECT_WRITE
                                 : dir && f->how != FOLLOW_READ_NAMES ? EFFECT_READ_TREE
                                                                      : EFFECT_READ;
    effect_text(f->sh, f->leaf, kind, str_from(path));
}

static bool
first_visit(struct follow *f, const struct stat *st)
{
    for (size_t i = 0; i < f->n_seen; i++)
        if (f->seen[i].dev == st->st_dev && f->seen[i].ino == st->st_ino)
            return false;
    if (f->n_seen == LINKS_MAX)
        return false;
    f->seen[f->n_seen].dev = st->st_dev;
    f->seen[f->n_seen++].ino = st->st_ino;
    return true;
}

static void folder(struct follow *f, const char *path, int depth);

static void
one_link(struct follow *f, const char *path, int depth)
{
    struct stat st;
    bool dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (++f->links > LINKS_MAX || !may_walk(LOOK_LINKS)) {
        f->lost = true;
        return;
    }
    access_of(f, path, dir);
    if (dir && f->how != FOLLOW_READ_NAMES && first_visit(f, &st))
        folder(f, path, depth + 1);
}

static void
folder(struct follow *f, const char *path, int depth)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    f->lost = f->lost || depth > DEPTH_MAX || !may_walk(LOOK_FOLDER);
    for (struct dirent *e = readdir(d); e && !f->lost; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (++f->entries > ENTRIES_MAX || !may_walk(LOOK_NAME))
            f->lost = true;
        bool maybe = e->d_type == DT_LNK || e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
        if (!maybe || f->lost)
            continue;
        const char *at = arena_printf(f->sh->a, "%s/%s", path, e->d_name);
        struct stat st;
        bool link = e->d_type == DT_LNK, dir = e->d_type == DT_DIR;
        if (e->d_type == DT_UNKNOWN && lstat(at, &st) == 0) {
            link = S_ISLNK(st.st_mode);
            dir = S_ISDIR(st.st_mode);
        }
        if (link)
            one_link(f, at, depth);
        else if (dir && f->how != FOLLOW_READ_NAMES)
            folder(f, at, depth + 1);
    }
    closedir(d);
}

static void
below_pattern(struct follow *f, const char *pattern)
{
    glob_t g = {0};
    int failed = path_glob(pattern, &g);
    f->lost = f->lost || (failed && failed != GLOB_NOMATCH) || g.gl_pathc > MATCHES_MAX;
    for (size_t i = 0; !failed && !f->lost && i < g.gl_pathc; i++)
        folder(f, g.gl_pathv[i], 0);
    globfree(&g);
}

/* An earlier part of the command line may put links there first. */
static bool
links_come_first(const struct sh *sh, size_t leaf)
{
    for (size_t i = 0; i < leaf && i < sh->ret->n_leaves; i++) {
        const struct perm_leaf *l = &sh->ret->leaves[i];
        if (l->effects_unknown && !(l->role == LEAF_WRAPPER && l->transparent) &&
            l->wrapper == SIZE_MAX)
            return true;
    }
    return sh->n_fresh > 0;
}

bool
follow_links(struct sh *sh, size_t leaf, const struct word *w, enum follow_how how)
{
    struct follow f = {.sh = sh, .leaf = leaf, .how = how};
    const struct cwdset *c = &sh->st.cwd;
    f.lost = !w->w.known || c->unknown || c->n == 0 || links_come_first(sh, leaf);
    for (size_t i = 0; i < c->n && !f.lost; i++) {
        const char *path = path_clean(sh->a, c->dir[i], w->w.text);
        if (!path)
            f.lost = true;
        else if (w->w.glob)
            below_pattern(&f, path);
        else
            folder(&f, path, 0);
    }
    if (f.lost)
        effect_unknown(sh, leaf, "it follows links, and where all of them lead was not looked at");
    return !f.lost;
}

/* ---- programs without a row ---- */

/* Packers and copiers that take in what links lead to: always, or with these options. */
static const struct {
    const char *program, *letters, *longs;
    bool always;
} packers[] = {
    {"tar", "h", "--dereference", false},
    {"gtar", "h", "--dereference", false},
    {"bsdtar", "hLH", "--dereference", false},
    {"rsync", "Lk", "--copy-links --copy-dirlinks --copy-unsafe-links --safe-links", false},
    {"zip", NULL, NULL, true},
    {"7z", NULL, NULL, true},
    {"7za", NULL, NULL, true},
    {"scp", "r", "", false},
    {"cpio", "L", "--dereference", false},
    {"pax", "LH", "", false},
};

static bool
word_follows(struct str s, const char *letters, const char *longs, bool first)
{
    struct str rest = str_from(longs), part;
    if (str_starts(s, "--")) {
        while (s.len > 2 && str_split(&rest, ' ', &part)) /* abbreviated as well */
            if (part.len >= s.len && memcmp(part.ptr, s.ptr, s.len) == 0)
                return true;
        return false;
    }
    for (size_t i = 0; (first || str_starts(s, "-")) && i < s.len; i++)
        if (strchr(letters, s.ptr[i]))
            return true;
    return false;
}

void
follow_guess(struct sh *sh, size_t leaf, const struct command *c, struct str name)
{
    bool follows = false;
    size_t k = 0;
    while (k < ARRAY_LEN(packers) && !str_is(name, packers[k].program))
        k++;
    if (k == ARRAY_LEN(packers))
        return;
    for (size_t i = 1; i < c->n; i++)
        follows = follows || packers[k].always || !c->argv[i].w.known ||
                  word_follows(c->argv[i].w.text, packers[k].letters, packers[k].longs,
                               i == 1 && str_ends(name, "tar"));
    for (size_t i = 1; follows && i < c->n; i++) {
        const struct word *w = &c->argv[i];
        bool tree = w->w.known && !str_starts(w->w.text, "-") && (w->w.glob || path_is_dir(sh, w));
        struct word any = word_unknown(w->src, true);
        if (tree && !follow_links(sh, leaf, w, FOLLOW_READ))
            effect_add(sh, leaf, EFFECT_READ, &any);
    }
}
