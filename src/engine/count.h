#pragma once
/*
 * How many tokens the next request holds, by the server's own count, where the estimate is not good enough: near a limit. Engine thread.
 */
#include <stdbool.h>
#include <stdint.h>

struct core;

/* Is the estimate of `used` tokens within about 3 % of `limit`, so that asking is worth a round trip? limit 0: no. */
bool context_is_near(int64_t used, int64_t limit);
/* The server's count of what would be sent now, which context_used gives from then on; false: it cannot say, was asked in this turn
 * already, or did not answer in time (1.5 s), and the estimate stands. */
bool context_count(struct core *c, int64_t *ret_tokens);
