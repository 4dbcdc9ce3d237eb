#pragma once
/* Names that look or compare alike. Thread-safe. */
#include <stdbool.h>

#include "base/buf.h"

/* The text in one form for all its spellings (Unicode NFKC: composed, full width letters as plain ones), without the characters that do
 * not show. False: it is plain ASCII or no UTF-8, nothing was written. */
bool text_one_form(struct str s, struct buf *out);
