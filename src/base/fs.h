#pragma once
/* Files, durably. Paths are NUL-terminated and used as they are; errors quote them. Thread-safe. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Reads a whole regular file, at most max bytes (ERR_LIMIT past it), appending to out. */
bool fs_read(const char *path, size_t max, struct buf *out, struct err *err) MUST_CHECK;
/* ... from an open file; path is for errors. */
bool fs_read_fd(int fd, const char *path, size_t max, struct buf *out, struct err *err) MUST_CHECK;
/* Like fs_read; a missing file is success with *ret_found false. */
bool fs_read_if(const char *path, size_t max, struct buf *out, bool *ret_found,
                struct err *err) MUST_CHECK;
/* Writes beside, fdatasyncs, renames over and syncs the folder; a symlink's target is what is replaced. The mode is
 * used for a new file; an existing one keeps its own. */
/* Fails where anything but a regular file stands: a device or a pipe must not become one. */
bool fs_write_atomic(const char *path, struct str data, mode_t mode, struct err *err) MUST_CHECK;
/* The same without waiting for the disk: readers see the old text or the new one, a power cut may leave either, or none. */
bool fs_write_soon(const char *path, struct str data, mode_t mode, struct err *err) MUST_CHECK;
bool fs_mkdirs(const char *path, mode_t mode, struct err *err) MUST_CHECK; /* like mkdir -p */
/* Syncs the folder of `path`, so that a new name in it lasts. Best effort: some file systems cannot. */
void fs_sync_dir_of(const char *path);
/* Writes all of it to fd, through EINTR and short writes. */
bool fs_write_all(int fd, struct str data, struct err *err) MUST_CHECK;
/* An exclusive advisory lock on `path` (made when missing, mode 0600), waiting at most timeout_ms; the descriptor for
 * fs_unlock, which removes the file and so leaves nothing behind; or -1. */
int fs_lock(const char *path, int timeout_ms, struct err *err) MUST_CHECK;
void fs_unlock(const char *path, int fd);   /* -1 is fine */
int64_t fs_mtime_ns(const struct stat *st); /* when it was changed, in nanoseconds */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* Is the clean absolute path `root` itself or below it? By text alone. */
bool fs_is_within(const char *path, const char *root);
/* `dir` (clean, absolute) or the nearest folder above it that has an entry `name`; yours, NULL: none. */
char *fs_find_up(const char *dir, const char *name);
/* The folder with the repository's files: root/.git, or what that file names in a worktree. Yours, NULL: none. */
char *fs_git_dir(const char *root);
/* dir + "/" + name, yours; an absolute name stands alone. */
char *fs_join(const char *dir, const char *name);
char *fs_dirname(const char *path);        /* yours */
const char *fs_basename(const char *path); /* borrowed from path */
/* Cleans "." ".." and doubled slashes by text alone, against base when path is relative. Yours. */
char *fs_normalize(const char *base, const char *path);
/* realpath that also works when the last components do not exist yet (those are appended cleaned). Yours, NULL on
 * error (loop, too long). */
char *fs_resolve(const char *path, struct err *err);
/* The same, for a file that is about to be replaced as a whole: NULL also where something stands that is no regular file. */
char *fs_replaceable(const char *path, struct err *err);
const char *fs_home(void); /* $HOME or the password database; "/" at worst */
/* "projects" slug of a path: every non-alphanumeric byte becomes '-'; past 200 bytes cut, with a hash. Yours. */
char *fs_slug(const char *path);
