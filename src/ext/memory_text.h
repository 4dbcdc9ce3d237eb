#pragma once
/* What stands in a memory file besides its words: comments to be cut, imports, front matter. Pure. */
#include <stdbool.h>

#include "base/buf.h"

/* Appends the text without the comments <!-- --> that begin a line outside fenced code. */
void memory_strip(struct str text, struct buf *out);
/* The "@path"s of a text, outside code spans and fences, one after the other. */
struct memory_imports {
    struct str text;
    size_t line, column; /* where to go on: the line's offset, and the column in it */
    char fence_sign;
    size_t fence_len; /* 0: outside a fence */
};
void memory_imports_init(struct memory_imports *it, struct str text);
/* The next path as written, without the punctuation behind it; "\\ " is a blank in it. False: no more. ret_path is cleared first. */
bool memory_imports_next(struct memory_imports *it, struct buf *ret_path);
/* Does its front matter have "paths:"? *ret_body: the text behind the front matter. */
bool memory_has_paths(struct str text, struct str *ret_body);
/* Does one of the globs of "paths:" match? They stand behind it with commas between, as a flow list, or a line each with a dash. path:
 * relative, without a leading slash. */
bool memory_paths_match(struct str text, struct str path);
