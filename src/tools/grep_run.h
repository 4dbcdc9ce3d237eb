#pragma once
/*
 * A search over many files: the walk gives a list, files are searched in batches on a few threads, and the outcomes go to `take` in
 * the order of the list, on the caller's thread.
 */
#include "tools/grep_file.h"
#include "tools/name_filter.h"

struct grep_run {
    const char *root; /* a folder, or the one file */
    const char *cwd;
    bool is_file;
    const struct name_filter *names, *types; /* both must match; may be NULL */
    const struct grep_options *options;
    struct cancel *cancel;
    /* False: enough. hits belong to the run. */
    bool (*take)(void *user, const char *path, const struct grep_hits *hits);
    void *user;
};
/* False: cancelled. */
bool grep_run(const struct grep_run *r);
