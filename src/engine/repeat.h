#pragma once
/*
 * The loop detector: a model that goes round in a circle. Pure.
 *
 *     the same call three times in a row, answered the same way or failing; a call that fails three times with nothing changed
 *     in between (A and B failing in turn: five calls); ten calls in a row that were each made and answered so before
 *
 * Asking how a background task fares is no circle until nothing changes ten times. The turn pauses with the reason; the person's next word goes
 * on, and the model is told what was seen. In print mode it ends so. Setting pauseOnRepeat: false switches it off.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define REPEAT_WINDOW 32
#define REPEAT_ROW 3    /* the same call in a row */
#define REPEAT_STILL 10 /* calls without news */

struct repeat_call {
    uint64_t what;   /* hash of tool and input; of a command what repeat_plain leaves */
    uint64_t answer; /* hash of the result's text */
    bool failed, read_only;
    bool polls; /* asks how something fares that goes on by itself */
};
struct repeat {
    struct repeat_call calls[REPEAT_WINDOW]; /* a ring */
    uint64_t n;
};
void repeat_reset(struct repeat *r); /* a prompt of the person's */
void repeat_note(struct repeat *r, const struct repeat_call *call);
/* NULL, or what repeats, in words (static). *ret_calls: how many calls of it. */
const char *repeat_seen(const struct repeat *r, size_t *ret_calls);

/* A shell command without its comments, each run of blanks outside quotes as one: what two calls of the same command have in common,
 * however they are laid out and remarked on. From where it is not plain what a blank means (a here-document, a substitution inside quotes,
 * ${x/ /}) all is kept as it is. Adds to ret. */
void repeat_plain(struct str command, struct buf *ret);
