#pragma once
/*
 * A search over many files: the folders are read on several threads, then the files are searched, a few at a time on each thread, and the
 * outcomes go to `take` in the order of the walk. What waits for its turn is bounded, so that a search which stops early has not
 * looked far beyond, and gives the same whatever the threads did.
 */
#include "tools/grep_file.h"
#include "tools/name_filter.h"

struct grep_run {
    const char *root; /* a folder, or the one file */
    const char *cwd;
    const char
        *within; /* where root led when it was judged: no folder elsewhere is read; NULL: any */
    bool is_file;
    const struct name_filter *names, *types; /* both must match; may be NULL */
    struct readable *readable;               /* what is not is never opened; NULL: all is */
    const struct grep_options *options;
    struct cancel *cancel;
    /* False: enough. hits belong to the run. Never called twice at a time, but from any of the run's threads. */
    bool (*take)(void *user, const char *path, const struct grep_hits *hits);
    void *user;
};
/* False: cancelled. *ret_complete (may be NULL): false when there were more files than are looked at. */
bool grep_run(const struct grep_run *r, bool *ret_complete);
