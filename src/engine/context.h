#pragma once
/*
 * The context of a request: how full it is, and the tiers that keep it in bounds, cheapest first.
 * A tier is a row of one table; to add one is a row and a function. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core;

/* The budget: characters a tool's result and a message's results may have. */
#define CONTEXT_RESULT_MAX 50000
#define CONTEXT_MESSAGE_MAX 200000

struct context_tier {
    const char *id, *name, *cost, *what; /* for help and docs */
    bool (*trigger)(struct core *c);     /* NULL: the tier's place is reserved */
    void (*run)(struct core *c);
};
const struct context_tier *context_tiers(size_t *ret_n);

/* Runs the tiers whose trigger says so, in order. */
void context_run_tiers(struct core *c);

/* Tokens the next request will hold: the server's count for what was sent, an estimate for what is new. */
int64_t context_used(const struct core *c);
int64_t context_window(const struct core *c); /* 0: unknown */
/* "ok" "warn" "error" "blocking", in this one place. */
const char *context_state_name(int64_t used, int64_t window);
bool context_is_blocking(int64_t used, int64_t window);
void context_emit(struct core *c);
/* An answer came: its usage calibrates the estimator. Call after the assistant message was appended. */
void context_calibrate(struct core *c, int64_t tokens_in, int64_t tokens_out);

/* The cap for each result so that all of them keep within both limits. */
int64_t context_result_cap(const size_t *lens, size_t n);
