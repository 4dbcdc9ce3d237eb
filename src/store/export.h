#pragma once
/*
 * A session as a file to read, to keep or to give away. Markdown for people: prompts quoted, answers as they are, calls with
 * their inputs and results in fences that no content can end; what yare itself put in (reminders) and thinking stay out, control
 * characters are visible. JSON: an array of the messages, byte for byte as they are sent. JSONL: the journal's own records of
 * them, one a line. One message at a time is in memory.
 */
#include <stdio.h>

#include "base/err.h"
#include "store/conversation.h"

enum export_format { EXPORT_MARKDOWN, EXPORT_JSON, EXPORT_JSONL };
/* "md", "json", "jsonl"; false: none of these. */
bool export_format_parse(const char *name, enum export_format *ret);
const char *export_format_suffix(enum export_format f);

struct export_head { /* for Markdown's first lines; each may be NULL */
    const char *title, *id, *cwd, *created;
};
/* False when writing failed: the caller looks at ferror and errno. */
bool export_write(struct conversation *conv, const struct export_head *head, enum export_format f,
                  FILE *out);
/* Into a file of mode 0600. One that is there is refused unless force is set; then it is replaced as a whole, at the end. */
bool export_file(struct conversation *conv, const struct export_head *head, enum export_format f,
                 const char *path, bool force, struct err *err) MUST_CHECK;
