#pragma once
/*
 * All files below a folder, read on several threads: the same files in the same order as glob_walk gives. Names are kept once, in the
 * folders they lie in, so that a million files take some 40 MB. The call itself makes and joins its threads; the tree is immutable.
 *
 *     struct file_tree *t = file_tree_read(&(struct file_tree_options){.root = dir, .cancel = c});
 *     for (size_t i = 0; t && i < file_tree_count(t); i++)
 *         open(file_tree_path(t, i, &buf), ...);
 *     file_tree_free(t);
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct cancel;

struct file_tree_options {
    const char *root;
    bool no_ignore;
    bool no_links;    /* symlinks are left out */
    bool want_mtime;  /* of those that `want` takes */
    unsigned threads; /* 0: as many as there are cores, at most 8 */
    struct cancel *cancel;
    /* called from several threads; NULL: all files */
    bool (*want)(void *user, struct str rel_path);
    void *user;
};

struct file_tree;
/* NULL: cancelled. What cannot be read is left out. */
struct file_tree *file_tree_read(const struct file_tree_options *o);
void file_tree_free(struct file_tree *t); /* NULL is fine */
size_t file_tree_count(const struct file_tree *t);
/* Puts root and the path below it into `out`, and gives it; *ret_rel (may be NULL) is where the path below root starts. */
const char *file_tree_path(const struct file_tree *t, size_t i, struct buf *out, size_t *ret_rel);
/* The same in two parts: the folder below root ("" or "src/", the same pointer for all files of one folder) and the name. */
void file_tree_entry(const struct file_tree *t, size_t i, const char **ret_folder,
                     const char **ret_name);
int64_t file_tree_mtime(const struct file_tree *t, size_t i); /* nanoseconds; 0: it is gone */
bool file_tree_complete(const struct file_tree *t);           /* false: more names than are kept */
unsigned file_tree_threads(void);                             /* cores, at most 8 */
