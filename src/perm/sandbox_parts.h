#pragma once
/* Between the files of the sandbox; nobody else includes it. */
#include "perm/rules.h"
#include "perm/sandbox.h"

/* ---- lists of paths (sandbox_paths.c) ---- */
void paths_add(struct sandbox_paths *l,
               const char *path); /* copies; what is there already is not added again */
void paths_take(struct sandbox_paths *l, char *take_path); /* NULL: nothing */
void paths_release(struct sandbox_paths *l);
bool paths_has(const struct sandbox_paths *l, const char *path);
/* Is `path` one of them or below one? */
bool paths_hold(const struct sandbox_paths *l, const char *path);
/* The realpath of what is there; yours, NULL: nothing is. */
char *paths_real(const char *path);
/* Adds the real folders (no links) in `dir`, until the list has `max`. */
void sandbox_subfolders(const char *dir, struct sandbox_paths *l, size_t max);

/* The folders between `path` and the nearest of `tops` that is above it: whoever renames one of them can put another thing at `path`. */
void paths_above(const struct sandbox_paths *tops, const char *path, struct sandbox_paths *ret);

/* ---- git (sandbox_git.c) ---- */
struct sandbox_guards {
    struct sandbox_paths *writable, *read_only;
    struct sandbox_paths *missing; /* '/' at the end: a folder */
};
/* What git keeps for the work tree at `top`: its folder writable (it could be renamed else), hooks and settings in it not. A .git file is
 * believed only when the folder it names points back. */
void sandbox_git(const struct sandbox_guards *g, const char *top);
/* Is there a HEAD and objects in it? */
bool sandbox_is_repository(const char *git_dir);
/* The guarded names of a top folder itself. */
void sandbox_guard_top(const struct sandbox_guards *g, const char *top, bool is_home);

/* ---- the walk (sandbox_walk.c) ---- */
struct sandbox_walk {
    struct sandbox_plan *plan;
    const struct perm_rules *rules; /* NULL: none speak of single files */
    const struct perm_anchor *anchor;
    size_t entries_left;
};
/* Looks through the folder, nearest first, for protected names and for what deny rules name. */
void sandbox_walk(struct sandbox_walk *w, const char *dir);

/* ---- deny rules (sandbox_deny.c) ---- */
/* Read and Edit deny rules that name one place; *ret_walk: some name many. */
void sandbox_deny_rules(struct sandbox_plan *p, const struct perm_rules *rules,
                        const struct perm_anchor *an, bool *ret_walk);

/* ---- placeholders (sandbox_marks.c) ---- */
/* A guarded name that is not there gets an empty file or folder for as long as commands run, for a mount needs something to stand on.
 * Shared by commands of this process and (through a lock on it) of others; the last one takes it away. */
struct sandbox_marks *marks_new(void);
void marks_free(struct sandbox_marks *m);
enum mark {
    MARK_REAL /* something else is there */,
    MARK_PLACED,
    MARK_IMPOSSIBLE /* nor can the command */
};
bool marks_acquire(struct sandbox_marks *m, const char *path, bool folder, const char *content,
                   enum mark *ret, struct err *err) MUST_CHECK;
void marks_release(struct sandbox_marks *m, const char *path);

/* ---- mounts (sandbox_mounts.c) ---- */
/* In the order of strength: of two for one path the later counts. */
enum mount_kind {
    MOUNT_SHOW,  /* a hole in what is hidden, read-only */
    MOUNT_FIXED, /* a writable folder below a writable one that cannot be renamed: after mounts_settle it is MOUNT_WRITE */
    MOUNT_WRITE,
    MOUNT_READ_ONLY, /* below something writable */
    MOUNT_TMP,       /* the plan's temporary folder */
    MOUNT_HIDE,      /* file or folder, found out at the time */
    MOUNT_EMPTY,     /* an empty folder that is read-only */
    MOUNT_DEV,
    MOUNT_PROC,
};
struct mount {
    char *path;
    enum mount_kind kind;
};
struct mounts {
    struct mount *v;
    size_t n, cap;
};
void mounts_add(struct mounts *m, enum mount_kind kind, const char *path);
void mounts_release(struct mounts *m);
/* Sorted parents first, one for each path, none without effect. */
void mounts_settle(struct mounts *m);
/* What the nearest one at or above `path` does; false: none, it is read-only. */
bool mounts_at(const struct mounts *m, const char *path, enum mount_kind *ret);
/* As bwrap's arguments, each ended by NUL. proxy (NULL: none) is found at inside_proxy, below /run. */
void mounts_write(const struct mounts *m, const char *tmp, const char *proxy,
                  const char *inside_proxy, struct buf *out);
/* The machine's named sockets that could be reached. */
void mounts_find_sockets(const struct mounts *m, const char *own_tmp, struct sandbox_paths *ret);
