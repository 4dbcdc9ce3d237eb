#pragma once
/*
 * Reading one folder for a walk: its names, less what the ignore rules in force leave out, sorted. The sequential walk (glob_walk) and
 * the parallel one (file_tree) are both made of it. A scope is what rules hold in a folder; it is shared by the folders below that add
 * none, immutable, and reference counted. Thread-safe.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct cancel;
struct walk_scope;

struct walk_entry {
    uint32_t name; /* offset into names */
    bool is_dir, is_link;
    bool tracked_only; /* a folder that is ignored, with files that git tracks nevertheless */
};

struct walk_listing {
    struct buf names;
    struct walk_entry *entries;
    size_t n, cap;
    struct walk_scope *scope; /* for the folders below */
    int fd;                   /* the folder, -1: closed */
    bool incomplete;          /* more names than are looked at, or cancelled */
};

struct walk_folder {
    const char *path; /* to open it */
    /* below the outermost repository's top, without a closing slash: what rules speak of */
    struct str full;
    struct walk_scope *scope; /* of the folder above */
    bool tracked_only;
    bool is_root; /* the start of the walk: may be a link, and its own repository is known */
};

/* The rules above root (a folder), and root's path below the outermost repository's top. One reference. no_ignore: NULL. */
struct walk_scope *walk_scope_root(const char *root, struct buf *ret_full);
struct walk_scope *walk_scope_ref(struct walk_scope *s); /* NULL is fine, here and below */
void walk_scope_free(struct walk_scope *s);

/* False: the folder cannot be read (which the log tells). Release the listing in any case. */
bool walk_scan(const struct walk_folder *f, struct cancel *cancel, struct walk_listing *ret);
void walk_listing_release(struct walk_listing *l);
const char *walk_entry_name(const struct walk_listing *l, size_t i);
