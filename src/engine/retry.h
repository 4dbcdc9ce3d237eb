#pragma once
/*
 * When a failed request is tried again, and after how long, by the table of failures (engine/failure.h). Pure but for the jitter,
 * whose random bits the caller gives.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct retry_policy {
    int base_ms;      /* first back-off */
    int max_attempts; /* retries of one request */
};
#define RETRY_MAX_MS 32000        /* one back-off */
#define RETRY_AFTER_MAX_MS 600000 /* a longer Retry-After is told, not waited for */
#define RETRY_TOTAL_MS 1800000    /* of one request */

/* Milliseconds to wait before attempt `attempt` + 1 (attempt counts from 1: those that failed so far), or -1: do not try
 * again. waited_ms: so far. random: any 32 bits. */
int64_t retry_delay(const struct retry_policy *p, const struct err *err, int attempt,
                    int64_t waited_ms, uint32_t random);
/* How often a request that failed so is sent again; 0: never. */
int retry_tries(const struct retry_policy *p, const struct err *err);
/* Too long for the model, whatever words the server uses: never cured by trying again. */
bool retry_is_too_long(const struct err *err);
