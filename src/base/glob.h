#pragma once
/*
 * gitignore-style patterns and ignore files, one matcher for rules, Glob, Grep and completion. Components are matched
 * without their neighbours: '*' and '?' never cross '/', "**" spans any number of components. Classes "[a-z]", "[!x]" and
 * escapes "\*" work, '?' is one character, not one byte; a closing "/ * *" needs something below; "{a,b}" only with GLOB_BRACES.
 * Pure; linear in pattern times path (no exponential backtracking).
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { GLOB_FOLD_CASE = 1, GLOB_BRACES = 2 };
/* Whole-path match of pattern "a/ * * /b.c" against path (no leading slash in either). */
bool glob_match(struct str pattern, struct str path, unsigned flags);
/* Steps that matching took on this thread so far, for those who have to count what they do. */
size_t glob_work(void);

/* The alternatives of a pattern with braces, for matching many paths; false past 1,024 of them or 4,096 bytes (glob_match then
 * matches nothing). Release with glob_expand_free. */
bool glob_expand(struct str pattern, char ***ret_list, size_t *ret_n);
void glob_expand_free(char **list, size_t n);

/* The patterns of ignore files exactly as git matches them, by bytes; `pathname`: wildcards do not cross '/'. */
bool wildmatch(struct str pattern, struct str text, bool pathname);

/* A stack of ignore rules for a walk; a child sees its parents. Immutable once its texts are added, then it may be shared. */
struct ignore;
enum ignore_verdict { IGNORE_NONE, IGNORE_SKIP, IGNORE_KEEP /* "!" brings it back */ };
/* dir_rel: "" at the root, "src" below */
struct ignore *ignore_new(struct ignore *parent, const char *dir_rel);
void ignore_free(struct ignore *ig);
void ignore_add_text(struct ignore *ig, struct str text); /* the content of a .gitignore */
/* path relative to the root of the walk; the last matching pattern wins, nearest file first. The folders above are not looked at: a
 * walk does not enter what is left out. */
enum ignore_verdict ignore_check(const struct ignore *ig, struct str path, bool is_dir);
bool ignore_match(const struct ignore *ig, struct str path, bool is_dir); /* IGNORE_SKIP */

/* Walks files below root: what `git ls-files -co --exclude-standard` lists, less what .ignore files leave out (docs/search.md has the
 * rules), or everything but .git with no_ignore. Hidden files are included, symlinks are not followed (root may be one), a nested
 * repository is entered and has rules of its own. Sorted by name in each folder, one folder in memory for each level. Stops when
 * visit returns false or `cancel` fires. Paths are relative to root. base/file_tree.h is the same on several threads. */
struct cancel;
struct glob_walk {
    const char *root;
    bool no_ignore;
    struct cancel *cancel;
    bool (*visit)(void *user, const char *rel_path, bool is_dir);
    void *user;
};
bool glob_walk(const struct glob_walk *w); /* false: stopped early */
