#pragma once
/*
 * Every way a request can fail, in one table: whether and how it is tried again, and what the person reads. Pure.
 * docs/recovery.md shows the table; a test holds the two together.
 *
 *     const struct failure *f = failure_of(&err);
 *     if (f->retry == RETRY_BACKOFF) ...
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/stream.h"

/* X(id, name, retry, tries, fallback, what the person reads, what they can do)
 * tries -1: as often as the settings say. fallback: when the tries are used up another model may be asked. */
#define FAILURES(X)                                                                                \
    X(FAIL_TRANSPORT, "transport", RETRY_BACKOFF, -1, false, "the connection failed",              \
      "check the network or the proxy")                                                            \
    X(FAIL_DNS, "dns", RETRY_BACKOFF, 5, false, "the server's name was not found",                 \
      "check the network and the base URL")                                                        \
    X(FAIL_REFUSED, "refused", RETRY_BACKOFF, 3, false, "nothing listens there",                   \
      "start the server, or use another with /connect")                                            \
    X(FAIL_TLS, "tls", RETRY_NEVER, 0, false, "no secure connection could be made",                \
      "check the base URL and the certificates (SSL_CERT_FILE)")                                   \
    X(FAIL_CUT, "cut", RETRY_BACKOFF, -1, false, "the answer broke off", "say 'go on'")            \
    X(FAIL_STALL, "stall", RETRY_ONCE, 1, true, "the server fell silent",                          \
      "say 'go on', or raise api.stall if the server is slow")                                     \
    X(FAIL_JUNK, "junk", RETRY_BACKOFF, 3, true, "the answer could not be read",                   \
      "check the base URL and the proxy")                                                          \
    X(FAIL_RATE, "rate_limit", RETRY_BACKOFF, -1, true, "too many requests",                       \
      "wait a while, or use another model with /model")                                            \
    X(FAIL_SPEND_CAP, "spend_cap", RETRY_NEVER, 0, false, "the account's limit is reached",        \
      "raise the limit in the provider's console, or use another account")                         \
    X(FAIL_OVERLOADED, "overloaded", RETRY_BACKOFF, -1, true, "the server is overloaded",          \
      "wait a while, or use another model with /model")                                            \
    X(FAIL_SERVER, "server", RETRY_BACKOFF, -1, true, "the server failed",                         \
      "wait a while; the request id helps its support")                                            \
    X(FAIL_AUTH, "auth", RETRY_NEVER, 0, false, "the server refuses the key", "check the API key") \
    X(FAIL_BILLING, "billing", RETRY_NEVER, 0, false, "the account cannot pay",                    \
      "look at billing in the provider's console")                                                 \
    X(FAIL_MODEL, "unknown_model", RETRY_FALLBACK, 0, true, "the server does not have this model", \
      "check the model's name and the base URL")                                                   \
    X(FAIL_TOO_LONG, "too_long", RETRY_SHORTER, 0, false,                                          \
      "the conversation is too long for the model", "start anew with /clear, or a shorter prompt") \
    X(FAIL_BETA, "option", RETRY_WITHOUT, 1, false, "the server does not know an option",          \
      "leave it out of the settings")                                                              \
    X(FAIL_BLOCK, "bad_block", RETRY_REPAIRED, 1, false,                                           \
      "the server refuses a block of the history", "start anew with /clear")                       \
    X(FAIL_REQUEST, "bad_request", RETRY_NEVER, 0, false, "the server refuses the request",        \
      "take another model with /model, or start anew with /clear; the request id helps its "       \
      "support")                                                                                   \
    X(FAIL_ADDRESS, "address", RETRY_NEVER, 0, false, "what answers there is no model server",     \
      "check the base URL and the proxy")                                                          \
    X(FAIL_GATEWAY, "gateway", RETRY_NEVER, 0, false,                                              \
      "a gateway refuses the request for its size",                                                \
      "raise its limit for the size of a request, or use another base URL")                        \
    X(FAIL_REFUSAL, "refusal", RETRY_NEVER, 0, false, "the model refused to go on with this",      \
      "rephrase it")                                                                               \
    X(FAIL_OUTPUT, "output_limit", RETRY_GO_ON, 4, false,                                          \
      "the answer was cut off at the output limit", "ask for it in smaller pieces")                \
    X(FAIL_PAUSED, "paused", RETRY_GO_ON, 8, false, "the model paused", "say 'go on'")             \
    X(FAIL_EMPTY, "empty_answer", RETRY_GO_ON, 1, false, "the answer was empty", "say 'go on'")    \
    X(FAIL_LIMIT, "limit", RETRY_NEVER, 0, false, "a limit of yare's own was reached",             \
      "ask for less at once")                                                                      \
    X(FAIL_OTHER, "other", RETRY_NEVER, 0, false, "the request failed", "try again")

/* X(id, in words) */
#define FAILURE_RETRIES(X)                                                                         \
    X(RETRY_NEVER, "never")                                                                        \
    X(RETRY_ONCE, "at once")                                                                       \
    X(RETRY_BACKOFF, "with back-off")          /* jitter; or what Retry-After says */              \
    X(RETRY_FALLBACK, "by the next model")     /* of the list */                                   \
    X(RETRY_SHORTER, "shorter")                /* the tiers: drain, compact */                     \
    X(RETRY_WITHOUT, "without it")             /* dropped, remembered, sent again at once */       \
    X(RETRY_REPAIRED, "with the block mended") /* or left out, with a notice */                    \
    X(RETRY_GO_ON, "asked on")                 /* from where the answer ended */

enum failure_retry {
#define X(id, words) id,
    FAILURE_RETRIES(X)
#undef X
};
enum failure_kind {
#define X(id, ...) id,
    FAILURES(X)
#undef X
        FAILURE_COUNT
};
struct failure {
    enum failure_kind kind;
    const char *name;
    enum failure_retry retry;
    int tries;
    bool fallback;
    const char *what, *advice;
};
const struct failure *failure_at(enum failure_kind k);
const struct failure *failure_of(const struct err *err);
const char *failure_retry_name(enum failure_retry r);

/* Makes the text of an error that ends a turn whole: what happened, the server's words (kept), what to do. At most once. */
void failure_say(struct err *err);
/* The same in print mode, which has no commands: options and variables in their place. */
void failure_say_print(struct err *err);
/* The place that a refusal names ("messages.3.content.1: ..."): indexes into the request. *ret_block SIZE_MAX: the message alone. False:
 * it names none. */
bool failure_place(const struct err *err, size_t *ret_message, size_t *ret_block);
