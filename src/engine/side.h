#pragma once
/*
 * A model call beside the loop, with a prompt of its own and one text for an answer: the summary of a compaction, the line over
 * a tool batch. It runs on a thread of its own; the engine's one wait is woken when it ended. Its tokens and money are counted
 * under its purpose, like every request. It has no tools and never touches State, so what the model shall know of the conversation is
 * written out in the question (an API refuses calls and results where no tools are named).
 *
 *     struct side_call *s = side_start(c, &q, turn);
 *     while (!side_done(s)) { waker_wait(...); loop_attend(...); }
 *     side_take(c, s, &answer);       // adds its usage, frees s
 *
 * All of it on the engine thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "model/stream.h"

struct core;
struct side_call;

struct side_question {   /* borrowed for side_start, which keeps what it needs */
    const char *purpose; /* of the ledger: "compact", "tool-summary"; static */
    const char *model;   /* NULL: the session's */
    struct str system;   /* the prompt, an asset; must outlive the call */
    struct str ask;      /* the question, the one user message */
    int max_tokens, timeout_ms;
    int retries; /* of a curable failure, with back-off (engine/retry.h) */
};
struct side_answer {
    bool ok;
    char *text; /* yours; NULL when not ok */
    enum stop_reason stop;
    struct err err;     /* not ok: why; retry_is_too_long(&err) where the question is too large */
    struct usage usage; /* of all attempts */
};

/* cancel: the submit's token, or the session's; fired, the call ends with ERR_CANCELLED. */
struct side_call *side_start(struct core *c, const struct side_question *q, struct cancel *cancel);
bool side_done(const struct side_call *s);
void side_drop(struct core *c, struct side_call *s); /* its answer is not wanted; NULL is fine */
/* Its answer comes too late, but the server has worked on it: it runs to its end, so that what it cost is known and counted. Where
 * several of them hang, it ends at once. */
void side_let_go(struct core *c, struct side_call *s);
void side_take(struct core *c, struct side_call *s, struct side_answer *ret);

/* Counts and frees what was dropped and has ended since. */
void side_reap(struct core *c);
/* Ends all that still run and waits for them; before the provider goes. */
void side_close(struct core *c);
/* Tokens of a request that is not the loop's own: meter, ledger, passport and journal. */
void side_count(struct core *c, const char *purpose, const char *model, const struct usage *u);
