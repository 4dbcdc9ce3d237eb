#pragma once
/*
 * Characters that a server of the Messages API cut in two between events (model/halves.h). A text that is cut goes on with the next
 * event of its block; what never finds its other half is U+FFFD in a text. In anything else, a tool's input above all, an event with
 * bytes that are no UTF-8 is junk.
 *
 *     tree = anthropic_halves_parse(&h, data, &bytes, &shown, &err);      NULL: junk
 *     if (anthropic_read_event(tree, bytes, &d)) n = anthropic_halves_deltas(&h, &d, out);
 *
 * One stream's, one thread. What comes out is borrowed until the next call.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/stream.h"

struct cJSON;

struct anthropic_halves {
    struct buf marked, shown, carry, piece, left;
    enum delta_kind kind; /* carry: whose half it is */
    int index;
    bool has_marks; /* this event */
};
void anthropic_halves_init(struct anthropic_halves *h);
void anthropic_halves_release(struct anthropic_halves *h);
/* The event with its halves marked where they may stand. *ret_bytes: what the tree was made of; *ret_shown: fit to be handed on. */
struct cJSON *anthropic_halves_parse(struct anthropic_halves *h, struct str data,
                                     struct str *ret_bytes, struct str *ret_shown, struct err *err);
/* One or two deltas: first what is left of a character whose text ended; d NULL: only that. Gives how many, perhaps none. */
size_t anthropic_halves_deltas(struct anthropic_halves *h, const struct delta *d,
                               struct delta ret[2]);
