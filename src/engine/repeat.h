#pragma once
/*
 * The loop detector: a model that goes round in a circle. Pure.
 *
 *     the same tool and input three times in a row; A and B failing in turn, six calls; ten calls without any change of what
 *     they were answered with
 *
 * The turn pauses with the reason; the person's next word goes on (and the model is told what was seen). In print mode it ends so.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPEAT_WINDOW 32

struct repeat_call {
    uint64_t what;   /* hash of tool and input */
    uint64_t answer; /* hash of the result's text */
    bool failed, read_only;
};
struct repeat {
    struct repeat_call calls[REPEAT_WINDOW]; /* a ring */
    uint64_t n;
};
void repeat_reset(struct repeat *r); /* a prompt of the person's */
void repeat_note(struct repeat *r, const struct repeat_call *call);
/* NULL, or one line for the person: what repeats (static). *ret_calls: how many calls of it. */
const char *repeat_seen(const struct repeat *r, size_t *ret_calls);
