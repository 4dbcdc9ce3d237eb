#pragma once
/*
 * Which paths git tracks: the names in a repository's index (versions 2 to 4, also a split one). Tracked files are searched even where an
 * ignore rule speaks of them. Names are kept front-coded, so that a million of them take some 20 MB. Immutable once read, may be shared.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct git_index;
/* hash_len: 20, or 32 in a repository with sha256. A missing file is an empty index. NULL on error: unreadable or not understood. */
struct git_index *git_index_read(const char *git_dir, size_t hash_len, struct err *err);
void git_index_free(struct git_index *ix); /* NULL is fine */
size_t git_index_count(const struct git_index *ix);
bool git_index_has(const struct git_index *ix, struct str path); /* a file, or a submodule */
/* Each name in turn until told() says no; false: it said so. One of a split index may come twice. A name that ends in a slash stands
 * for a folder (sparse). */
bool git_index_each(const struct git_index *ix, bool (*told)(void *arg, struct str name),
                    void *arg);
/* something in that folder */
bool git_index_has_below(const struct git_index *ix, struct str path);
