/* Lists of paths of a plan. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/sandbox_parts.h"

bool
paths_has(const struct sandbox_paths *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i], path) == 0)
            return true;
    return false;
}

bool
paths_hold(const struct sandbox_paths *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (fs_is_within(path, l->v[i]))
            return true;
    return false;
}

void
paths_take(struct sandbox_paths *l, char *take_path)
{
    if (!take_path || paths_has(l, take_path)) {
        free(take_path);
        return;
    }
    ARRAY_GROW(l->v, l->n, l->cap);
    l->v[l->n++] = take_path;
}

void
paths_add(struct sandbox_paths *l, const char *path)
{
    paths_take(l, xstrdup(path));
}

void
paths_release(struct sandbox_paths *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i]);
    free(l->v);
    *l = (struct sandbox_paths){0};
}

void
paths_above(const struct sandbox_paths *tops, const char *path, struct sandbox_paths *ret)
{
    char *at = fs_dirname(path);
    while (paths_hold(tops, at) && !paths_has(tops, at)) {
        char *up = fs_dirname(at);
        paths_take(ret, at);
        at = up;
    }
    free(at);
}

char *
paths_real(const char *path)
{
    return realpath(path, NULL);
}

void
sandbox_subfolders(const char *dir, struct sandbox_paths *l, size_t max)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && l->n < max && (e = readdir(d));)
        if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            paths_take(l, fs_join(dir, e->d_name));
    if (d)
        closedir(d);
}
