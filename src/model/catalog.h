#pragma once
/*
 * The model catalogue: limits and prices as data (assets/models.json, embedded at build; a user file
 * <config dir>/models.json overrides by id). SURFACE 11.1. Immutable after load; thread-safe then. An unknown model has
 * no price: show "n/a", never $0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stream.h"

struct model_price { /* USD per million tokens */
    int64_t above_prompt; /* these prices hold for prompts of more tokens than this; 0: always */
    double in, out, write_5m, write_1h, read;
};
enum thinking_kind { THINKING_NONE, THINKING_BUDGET, THINKING_ADAPTIVE };
struct model_info {
    const char *id, *shown, *provider;
    const char *const *aliases; /* "opus", "sonnet"; NULL-terminated */
    int64_t context, max_output;
    enum thinking_kind thinking;
    const char *effort; /* default effort or NULL */
    struct model_price price[4];
    size_t n_price;     /* 0: unknown */
};
void catalog_load(const char *user_file, struct err *ret_problem); /* user_file may be NULL */
const struct model_info *catalog_find(const char *id_or_alias);    /* exact, alias, or the id with a date suffix; NULL */
const struct model_info *catalog_at(size_t i);                     /* NULL past the end */
/* USD; negative when the price is unknown. */
double catalog_cost(const struct model_info *m, const struct usage *u);
