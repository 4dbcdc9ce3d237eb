#pragma once
/*
 * Every way a request can fail, in one table: whether and how it is tried again, and what the person sees. Pure.
 *
 *     const struct failure *f = failure_of(&err);
 *     if (f->retry == RETRY_BACKOFF) ...
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* X(id, name, retry, tries, what the person reads) ; tries -1: as often as the settings say */
#define FAILURES(X)                                                                                \
    X(FAIL_TRANSPORT, "transport", RETRY_BACKOFF, -1, "the connection failed")                     \
    X(FAIL_DNS, "dns", RETRY_BACKOFF, -1, "the server's name was not found")                       \
    X(FAIL_REFUSED, "refused", RETRY_BACKOFF, 3, "nothing listens there")                          \
    X(FAIL_TLS, "tls", RETRY_NEVER, 0, "no secure connection could be made")                       \
    X(FAIL_CUT, "cut", RETRY_BACKOFF, -1, "the answer broke off")                                  \
    X(FAIL_STALL, "stall", RETRY_ONCE, 1, "the server fell silent")                                \
    X(FAIL_JUNK, "junk", RETRY_BACKOFF, 3, "the answer could not be read")                         \
    X(FAIL_RATE, "rate_limit", RETRY_BACKOFF, -1, "too many requests")                             \
    X(FAIL_SPEND_CAP, "spend_cap", RETRY_NEVER, 0, "the account's spend limit is reached")         \
    X(FAIL_OVERLOADED, "overloaded", RETRY_BACKOFF, -1, "the server is overloaded")                \
    X(FAIL_SERVER, "server", RETRY_BACKOFF, -1, "the server failed")                               \
    X(FAIL_AUTH, "auth", RETRY_NEVER, 0, "the server refuses the key")                             \
    X(FAIL_BILLING, "billing", RETRY_NEVER, 0, "the account cannot pay")                           \
    X(FAIL_MODEL, "unknown_model", RETRY_FALLBACK, 0, "the server does not have this model")       \
    X(FAIL_TOO_LONG, "too_long", RETRY_SHORTER, 0, "the conversation is too long for the model")   \
    X(FAIL_BETA, "beta", RETRY_WITHOUT, 1, "the server does not know an option")                   \
    X(FAIL_BLOCK, "bad_block", RETRY_REPAIRED, 1, "the server refuses a block of the history")     \
    X(FAIL_REQUEST, "bad_request", RETRY_NEVER, 0, "the server refuses the request")               \
    X(FAIL_REFUSAL, "refusal", RETRY_NEVER, 0, "the model refused to answer")                      \
    X(FAIL_LIMIT, "limit", RETRY_NEVER, 0, "a limit of yare's own was reached")                    \
    X(FAIL_OTHER, "other", RETRY_NEVER, 0, "the request failed")

enum failure_retry {
    RETRY_NEVER,
    RETRY_ONCE,
    RETRY_BACKOFF,  /* exponential with jitter, or what Retry-After says */
    RETRY_FALLBACK, /* the next model of the list */
    RETRY_SHORTER,  /* the tiers: drain, compact */
    RETRY_WITHOUT,  /* the option is dropped, remembered, and the request sent again at once */
    RETRY_REPAIRED, /* the block is mended or left out, once, with a notice */
};
enum failure_kind {
#define X(id, ...) id,
    FAILURES(X)
#undef X
        FAILURE_COUNT
};
struct failure {
    enum failure_kind kind;
    const char *name, *what;
    enum failure_retry retry;
    int tries;
    bool fallback; /* when the tries are used up, another model may be asked */
};
const struct failure *failure_of(const struct err *err);
