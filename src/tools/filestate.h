#pragma once
/*
 * Which files the model has seen, and as what (path, mtime, size, content hash), so that Edit and Write refuse stale or unread
 * ones. One table a session; thread-safe, one private lock.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct file_state;
enum file_seen { FILE_UNSEEN, FILE_FRESH, FILE_CHANGED };

struct file_state *file_state_new(void);
void file_state_free(struct file_state *fs);
/* The content of `path` (resolved) was shown or written: remembers mtime, size and a hash of the bytes. */
void file_state_note(struct file_state *fs, const char *path, int64_t mtime_ns, struct str content);
/* Compares by mtime and size first, by content when those differ (a touch alone is still fresh). */
enum file_seen file_state_check(struct file_state *fs, const char *path, int64_t mtime_ns, struct str content);
void file_state_forget(struct file_state *fs, const char *path);
