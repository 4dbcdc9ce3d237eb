#pragma once
/*
 * The journal: projects/<slug>/<session>.jsonl, append-only, one JSON object a line, one write(2) per record, fdatasync
 * before a request leaves. The truth for messages. A torn last line is skipped on load and cut off
 * before the next append; unknown records are kept and skipped. Opening looks at the end of the file alone. Reading is by
 * offsets: store/conversation.h.
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
/* The name that a person gives the session: the last such note counts. */
bool journal_append_title(struct journal *j, const char *session_id, const char *title,
                          struct err *err) MUST_CHECK;
/* The uuid of the message that the next record hangs on; "" at the start of a conversation. */
const char *journal_parent(const struct journal *j);
/* What follows hangs on the message `uuid`; NULL or "": on nothing, it begins anew (what a compaction left stands before
 * it). In memory only: the next message makes it last. */
void journal_set_parent(struct journal *j, const char *uuid);
/* The same, and written down at once ("system", subtype "rewind"), so that a resume sees it too. */
bool journal_rewind(struct journal *j, const char *session_id, const char *uuid,
                    struct err *err) MUST_CHECK;

/* What stands so far was compacted: the boundary is written down ("system", subtype "compact_boundary") and the next message
 * hangs on nothing. The transcript keeps what is before it, the model does not (store/conversation.h). */
bool journal_compacted(struct journal *j, const char *session_id, struct str members_json,
                       struct err *err) MUST_CHECK;
/* Where the record that was appended last stands in the file: what conversation_add takes. */
void journal_last(const struct journal *j, int64_t *ret_offset, size_t *ret_len);
