/*
 * What the shell makes of a pattern. glob() itself looks into every folder that a pattern reaches, a few stars below "/" for minutes: here the
 * names that it reads are counted.
 */
#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "perm/looks.h"
#include "perm/matches.h"

enum { NAMES_MAX = 40000, PARTS_MAX = 64 };

static _Thread_local size_t left;

static struct dirent *
next_name(void *dir)
{
    if (left == 0 || !may_walk(LOOK_NAME)) {
        left = 0;
        return NULL;
    }
    left--;
    return readdir(dir);
}

static void *
open_folder(const char *path)
{
    if (left && !may_walk(LOOK_FOLDER))
        left = 0;
    return left ? opendir(path) : NULL;
}

static void
close_folder(void *dir)
{
    (void)closedir(dir);
}

static int
stat_name(const char *restrict path, struct stat *restrict st)
{
    if (left && !may_walk(LOOK_STAT))
        left = 0;
    return stat(path, st);
}

static int
lstat_name(const char *restrict path, struct stat *restrict st)
{
    if (left && !may_walk(LOOK_STAT))
        left = 0;
    return lstat(path, st);
}

/* glob() calls itself for each part behind the first pattern, with a copy of the rest on the stack: no path of this system is longer. */
static bool
is_too_long(const char *pattern)
{
    size_t parts = 0;
    for (const char *p = pattern + strcspn(pattern, "*?[\\"); *p; p++)
        parts += *p == '/';
    return parts > PARTS_MAX || strlen(pattern) >= PATH_MAX;
}

int
path_glob(const char *pattern, glob_t *ret)
{
    *ret = (glob_t){.gl_readdir = next_name,
                    .gl_opendir = open_folder,
                    .gl_closedir = close_folder,
                    .gl_stat = stat_name,
                    .gl_lstat = lstat_name};
    if (is_too_long(pattern) || !may_look(LOOK_PATH))
        return GLOB_ABORTED;
    left = NAMES_MAX;
    int failed = glob(pattern, GLOB_NOSORT | GLOB_ALTDIRFUNC, NULL, ret);
    return left ? failed : GLOB_ABORTED;
}
