#pragma once
/*
 * The journal: projects/<slug>/<session>.jsonl, append-only, one JSON object a line, one write(2) per record, fdatasync
 * before a request leaves. The truth for messages (ARCHITECTURE section 7). A torn last line is skipped on load and cut off
 * before the next append; unknown records are kept and skipped. Loading is by offsets: a scan finds the line starts and each
 * record's type and uuid without parsing everything.
 *
 * Record types yare writes: "session" (first line: id, cwd, version, created), "user" and "assistant" (uuid, parentUuid,
 * sessionId, timestamp, cwd, message, isMeta for hidden, partial), "system" (subtype ...), "summary", "custom-title",
 * "usage", "mode". Files are 0600, folders 0700. One writer a file (an advisory lock is held while open for writing: a second
 * process is refused with a clear error). A struct journal belongs to one thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/message.h"

struct journal;

/* Makes the file's folder and the file, or opens an existing one for appending. */
struct journal *journal_open(const char *path, struct err *err);
void journal_close(struct journal *j); /* NULL is fine; syncs */
/* Appends one record (a serialised JSON object without newline). A failed or short write is undone by truncation and
 * reported with the file system's path; the journal stays usable. */
bool journal_append(struct journal *j, struct str record, struct err *err) MUST_CHECK;
bool journal_sync(struct journal *j, struct err *err) MUST_CHECK;
/* The envelope of a message and of anything else. Each record has a uuid and names its parent: the message before it.
 * Only a message becomes the next one's parent. members_json: an object whose members join the record, or empty. */
bool journal_append_message(struct journal *j, const char *session_id, const char *cwd,
                            const struct message *m, struct err *err) MUST_CHECK;
bool journal_append_note(struct journal *j, const char *session_id, const char *type,
                         const char *subtype, struct str members_json, struct err *err) MUST_CHECK;
/* The uuid of the message that the next record hangs on; "" at the start of a conversation. */
const char *journal_parent(const struct journal *j);
/* What follows hangs on the message `uuid`; NULL or "": on nothing, it begins anew (what a compaction left stands before
 * it). In memory only: the next message makes it last. */
void journal_set_parent(struct journal *j, const char *uuid);
/* The same, and written down at once ("system", subtype "rewind"), so that a resume sees it too. */
bool journal_rewind(struct journal *j, const char *session_id, const char *uuid,
                    struct err *err) MUST_CHECK;

/* Reading, also of files another process writes. */
struct journal_entry {
    int64_t offset;
    uint32_t len;
    char type[24]; /* "" when the line is no JSON object */
};
struct journal_index {
    struct journal_entry *entries;
    size_t n;
    int64_t torn_at; /* offset of a torn tail, -1: none */
    int64_t torn_bytes;
    void *map;    /* the mapped file, without the torn tail */
    int64_t size; /* of the map */
};
bool journal_index_load(const char *path, struct journal_index *ret, struct err *err) MUST_CHECK;
void journal_index_release(struct journal_index *ix);
/* bytes of record i, borrowed from the map */
struct str journal_record(const struct journal_index *ix, size_t i);
/* Record i's top-level member as its raw bytes; ptr NULL when it is not there. */
struct str journal_member(const struct journal_index *ix, size_t i, const char *key);
/* The conversation's messages (following the newest leaf's parents where a rewind made a branch). Array and refs yours.
 * Lines that share one message id (one block each) become one message. A record that cannot be read is left out; a
 * parent that is missing is taken to be the message before. After a crash the last message may hold a tool_use without
 * result: it is given as it is. NULL only with an error. */
struct message **journal_messages(const struct journal_index *ix, size_t *ret_n, struct err *err);
