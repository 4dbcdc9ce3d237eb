#pragma once
#include <glob.h>

/* What an absolute pattern stands for now, as glob(3), unsorted; GLOB_ABORTED also where it reaches more names than are looked at, or is
 * longer than a path. globfree *ret in any case. */
int path_glob(const char *pattern, glob_t *ret);
