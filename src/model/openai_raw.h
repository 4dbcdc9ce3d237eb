#pragma once
/*
 * The events that the Messages API would have sent for these deltas: who follows a partial answer (--include-partial-messages) reads one
 * kind of event, whichever wire it came over.
 */
#include "model/stream.h"

struct openai_raw {
    struct buf json;  /* events not taken yet, a line each */
    struct str lines; /* what is left of them */
    int shown_index;  /* block that showed some input; -1: none */
};
void openai_raw_init(struct openai_raw *r);
void openai_raw_release(struct openai_raw *r);
/* The events of one delta; d NULL: of the end. Those before must have been taken. */
void openai_raw_put(struct openai_raw *r, const struct delta *d);
bool openai_raw_next(struct openai_raw *r, struct str *ret); /* borrowed until the next put */
