#pragma once
/* The longest literal that every match of a pattern must hold: lines without it need no matching. Careful rather than clever: what is
 * not understood gives none. Pure. */
#include "base/buf.h"

/* Appends it to out; nothing when there is none of at least 3 bytes. */
void grep_required_literal(struct str pattern, struct buf *out);
