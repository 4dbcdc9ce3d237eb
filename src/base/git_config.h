#pragma once
/*
 * git's configuration files, read only as far as yare needs them: plain keys, `include.path`, quoting and line continuation.
 * Conditional includes are not followed. Pure but for reading files; thread-safe.
 */
#include "base/buf.h"

/* Calls `set` for each key of the file in order ("core.excludesfile": section and key in lower case, a subsection as it stands; value
 * "true" where none is given). A file that is missing or cannot be read has no keys; what cannot be parsed is skipped. */
void git_config_read(const char *path, void (*set)(void *user, const char *key, const char *value),
                     void *user);
/* The last value of `key` in the system's file, the person's two and that of the repository (its common folder, may be NULL).
 * Yours; NULL: not set. GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL and GIT_CONFIG_NOSYSTEM count as they do for git. */
char *git_config_get(const char *common_dir, const char *key);
/* git's file of excludes for all repositories: core.excludesFile, else git/ignore in the config folder. Yours. */
char *git_config_excludes(const char *common_dir);
