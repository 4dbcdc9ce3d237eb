#pragma once
/*
 * Settings, layered. Scopes highest first: managed, cli, local, project,
 * user. In each scope yare's own file comes before .claude's for scalars; lists join in that order. Every value knows
 * its file and line. Unknown keys are kept and ignored. A broken file is a problem (named, skipped), never rewritten.
 *
 * A struct config is immutable once loaded; reloading makes a new one. Project and local scopes of an untrusted folder are loaded
 * too: who asks for a widening value (allow rules, mode, env, base URL, hooks) passes `only_trusted`.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum scope { SCOPE_MANAGED, SCOPE_CLI, SCOPE_LOCAL, SCOPE_PROJECT, SCOPE_USER, SCOPE_COUNT };
const char *scope_name(enum scope s); /* "managed" "cli" "local" "project" "user" */

struct config_source {
    enum scope scope;
    bool claude; /* a .claude file (its user-scope "/p" rules anchor at its own folder) */
    char *file;  /* "" for inline JSON on the command line */
};
struct config_problem {
    char *file;
    int line; /* 0: unknown */
    char *text;
    bool
        broken; /* a whole file that counts for nothing, deny rules and all; of rules: a deny or ask rule that is not in force */
};
struct config_item {  /* one element of a list setting */
    struct str value; /* string elements only */
    const struct config_source *source;
    int line;
};

struct cJSON;

struct config_paths {
    const char *home, *config_dir, *project_root; /* project_root may be NULL */
    const char *cli_settings;                     /* --settings: a file or inline JSON; NULL */
    const char *system_dir;                       /* above yare/ and claude-code/; NULL: /etc */
};
struct config;
/* Never fails: what cannot be read becomes a problem. ~/.claude is $CLAUDE_CONFIG_DIR when that is set. */
struct config *config_load(const struct config_paths *paths);
/* The same while `last` is in force: a file that cannot be read or parsed now counts as it stood in there. last may be NULL and
 * stays the caller's. */
struct config *config_reload(const struct config_paths *paths, const struct config *last);
void config_free(struct config *c); /* NULL is fine */

/* What a project's own files may say by a key. */
enum config_reach {
    CONFIG_TRUSTED, /* once the folder is trusted: it gives something, or changes what happens */
    CONFIG_NARROWS, /* always, for it only takes something away (a flag: its tighter value alone) */
    CONFIG_PERSON, /* never: it is the person's, or the administrator's. No call here answers it from those files */
};
/* Of a key, or of the known one that it lies below. */
enum config_reach config_reach(const char *path);
/* The keys that are known, one after the other; NULL past the last. */
const char *config_known_key(size_t i);

/* Paths are keys joined by dots. Scalars: the highest scope that has the value with that type wins (a number out of its key's range does not count). only_trusted leaves
 * out the project and local scope. */
const char *config_str(const struct config *c, const char *path, bool only_trusted,
                       const char *fallback);
long long config_int(const struct config *c, const char *path, bool only_trusted,
                     long long fallback);
double config_num(const struct config *c, const char *path, bool only_trusted, double fallback);
bool config_bool(const struct config *c, const char *path, bool only_trusted, bool fallback);
/* Lists: joined, duplicates dropped (fallbackModel and availableModels: the highest scope's alone). Fills up to n;
 * returns how many there are. */
size_t config_list(const struct config *c, const char *path, bool only_trusted,
                   struct config_item *ret, size_t n);
/* The source that config_str would answer from, or NULL; the other: that config_bool would. */
const struct config_source *config_origin(const struct config *c, const char *path,
                                          bool only_trusted);
const struct config_source *config_bool_origin(const struct config *c, const char *path,
                                               bool only_trusted);
/* The line on which the value at `path` stands in that source; 0: unknown. from may be NULL. */
int config_line(const struct config *c, const struct config_source *from, const char *path);
size_t config_problems(const struct config *c, const struct config_problem **ret);
/* A file that could not be read or parsed, and of which no earlier state counts: who decides by rules must not take it for one that
 * has none. NULL: there is no such file. */
const struct config_problem *config_broken(const struct config *c);
/* files that were read */
size_t config_sources(const struct config *c, const struct config_source **ret);
/* Has one of the files that were looked for changed, gone or appeared since it was loaded? */
bool config_is_stale(const struct config *c);
/* The value at `path` in source i alone, or NULL: for objects (env, hooks), whose keys merge as the caller sees fit. */
const struct cJSON *config_value(const struct config *c, size_t i, const char *path);
struct str config_text(const struct config *c, size_t i); /* that file's bytes, for json_line_of */
/* Top-level keys that nobody here knows: kept, without effect (shown by /status). */
size_t config_unknown(const struct config *c, const struct config_problem **ret);

/* Adds `value` to the list at `path` ("permissions.allow") of a yare settings file, under a lock, reading it
 * fresh, keeping unknown keys and other edits, atomically: the new element is spliced in, every other byte stays.
 * Makes the file (0600) and folder when missing. A value that is there already is a success. */
bool config_add_to_list(const char *file, const char *path, const char *value,
                        struct err *err) MUST_CHECK;
/* Takes the first such value out of the list again, every other byte stays. One that is not there is an error. */
bool config_remove_from_list(const char *file, const char *path, const char *value,
                             struct err *err) MUST_CHECK;
/* Sets top-level strings of a yare settings file, all or none of them, in the same way; value NULL takes the key out. */
struct config_pair {
    const char *key, *value;
};
bool config_set_strings(const char *file, const struct config_pair *pairs, size_t n,
                        struct err *err) MUST_CHECK;

/* $YARE_CONFIG_DIR or $XDG_CONFIG_HOME/yare or ~/.config/yare; likewise the data folder. Yours. */
char *config_dir(void);
char *config_data_dir(void);
/* The git root above cwd, else cwd itself. Yours. */
char *config_project_root(const char *cwd);
