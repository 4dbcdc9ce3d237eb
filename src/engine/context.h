#pragma once
/*
 * The context of a request: how full it is, and the tiers that keep it in bounds, cheapest first. A tier is a row of one table
 * (context_run.c); to add one is a row and a function. docs/context.md. Engine thread.
 *
 *     context_run_tiers(c);            // before every request: what is due is done, noted and told
 *     context_used(c), context_window(c), context_state_name(used, window)
 *
 * An edit voids the prompt cache behind it, so a tier waits until the context is as full as its row says, then frees down to
 * CONTEXT_FREE_TO at once; what would free less than CONTEXT_FREE_LEAST is not done at all, and is not looked for again before
 * the context has grown by CONTEXT_TRY_AGAIN. All of them are percent of the window, in this one place.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct core;

/* The budget: characters a tool's result and a message's results may have. */
#define CONTEXT_RESULT_MAX 50000
#define CONTEXT_MESSAGE_MAX 200000

/* The states of the fill. Below CONTEXT_RESERVE tokens of room a request cannot get a useful answer: blocking. */
#define CONTEXT_WARN 75
#define CONTEXT_ERROR 90
#define CONTEXT_RESERVE 3000

/* Where the tiers begin, as percent of the window where compaction is due at 85; a limit set elsewhere moves them in proportion. */
#define CONTEXT_SNIP_AT 60
#define CONTEXT_MICRO_AT 68
#define CONTEXT_COLLAPSE_AT 76
#define CONTEXT_AUTO_AT 85
#define CONTEXT_FREE_TO 45
#define CONTEXT_FREE_LEAST 10 /* from CONTEXT_ERROR on: 1 */
#define CONTEXT_TRY_AGAIN 5

struct context_tier {
    const char *id, *name;
    int at;                          /* percent of the window; 0: by another measure */
    bool (*trigger)(struct core *c); /* NULL: another place asks and runs it (engine/compact.h) */
    void (*run)(struct core *c);
};
const struct context_tier *context_tiers(size_t *ret_n);
/* Where a tier begins now, percent of the window. */
double context_tier_percent(const struct core *c, const struct context_tier *t);
/* The newest run of a tier in this session; false: none. */
bool context_tier_last(const struct core *c, const char *name, int64_t *ret_before,
                       int64_t *ret_after);
/* E4 and E5 ran: for context_tier_last. The staged folds are of no use any more. */
void context_note_run(struct core *c, const char *tier, int64_t before, int64_t after);

/* Runs the tiers whose trigger says so, in order; what is new and larger than the rest of the window is cut. */
void context_run_tiers(struct core *c);
/* What the next tier would drop and what that saves, in words, without doing it. */
void context_preview(struct core *c, struct buf *out);

/* Commits the folds that are staged, or that can be found now. True: the next request is smaller. */
bool context_drain_folds(struct core *c);
/* The folds of this session, numbered, in words. */
void context_list_folds(struct core *c, struct buf *out);
/* Puts the messages of fold `number` (from 1) back. */
bool context_open(struct core *c, size_t number, struct err *err) MUST_CHECK;

/* The context_management object of the next request; NULL: none. Borrowed until the next call. */
const char *context_management(const struct core *c);
/* The server reported what it cleared (applied_edits) in the answer to the last request. */
void context_note_cleared(struct core *c, int64_t tool_uses, int64_t tokens);

/* On resume: each record of the journal that is no message, in their order; then, when State has the messages, the edits are made
 * again. For a fork: the records that were taken go into its own journal. */
void context_take_note(struct core *c, struct str type, struct str record);
bool context_note_edits(struct core *c, struct err *err) MUST_CHECK;
void context_redo_edits(struct core *c);

/* Tokens the next request will hold: the server's count for what was sent, an estimate for what is new. */
int64_t context_used(const struct core *c);
int64_t context_window(const struct core *c); /* 0: unknown */
double context_bytes_per_token(const struct core *c);
int64_t context_estimate(const struct core *c, size_t bytes); /* tokens */
/* "ok" "warn" "error" "blocking", in this one place. */
const char *context_state_name(int64_t used, int64_t window);
/* CONTEXT_RESERVE; of a small window less: it is no reason to refuse all work. */
int64_t context_reserve(int64_t window);
bool context_is_blocking(int64_t used, int64_t window);
void context_emit(struct core *c);
/* The server says that what stands here are so many tokens. False: that many it cannot be (a misread or made-up number), and nothing
 * changes. */
bool context_take_count(struct core *c, int64_t tokens);
/* An answer came: its usage calibrates the estimator. Call after the assistant message was appended. */
void context_calibrate(struct core *c, int64_t tokens_in, int64_t tokens_out);

/* The cap for each result so that all of them keep within both limits. */
int64_t context_result_cap(const size_t *lens, size_t n);
