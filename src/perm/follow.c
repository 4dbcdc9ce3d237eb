/*
 * Programs that follow links while they read a folder (grep -R, rg -L, find -L, diff -r): each link below is a read of its own,
 * which is judged by where it leads.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "perm/programs.h"

enum { ENTRIES_MAX = 4000, LINKS_MAX = 200, DEPTH_MAX = 24 };

struct follow {
    struct judged *j;
    size_t entries, links;
    bool lost; /* too much to look at */
};

static void
one_link(struct follow *f, const char *path, bool dir)
{
    if (++f->links > LINKS_MAX)
        f->lost = true;
    else
        effect_text(f->j->sh, f->j->leaf, dir ? EFFECT_READ_TREE : EFFECT_READ, str_from(path));
}

static bool
is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
folder(struct follow *f, const char *path, int depth)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    f->lost = f->lost || depth > DEPTH_MAX;
    for (struct dirent *e = readdir(d); e && !f->lost; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (++f->entries > ENTRIES_MAX)
            f->lost = true;
        bool maybe = e->d_type == DT_LNK || e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
        if (!maybe || f->lost)
            continue;
        const char *at = arena_printf(f->j->sh->a, "%s/%s", path, e->d_name);
        bool dir = is_dir(at);
        if (e->d_type != DT_DIR)
            one_link(f, at, dir);
        else
            folder(f, at, depth + 1);
    }
    closedir(d);
}

void
follow_links(struct judged *j, const struct word *w)
{
    struct follow f = {.j = j};
    const struct cwdset *c = &j->sh->st.cwd;
    const char *path = w->w.known && !w->w.glob && c->n == 1 && !c->unknown
                           ? path_clean(j->sh->a, c->dir[0], w->w.text)
                           : NULL;
    if (path)
        folder(&f, path, 0);
    if (!path || f.lost)
        judged_unknown(j, "it follows links, and where all of them lead was not looked at");
}
