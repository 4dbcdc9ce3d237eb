#pragma once
/*
 * Characters that a server cut in two between events: the halves of a surrogate pair ("\ud83d" here, "\ude00" in the next event), or
 * the bytes of one UTF-8 sequence. Each event alone would be refused or lose the character. So the halves are marked with private
 * code points before the event is parsed, and put together again where the pieces of a text are joined.
 *
 *     struct str json = halves_mark(data, &scratch, &marked);   the event's bytes
 *     halves_join(&carry, piece, &out);                         each piece of one text, in order; only if something was marked
 *     halves_end(&carry, &out);                                 what never found its other half becomes U+FFFD
 */
#include <stdbool.h>

#include "base/buf.h"

/* The JSON with its halves marked, in scratch (cleared first), and *ret_marked set; json itself when it has none. */
struct str halves_mark(struct str json, struct buf *scratch, bool *ret_marked);
/* False: a byte that belongs to no character became U+FFFD. Half a surrogate pair does too, and counts as the model's own. */
bool halves_join(struct buf *carry, struct str piece, struct buf *out);
bool halves_end(struct buf *carry, struct buf *out);
