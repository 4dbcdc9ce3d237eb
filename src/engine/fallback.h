#pragma once
/*
 * Other models for when the chosen one does not answer: `--fallback-model a,b`, setting fallbackModel, tried in that order. The next
 * prompt after a while goes back to the first. A notice each time. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct core;

/* Where another model can take over, so often is one asked again that is busy. */
#define FALLBACK_TRIES 3
/* A prompt later than this goes back to the model that was chosen. */
#define FALLBACK_BACK_MS 600000

struct fallback {
    char *list;       /* "a,b"; NULL: none */
    size_t next;      /* of the list */
    bool on;          /* a model of the list is in use; core_set_model ends that */
    char *first;      /* the one that was chosen, when on */
    int64_t since_ms; /* monotonic */
};

/* Switches to the next model of the list; false: none is left. err: why the one in use is left. */
bool fallback_next(struct core *c, const struct err *err);
/* Is there a next model? */
bool fallback_left(struct core *c);
/* A turn ended with err while a model of the list was in use: where none is left that could be asked, the next prompt begins with the
 * chosen one again. */
void fallback_give_up(struct core *c, const struct err *err);
/* Before a prompt: back to the chosen model, when it was left long enough ago. */
void fallback_return(struct core *c);
