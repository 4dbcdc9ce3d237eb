#pragma once
/*
 * What a session keeps that stands in its journal beside the messages: the lines over tool batches ("tool-summary", engine/toolsum.h)
 * and, of a fork, the sessions it comes from ("fork"), whose kept results its markers still name. In State's extension "kept"; gone
 * with the session. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct core;

#define SESSION_LINES_MAX 1000 /* the newest */
#define SESSION_FORKS_MAX 8    /* the nearest */

/* One record of the journal, in its order; others than these two are nothing to it. */
void session_kept_note(struct core *c, struct str type, struct str record);
/* A line was written: calls is the JSON array of their ids. Kept, not journalled. */
void session_kept_line(struct core *c, const char *calls, const char *text);
/* The line over the batch whose first call is `id`; NULL: none. Borrowed until the next one is kept. */
const char *session_kept_line_of(const struct core *c, struct str id, const char **ret_calls);

/* This session is a fork of that one: into its journal, with what was kept. */
bool session_kept_fork(struct core *c, const char *from_id, struct err *err) MUST_CHECK;
/* Folders of kept results of the sessions this one comes from: implicit read-only roots. Fills up to n; returns how many. Borrowed
 * from the session. */
size_t session_kept_dirs(const struct core *c, const char **ret, size_t n);
