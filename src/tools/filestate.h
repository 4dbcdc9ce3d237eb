#pragma once
/*
 * Which files the model has seen, and as what (path, mtime, size, content hash), so that Edit and Write refuse stale or unread
 * ones. One table a session; thread-safe, one private lock. The bytes of small files are kept too (128 KiB a file, 4 MiB in
 * all, the longest unused go first), so that a refusal can show what changed. Counted references: a tool that does not come back in time
 * may outlive the session that its table belongs to.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct file_state;
enum file_seen { FILE_UNSEEN, FILE_FRESH, FILE_CHANGED };

struct file_state *file_state_new(void); /* the first reference, yours */
struct file_state *file_state_ref(struct file_state *fs);
void file_state_unref(struct file_state *fs); /* the last one frees it; NULL is fine */
/* The content of `path` (resolved) was shown or written: remembers mtime, size and a hash of the bytes. */
void file_state_note(struct file_state *fs, const char *path, int64_t mtime_ns, struct str content);
/* The same for a file that was read in pieces: its hash (tools/hash.h), or NULL for one too big to be read through, which
 * then counts as fresh only while mtime and size stay. */
void file_state_note_hash(struct file_state *fs, const char *path, int64_t mtime_ns, uint64_t size,
                          const uint64_t hash[2]);
/* Compares by mtime and size first, by content when those differ (a touch alone is still fresh). */
enum file_seen file_state_check(struct file_state *fs, const char *path, int64_t mtime_ns,
                                struct str content);
/* What was noted of the files used last, the newest first, at most max of them; the paths are yours. */
struct file_noted {
    char *path;
    int64_t mtime_ns;
    uint64_t size;
};
size_t file_state_recent(struct file_state *fs, struct file_noted *ret, size_t max);
/* The bytes as they were noted, appended to out; false when they were not kept. */
bool file_state_content(struct file_state *fs, const char *path, struct buf *out);
