#pragma once
/*
 * Sticky latches: what changes a request's headers or parameters. Unset until first used, then set until
 * /clear or /compact, so that only the first activation can void the prompt cache and switching to and fro costs nothing. Which
 * beta header a latch stands for, and for which provider, is data: "betas" in assets/models.json (docs/cache.md). Engine thread.
 */
#include <stdbool.h>

#include "base/buf.h"

struct core;
struct jw;

/* X(id, name) */
#define LATCHES(X)                                                                                 \
    X(LATCH_AFK, "afk")                                                                            \
    X(LATCH_FAST, "fast")                                                                          \
    X(LATCH_CACHE_EDITING, "cache_editing")                                                        \
    X(LATCH_THINKING_CLEAR, "thinking_clear")

enum latch {
#define X(id, ...) id,
    LATCHES(X)
#undef X
        LATCH_COUNT
};
const char *latch_name(enum latch l);

struct latches {
    bool set[LATCH_COUNT];
    bool refused
        [LATCH_COUNT]; /* its beta is not known to the server: never sent again in this session */
};
/* First use; true: it changes what the next request says. */
bool latch_set(struct core *c, enum latch l);
void latches_clear(struct core *c); /* /clear, /compact; refused stays */
/* The betas that the next request names, comma separated, for this provider; appends. */
void latches_betas(const struct core *c, struct buf *out);
/* The server did not know these (model_stream.betas_refused). */
void latches_refused(struct core *c, const char *betas);
/* {"afk":true,...,"refused":["afk"]} for the journal and /state. */
void latches_write(const struct latches *l, struct jw *w);
/* On resume: from the journal's record {"latches":{...}}, or an empty one: from the passport. */
void latches_restore(struct core *c, struct str record);
void latches_note(struct core *c); /* the record, where something is set */
