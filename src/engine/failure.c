#include "engine/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/text.h"
#include "engine/retry.h"

static const struct failure table[] = {
#define X(id, name, retry, tries, fallback, what, advice)                                          \
    [id] = {id, name, retry, tries, fallback, what, advice},
    FAILURES(X)
#undef X
};

const struct failure *
failure_at(enum failure_kind k)
{
    return &table[k];
}

const char *
failure_retry_name(enum failure_retry r)
{
    static const char *const names[] = {
#define X(id, words) [id] = words,
        FAILURE_RETRIES(X)
#undef X
    };
    return names[r];
}

/* ---- what it is ---- */

/* Words of the kind that a peer or the network layer gave. The first row that fits counts. */
static const struct {
    const char *word;
    enum failure_kind kind;
} kinds[] = {
    {"gateway_limit", FAIL_GATEWAY},
    {"address", FAIL_ADDRESS},
    {"refused", FAIL_REFUSED},
    {"dns", FAIL_DNS},
    {"tls", FAIL_TLS},
    {"stall", FAIL_STALL},
    {"cut", FAIL_CUT},
    {"insufficient_quota", FAIL_BILLING},
    {"billing", FAIL_BILLING},
    {"overload", FAIL_OVERLOADED},
    {"rate_limit", FAIL_RATE},
    {"authentication", FAIL_AUTH},
    {"permission", FAIL_AUTH},
    {"invalid_api_key", FAIL_AUTH},
    {"model_not_found", FAIL_MODEL},
    {"not_found", FAIL_MODEL},
    {"api_error", FAIL_SERVER},
    {"server_error", FAIL_SERVER},
    {"timeout", FAIL_SERVER},
    {"unavailable", FAIL_SERVER},
};

static enum failure_kind
by_kind(const struct err *err, enum failure_kind otherwise)
{
    for (size_t i = 0; err->kind[0] && i < ARRAY_LEN(kinds); i++)
        if (strcasestr(err->kind, kinds[i].word))
            return kinds[i].kind;
    return otherwise;
}

/* A request that says more than the server understands. The option is named in its words. */
static bool
names_an_option(const struct err *err)
{
    static const char *const options[] = {"anthropic-beta", "context_management", "output_config",
                                          "Unexpected value(s) for the"};
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (strcasestr(err->text, options[i]))
            return true;
    return false;
}

static enum failure_kind
of_bad_request(const struct err *err)
{
    size_t message, block;
    if (names_an_option(err))
        return FAIL_BETA;
    if (failure_place(err, &message, &block))
        return FAIL_BLOCK;
    return by_kind(err, FAIL_REQUEST);
}

static enum failure_kind
of_status(const struct err *err)
{
    switch (err->http) {
    case 400:
    case 422:
        return of_bad_request(err);
    case 401:
    case 403:
        return FAIL_AUTH;
    case 402:
        return FAIL_BILLING;
    case 404:
        return FAIL_MODEL;
    case 405: /* another service */
    case 407: /* a proxy */
    case 511: /* the login page of a network */
        return FAIL_ADDRESS;
    case 429:
        if (err->retryable)
            return FAIL_RATE;
        return by_kind(err, FAIL_SPEND_CAP) == FAIL_BILLING ? FAIL_BILLING : FAIL_SPEND_CAP;
    case 503:
    case 529:
        return err->retryable ? FAIL_OVERLOADED : FAIL_REQUEST;
    default:
        break;
    }
    if (err->http >= 300 && err->http <= 399)
        return FAIL_ADDRESS;
    if (err->retryable)
        return by_kind(err, FAIL_SERVER);
    return by_kind(err, FAIL_REQUEST) == FAIL_BILLING ? FAIL_BILLING : FAIL_REQUEST;
}

/* After HTTP 200, in the stream. */
static enum failure_kind
of_event(const struct err *err)
{
    enum failure_kind k = by_kind(err, err->retryable ? FAIL_SERVER : FAIL_REQUEST);
    if (err->http && !err->kind[0]) /* all of the answer, and no stream */
        return FAIL_ADDRESS;
    if (k == FAIL_RATE && !err->retryable)
        return FAIL_SPEND_CAP;
    return !err->retryable && table[k].retry == RETRY_BACKOFF ? FAIL_REQUEST : k;
}

