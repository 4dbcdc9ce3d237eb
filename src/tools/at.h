#pragma once
/*
 * Files opened as they were judged. The permission chain decides about the name of a file and about where its links lead; by the time a
 * tool runs, a link may have been put into that path. So a tool opens the path that links led to, and no link is followed any
 * more: one that stands there now is ERR_STALE. What is written goes into the folder that was opened, by its descriptor.
 *
 *     char *real = at_resolve(ctx, path, &err);         the place that was judged, or NULL
 *     int fd = at_open(real, O_RDONLY, &err);
 *     int dir = at_open_folder(real, true, &name, &err); then at_replace(dir, name, ...)
 *
 * Thread-safe.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

struct tool_ctx;

/* Where the path leads now, yours; NULL when that cannot be told, or (ERR_STALE) when it is none of the places that the decision
 * was about. Outside a decision (ctx->judged NULL) any place will do. */
char *at_resolve(const struct tool_ctx *ctx, const char *path, struct err *err);
/* Opens without following any link. -1 and err. */
int at_open(const char *real, int flags, struct err *err);
/* The folder that holds `real`, and the name in it (borrowed from real); make: missing folders are made, 0777 less the umask. */
int at_open_folder(const char *real, bool make, const char **ret_name, struct err *err);
/* Puts a file with these bytes in the place of `name` in one step, durably. old: the file that is replaced, whose mode, owner and mtime
 * stand there; ERR_STALE when it is another one by now. NULL: nothing may stand there (mode is the new file's). shown: for errors. */
bool at_replace(int dir, const char *name, const char *shown, struct str bytes,
                const struct stat *old, mode_t mode, int64_t *ret_mtime_ns,
                struct err *err) MUST_CHECK;
