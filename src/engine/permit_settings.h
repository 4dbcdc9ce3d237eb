#pragma once
/*
 * The settings and rules a decision needs, loaded anew when one of the files that could change it did (mtime, size or
 * inode; also one that appeared), so that a new deny is obeyed at once. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "perm/rules.h"

struct core;

struct permit_settings {
    struct config *config; /* NULL: not loaded */
    struct perm_rules rules;
    char **dirs; /* additional directories */
    size_t n_dirs, cap_dirs;
    bool trusted;        /* what it was loaded for */
    bool kept;           /* and trust.json says so of these very files (base/trust.h) */
    bool stale;          /* load anew whatever the files say */
    uint64_t generation; /* grows with each load */
};
void permit_settings_init(struct permit_settings *s);
void permit_settings_release(struct permit_settings *s);
/* Loads when nothing is loaded yet or something changed. A file that is bad now counts as it was before, and a notice says so
 * once. The project's files are not those any more that the person trusted: the session goes on without that trust. */
void permit_settings_refresh(struct permit_settings *s, struct core *c);
/* A folder of --add-dir or permissions.additionalDirectories as it is looked at: absolute, yours. */
char *permit_settings_dir(const struct core *c, struct str dir);
/* Is it loaded for this session as it is, whatever the files say by now? */
bool permit_settings_hold(const struct permit_settings *s, const struct core *c);
/* Are the project's files still those that trust.json names? */
bool permit_settings_are_kept(const struct permit_settings *s, const struct core *c);