static enum failure_kind
of_net(const struct err *err)
{
    enum failure_kind k = by_kind(err, err->retryable ? FAIL_TRANSPORT : FAIL_OTHER);
    return !err->retryable && table[k].retry == RETRY_BACKOFF ? FAIL_OTHER : k;
}

static enum failure_kind
classify(const struct err *err)
{
    if (retry_is_too_long(err))
        return FAIL_TOO_LONG;
    switch (err->code) {
    case ERR_NET:
        return of_net(err);
    case ERR_TIMEOUT:
        return by_kind(err, FAIL_TRANSPORT);
    case ERR_PARSE:
        return FAIL_JUNK;
    case ERR_LIMIT:
        return FAIL_LIMIT;
    case ERR_HTTP:
        return err->http >= 300 ? of_status(err) : of_event(err);
    default:
        return by_kind(err, err->retryable ? FAIL_TRANSPORT : FAIL_OTHER);
    }
}

const struct failure *
failure_of(const struct err *err)
{
    return &table[classify(err)];
}

/* ---- where it is ---- */

static bool
read_index(const char **at, size_t *ret)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long v = strtoul(*at, &end, 10);
    if (v > 10000000)
        return false;
    *ret = v;
    *at = end;
    return true;
}

bool
failure_place(const struct err *err, size_t *ret_message, size_t *ret_block)
{
    static const char messages[] = "messages.", content[] = ".content.";
    size_t block = SIZE_MAX, message;
    const char *at = strstr(err->text, messages);
    if (!at)
        return false;
    at += sizeof messages - 1;
    if (!read_index(&at, &message))
        return false;
    if (strncmp(at, content, sizeof content - 1) == 0) {
        at += sizeof content - 1;
        if (!read_index(&at, &block))
            block = SIZE_MAX;
    }
    *ret_message = message;
    *ret_block = block;
    return true;
}

/* ---- what is said ---- */

static void
add_wait(const struct err *err, struct buf *out)
{
    int64_t s = err->retry_after_ms / 1000;
    if (err->retry_after_ms <= RETRY_AFTER_MAX_MS)
        return;
    if (s >= 7200)
        buf_addf(out, "; it asks to wait %lld h", (long long)(s / 3600));
    else
        buf_addf(out, "; it asks to wait %lld min", (long long)(s / 60));
}

static const char *
print_advice(const struct failure *f)
{
    static const struct {
        enum failure_kind kind;
        const char *advice;
    } others[] = {
        {FAIL_REFUSED, "start the server, or name another with --base-url, ANTHROPIC_BASE_URL or "
                       "OPENAI_BASE_URL"},
        {FAIL_RATE, "wait a while, or name another model with --model or --fallback-model"},
        {FAIL_OVERLOADED, "wait a while, or name another model with --model or --fallback-model"},
        {FAIL_TOO_LONG, "begin a new session, or give a shorter prompt"},
        {FAIL_BLOCK, "begin a new session"},
        {FAIL_REQUEST, "name another model with --model, or begin a new session; the request id "
                       "helps its support"},
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (others[i].kind == f->kind)
            return others[i].advice;
    return f->advice;
}

static void
say(struct err *err, const struct failure *f, const char *advice)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    /* The words may hold it already: a server's, a wire's advice, or this function's own. */
    if (!strcasestr(err->text, f->what))
        buf_addf(&b, "%s: ", f->what);
    size_t room = sizeof err->text - b.len - strlen(advice) - 40;
    buf_add_str(&b, text_start(str_from(err->text), room));
    add_wait(err, &b);
    if (!strcasestr(err->text, advice))
        buf_addf(&b, ". What to do: %s", advice);
    (void)snprintf(err->text, sizeof err->text, "%s", buf_cstr(&b));
    buf_release(&b);
}

void
failure_say(struct err *err)
{
    const struct failure *f = failure_of(err);
    say(err, f, f->advice);
}

void
failure_say_print(struct err *err)
{
    const struct failure *f = failure_of(err);
    say(err, f, print_advice(f));
}
