#pragma once
/* What a change to a file looks like: for the person (unified diff), the summary line, and hooks (structuredPatch). */
#include "base/buf.h"
#include "tools/tool.h"

struct jw;
struct diff;

/* A unified diff with file names in front; nothing when equal. */
void patch_unified(struct str before, struct str after, const char *shown_path, struct buf *out);
/* display, summary "+12 -7", and a structuredPatch member written to w (open object). */
void patch_result(struct str before, struct str after, const char *shown_path,
                  struct tool_result *ret, struct jw *w);
/* originalFile: the text before, or null past 256 KiB. */
void patch_original(struct jw *w, struct str before);
/* "cat -n" lines `from` to `to` (1-based, clamped) of text. */
void patch_snippet(struct str text, size_t from, size_t to, struct buf *out);
/* At most max_lines of the diff between two contents, for a message. */
void patch_short(struct str before, struct str after, size_t max_lines, struct buf *out);
