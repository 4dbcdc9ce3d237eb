#pragma once
/*
 * The budget: what a session and a day may cost, projected before each request, sub-calls included. The request that would cross is
 * not sent; where a person can answer they choose (raise, stop), else the turn ends with exit max_budget. Engine thread.
 *
 *     "budget": {"session": 1.50, "day": 20}      USD; --max-budget-usd is the session's
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct core;

struct spend_limits {
    double session, day; /* USD; 0: none */
};
void spend_limits(const struct core *c, struct spend_limits *ret);
/* What the next request costs at most: its input as estimated, what the cache is expected to save, max_tokens of output at worst a
 * quarter of the limit by experience. Negative: the price is unknown. */
double spend_projected(const struct core *c, int64_t input_tokens, int max_tokens);
/* May it be sent? False: err says which limit, what was spent and what the request would cost. An unknown price passes, with one notice a session that
 * no budget can hold. */
bool spend_allows(struct core *c, const char *purpose, double projected,
                  struct err *err) MUST_CHECK;
/* "/budget 5", "/budget day 20", "/budget": raise or show. */
void spend_command(struct core *c, struct str arg);
