#pragma once
/*
 * The model catalogue: limits and prices as data (assets/models.json, embedded at build; a user file
 * <config dir>/models.json overrides by id, member by member). Loaded before threads start, immutable then and
 * thread-safe. An unknown model has no price: show "n/a", never $0.
 *
 *     {"models": [{"id": "my-model", "aliases": ["mine"], "context": 128000, "max_output": 8192, "thinking": "none",
 *                  "price": [{"in": 1, "out": 4}, {"above_prompt": 100000, "in": 2, "out": 8}]}]}
 * "betas" names, for each provider, the beta header that a latch of the engine stands for (engine/latches.h); "cache_min": prompts of fewer
 * tokens are not cached.
 * "fast": 2 says that the model can be run at a higher speed for twice the price.
 * Prices left out follow from "in": write_5m 1.25, write_1h 2, read 0.1 times it. thinking: none, budget or adaptive. small: the one of its
 * provider for short side questions.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stream.h"

struct model_price {      /* USD per million tokens */
    int64_t above_prompt; /* these prices hold for prompts of more tokens than this; 0: always */
    double in, out, write_5m, write_1h, read;
};
enum thinking_kind { THINKING_NONE, THINKING_BUDGET, THINKING_ADAPTIVE };
struct model_info {
    const char *id, *shown, *provider;
    const char *const *aliases; /* "opus", "sonnet"; NULL-terminated */
    int64_t context, max_output, cache_min;
    enum thinking_kind thinking;
    bool small;         /* for short side questions */
    double fast;        /* fast mode: so many times the price; 0: the model has none */
    const char *effort; /* default effort or NULL */
    struct model_price price[4];
    size_t n_price; /* 0: unknown */
};
/* user_file may be NULL or missing. What is wrong with it is told in *ret_problem (left alone when all is well); the rest of it holds. */
void catalog_load(const char *user_file, struct err *ret_problem);
/* exact, the id with a date suffix, or alias; NULL */
const struct model_info *catalog_find(const char *id_or_alias);
/* The provider's small one, the first in the catalogue; NULL: it has none. */
const struct model_info *catalog_small(const char *provider);
const struct model_info *catalog_at(size_t i); /* NULL past the end */
/* The beta of this provider with that name ("afk"); NULL: it has none. */
const char *catalog_beta(const char *provider, const char *name);
/* USD; negative when the price is unknown. */
double catalog_cost(const struct model_info *m, const struct usage *u);
