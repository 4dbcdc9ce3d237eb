#pragma once
/* Line diffs (Myers, with a cap after which a whole-block replacement stands in) as unified hunks. Pure. */
#include <stddef.h>

#include "base/buf.h"

struct diff_hunk {
    /* 1-based starts, 0 when the side is empty */
    size_t old_start, old_lines, new_start, new_lines;
    /* each with its ' ', '-' or '+' in front, without newline; owned by the hunk list */
    struct str *lines;
    size_t n_lines;
};
struct diff {
    struct diff_hunk *hunks;
    size_t n_hunks, added, removed;
    char *text; /* backing store */
};
void diff_make(struct str before, struct str after, unsigned context, struct diff *ret);
void diff_release(struct diff *d);
void diff_write(const struct diff *d, struct buf *out); /* "@@ -1,3 +1,4 @@" and lines */
