#pragma once
/*
 * The loop: while the model has more to do, context > request > stream > tools > decide. Every
 * continue is a transition, every end an exit; both are data, written by one function that records them in State's ring,
 * logs them with file and line and emits EV_TRANSITION. No recursion, no callbacks that call back into it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "model/stream.h"

/* X(id, name, what it does) */
#define LOOP_TRANSITIONS(X)                                                                        \
    X(TR_NEXT_TURN, "next_turn", "all results are in: the model goes on with them")                \
    X(TR_COLLAPSE_DRAIN_RETRY, "collapse_drain_retry",                                             \
      "too long: all folds are committed, same turn again")                                        \
    X(TR_REACTIVE_COMPACT_RETRY, "reactive_compact_retry",                                         \
      "still too long: everything compacted once")                                                 \
    X(TR_MAX_OUTPUT_ESCALATE, "max_output_tokens_escalate",                                        \
      "cut at the output limit: asked again with more")                                            \
    X(TR_MAX_OUTPUT_RECOVERY, "max_output_tokens_recovery", "cut again: go on from exactly there") \
    X(TR_STOP_HOOK_BLOCKING, "stop_hook_blocking", "a Stop hook said go on")

/* X(id, name, result subtype, exit code (130: by the cancel's reason), what it means) */
#define LOOP_EXITS(X)                                                                              \
    X(EXIT_COMPLETED, "completed", "success", 0, "nothing left to do")                             \
    X(EXIT_BLOCKING_LIMIT, "blocking_limit", "error_during_execution", 1, "the context is full")   \
    X(EXIT_MODEL_ERROR, "model_error", "error_during_execution", 1, "the request failed for good") \
    X(EXIT_PROMPT_TOO_LONG, "prompt_too_long", "error_during_execution", 1,                        \
      "too long for the model")                                                                    \
    X(EXIT_MAX_TURNS, "max_turns", "error_max_turns", 1, "over the cap of turns")                  \
    X(EXIT_MAX_BUDGET, "max_budget", "error_max_budget_usd", 1, "over the cap of money")           \
    X(EXIT_REPEATING, "repeating", "error_during_execution", 1, "it goes round in a circle")       \
    X(EXIT_COMMAND_FAILED, "command_failed", "error_during_execution", 1,                          \
      "a slash command that could not do what it was asked")                                       \
    X(EXIT_HOOK_STOPPED, "hook_stopped", "success", 0, "a hook stopped it")                        \
    X(EXIT_ABORTED_STREAMING, "aborted_streaming", "error_during_execution", 130,                  \
      "interrupted as it spoke")                                                                   \
    X(EXIT_ABORTED_TOOLS, "aborted_tools", "error_during_execution", 130,                          \
      "interrupted as tools ran")

enum loop_transition {
#define X(id, ...) id,
    LOOP_TRANSITIONS(X)
#undef X
};
enum loop_exit {
#define X(id, ...) id,
    LOOP_EXITS(X)
#undef X
        LOOP_EXIT_COUNT
};
const char *loop_exit_name(enum loop_exit x);
const char *loop_exit_subtype(enum loop_exit x);
int loop_exit_code(enum loop_exit x, enum cancel_reason reason);

struct engine;
struct loop_result {
    enum loop_exit exit;
    struct err err; /* of an exit that is an error */
    char request_id[64];
    enum stop_reason stop;
    int64_t api_ms;
};

struct state;
/* What the model said last, with the parts before it that it was only asked on from; "" when the last word is not its own. */
char *loop_final_text(const struct state *st);
/* Runs until an exit. The user message stands in State, journalled and synced. `turn` is the submit's token. */
void loop_run(struct engine *e, struct cancel *turn, struct loop_result *ret);
