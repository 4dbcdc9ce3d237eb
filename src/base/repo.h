#pragma once
/*
 * What a walk needs to know of the git repository around a folder: where it starts, the excludes that are not in its tree, and which files
 * it tracks. The index is read when first asked for. Thread-safe.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct ignore;
struct repo;

/* Is there a repository's top in dir: a .git folder, or a .git file that names one (worktrees, submodules)? */
bool repo_is_top(const char *dir);
/* `dir` (clean, absolute) or the nearest folder above it that is a repository's top; yours, NULL: none. */
char *repo_find_top(const char *dir);
/* top NULL: no repository, only the person's own excludes. `prefix`: what stands before the repository's paths in those that
 * repo_excludes is asked about, "" or "sub/dir". */
struct repo *repo_open(const char *top, const char *prefix);
void repo_free(struct repo *r); /* NULL is fine */
/* .git/info/exclude before the person's file of excludes; borrowed. */
struct ignore *repo_excludes(const struct repo *r);
/* Is `path` (below the repository's top) in the index? A folder: is something below it? An index that cannot be read tracks nothing. */
bool repo_tracks(struct repo *r, struct str path);
bool repo_tracks_below(struct repo *r, struct str path);
/* .git/info/exclude of the repository at `top` gets this line when it has not got it; no file of the tree changes. */
bool repo_exclude_add(const char *top, const char *pattern, bool *ret_added,
                      struct err *err) MUST_CHECK;
/* Tells each name in the index of the repository at `top` until told() says no (see git_index_each). False: the index cannot be read,
 * or it said no. *ret_found: there is an index. */
bool repo_each_tracked(const char *top, bool (*told)(void *arg, struct str name), void *arg,
                       bool *ret_found);
/* The text of an ignore file for `ig`; nothing when it is missing, a link or too large (which the log tells). */
void repo_load_ignore(struct ignore *ig, const char *dir, const char *name);
