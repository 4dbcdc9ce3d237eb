#pragma once
/* A unified diff as lines: "@@ 41  next_token", "- old", "+ new". File headers are left out. Pure. */
#include <stddef.h>

#include "ui/lines.h"

/* Appends the lines of the diff, `indent` columns in, at most max_lines of the diff (0: all); returns how many of its lines
 * were left out. */
size_t diffview_lines(struct lines *out, struct str diff, int width, int indent, size_t max_lines);
/* Lines added and removed. */
void diffview_count(struct str diff, size_t *ret_added, size_t *ret_removed);
