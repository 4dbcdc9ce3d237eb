#pragma once
/* What the context keeps of a session, in State's extension "context"; engine/context*.c share it. */
#include "engine/core.h"
#include "engine/tiers.h"

#define CONTEXT_TIERS 8

struct context_fold {
    char uuid[37]; /* of the message that stands for it */
    char *what;
    int64_t saved;
};
struct context_kept {
    struct buf records; /* of the journal's edits, a line each, until the messages are in State */
    struct context_fold *folds;
    size_t n_folds, cap_folds;
    struct {
        const char *name; /* static */
        int64_t before, after;
        int64_t not_below; /* it found too little: not tried again until so many tokens are used */
    } tier[CONTEXT_TIERS];
    struct tier_result staged;                        /* of collapse */
    const struct message *staged_first, *staged_last; /* references: what it was made for */
    size_t staged_n;
    int64_t uncounted; /* tokens that edits saved since the newest count of the journal */
    struct buf management;
    int64_t cleared_uses, cleared_tokens; /* by the server, in the last answer */
};
struct context_kept *context_kept(struct core *c);
const struct context_kept *context_kept_if(const struct core *c); /* NULL: nothing yet */
/* The tokens of which the tiers' percents are: the window, where compaction is due at CONTEXT_AUTO_AT percent of it. */
int64_t context_scale(const struct core *c);
void context_drop_staged(struct context_kept *k);

/* What the tiers look at now. */
struct tier_view context_view(struct core *c, int64_t goal);
/* Makes the edits: texts are kept first, State and its counts follow, the journal is told. False: nothing changed, err says why. */
bool context_commit(struct core *c, const struct tier_view *v, const struct tier_result *r,
                    const char *tier, struct err *err) MUST_CHECK;
