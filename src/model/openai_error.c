#include "model/openai_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "model/error_text.h"
#include "model/retry_after.h"

#define SHOWN_MAX 300
#define MESSAGE_MAX ERROR_TEXT_MAX

static bool
has_word(struct str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.len; i++)
        if (strncasecmp(s.ptr + i, word, n) == 0)
            return true;
    return false;
}

static bool
has_any(struct str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (has_word(s, words[i]))
            return true;
    return false;
}

/* ---- what it says ---- */

/* [{"loc": ["body", "max_tokens"], "msg": "extra fields not permitted"}]: as "body.max_tokens: extra ...". */
static void
add_details(const struct cJSON *list, struct buf *out)
{
    for (const struct cJSON *d = json_first(list); d; d = json_next(d)) {
        if (out->len)
            buf_adds(out, "; ");
        const struct cJSON *loc = json_get(d, "loc");
        for (const struct cJSON *l = json_first(loc); l; l = json_next(l)) {
            buf_add_str(out, json_value_str(l));
            buf_adds(out, json_next(l) ? "." : ": ");
        }
        buf_add_str(out, json_str(d, "msg"));
    }
}

bool
openai_error_message(const struct cJSON *tree, struct buf *out)
{
    static const char *const paths[] = {"error.message", "error", "message",
                                        "detail",        "msg",   "error_description"};
    size_t before = out->len;
    if (json_is_array(tree)) /* [{"error": {..}}] */
        tree = json_first(tree);
    for (size_t i = 0; i < ARRAY_LEN(paths) && out->len == before; i++)
        buf_add_str(out, str_sub(json_str(tree, paths[i]), 0, MESSAGE_MAX));
    if (out->len == before && json_is_array(json_get(tree, "detail")))
        add_details(json_get(tree, "detail"), out);
    /* A gateway's own words say little; what it got from the server behind it says more. */
    struct str raw = json_str(tree, "error.metadata.raw");
    if (raw.len) {
        buf_adds(out, ": ");
        buf_add_str(out, str_sub(raw, 0, SHOWN_MAX));
    }
    return out->len > before;
}

static struct str
kind_of(const struct cJSON *tree)
{
    static const char *const paths[] = {"error.code", "error.type", "code", "error.status", "type"};
    if (json_is_array(tree))
        tree = json_first(tree);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct str s = json_str(tree, paths[i]);
        /* "500" is a status, not a kind. */
        if (s.len && !(s.ptr[0] >= '0' && s.ptr[0] <= '9') && !str_is(s, "error"))
            return s;
    }
    return STR("");
}

/* Gateways put the status of the server behind them into the error's code. */
static int
status_in(const struct cJSON *tree)
{
    static const char *const paths[] = {"error.code", "error.status_code", "code", "status"};
    if (json_is_array(tree))
        tree = json_first(tree);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct str s = json_str(tree, paths[i]);
        int64_t v = s.len == 3 ? strtoll(s.ptr, NULL, 10) : json_int(tree, paths[i], 0);
        if (v >= 400 && v <= 599)
            return (int)v;
    }
    return 0;
}

/* ---- what it means ---- */

static bool
is_too_long(int status, struct str kind, struct str message)
{
    static const char *const words[] = {
        "context_length_exceeded",
        "exceed_context_size",
        "prompt is too long",
        "prompt too long",
        "maximum context length",
        "context window",
        "exceeds the context",
        "exceed context",
        "exceeds the available context",
        "context size",
        "context length",
        "maximum context size",
        "input is too long",
        "input token count",
        "too many tokens",
        "maximum prompt length",
        "reduce the length of the",
        "max_model_len",
        "longer than the maximum",
        "model's context",
        "prompt contains too many",
        "too large for model",
        "request too large",
        "maximum number of tokens",
        "exceeds maximum input",
        "maximum input length",
    };
    if (status == 413)
        return true;
    /* 429: more in one request than the rate of a whole minute; waiting does not help. */
    if (status == 429)
        return has_word(message, "request too large") || has_word(message, "must be reduced");
    if (status != 0 && status != 400 && status != 422 && status != 500)
        return false;
    return has_any(kind, words, ARRAY_LEN(words)) || has_any(message, words, ARRAY_LEN(words));
}

/* Money does not come by waiting. */
static bool
is_spent(struct str kind, struct str message, bool says_when)
{
    static const char *const words[] = {"current quota", "billing", "credit",
                                        "spend",         "balance", "usage limit"};
    if (has_word(kind, "insufficient_quota") || has_word(kind, "billing"))
        return true;
    return !says_when && has_any(message, words, ARRAY_LEN(words));
}

static bool
is_passing_event(struct str kind, struct str message)
{
    static const char *const passing[] = {"overload",    "server_error", "rate_limit", "timeout",
                                          "unavailable", "internal",     "api_error",  "network"};
    static const char *const lasting[] = {
        "invalid",        "bad",        "not_found",   "not found",
        "authentication", "permission", "unsupported", "not support"};
    if (has_any(kind, passing, ARRAY_LEN(passing)))
        return true;
    return !has_any(kind, lasting, ARRAY_LEN(lasting)) &&
           !has_any(message, lasting, ARRAY_LEN(lasting));
}

/* ---- as struct err ---- */

struct said {
    int status; /* 0: an event in the stream */
    struct str kind, message;
    const char *request_id;
};

static void
set_kind(struct err *err, struct str kind)
{
    size_t n = kind.len < sizeof err->kind - 1 ? kind.len : sizeof err->kind - 1;
    if (n)
        memcpy(err->kind, kind.ptr, n);
    err->kind[n] = '\0';
}

static void
set_text(const struct said *s, struct err *err)
{
    struct buf shown;
    bool has_id = s->request_id && s->request_id[0];
    buf_init(&shown, MESSAGE_MAX);
    text_visible(&shown, str_sub(s->message, 0, SHOWN_MAX));
    char *kind = error_text_word(s->kind), *id = error_text_word(str_from(s->request_id));
    const char *open = has_id ? " (request " : "", *close = has_id ? ")" : "";
    if (s->status)
        err_set(err, ERR_HTTP, "the server answered %d%s%s: %s%s%s%s%s", s->status,
                *kind ? " " : "", kind, buf_cstr(&shown), error_text_advice(s->status), open, id,
                close);
    else
        err_set(err, ERR_HTTP, "the server broke off with %s: %s%s%s%s", *kind ? kind : "an error",
                buf_cstr(&shown), open, id, close);
    free(kind);
    free(id);
    buf_release(&shown);
}

static void
set_error(const struct said *s, struct err *err)
{
    set_text(s, err);
    err->http = s->status;
    bool overloaded =
        has_word(s->kind, "overload") || (!s->status && has_word(s->message, "overloaded"));
    set_kind(err, is_too_long(s->status, s->kind, s->message) ? STR("prompt_too_long")
                  : overloaded                                ? STR("overloaded_error")
                                                              : s->kind);
}

void
openai_error_body(int status, struct str body, int retry_ms, const char *request_id,
                  struct err *err)
{
    struct cJSON *tree = json_parse(body, NULL);
    struct buf message;
    buf_init(&message, BUF_MAX);
    if (!openai_error_message(tree, &message))
        error_text_page(str_trim(body), &message);
    struct said s = {status, kind_of(tree), buf_str(&message), request_id};
    if (!s.message.len)
        s.message = STR("no reason was given");
    set_error(&s, err);
    err->retry_after_ms = retry_ms;
    err->retryable = error_text_is_passing(status) && strcmp(err->kind, "prompt_too_long") != 0 &&
                     !(status == 429 && is_spent(s.kind, s.message, retry_ms > 0));
    buf_release(&message);
    json_free(tree);
}

bool
openai_is_error(const struct cJSON *tree, struct str event)
{
    const struct cJSON *e = json_get(tree, "error");
    if ((e && !json_is_null(e) && !json_is_bool(e)) || str_is(event, "error") ||
        str_is(json_str(tree, "object"), "error") || str_is(json_str(tree, "type"), "error"))
        return true;
    return !json_get(tree, "choices") &&
           (json_get(tree, "detail") || json_str(tree, "message").len);
}

static void
set_event(const struct said *s, int status, struct err *err)
{
    set_error(s, err);
    bool spent = is_spent(s->kind, s->message, false);
    if (strcmp(err->kind, "prompt_too_long") == 0)
        return;
    err->retryable = status ? error_text_is_passing(status) && !(status == 429 && spent)
                            : is_passing_event(s->kind, s->message) && !spent;
}

void
openai_error_event(const struct cJSON *tree, const char *request_id, struct err *err)
{
    static const char *const ids[] = {"error.request_id", "request_id",
                                      "error.metadata.request_id"};
    struct buf message;
    buf_init(&message, BUF_MAX);
    if (!openai_error_message(tree, &message))
        json_print(tree, &message);
    char *own = NULL;
    for (size_t i = 0; i < ARRAY_LEN(ids) && !own && !request_id[0]; i++)
        if (json_str(tree, ids[i]).len)
            own = str_dup(json_str(tree, ids[i]));
    const struct said s = {0, kind_of(tree), buf_str(&message), own ? own : request_id};
    set_event(&s, status_in(tree), err);
    free(own);
    buf_release(&message);
}

void
openai_error_words(struct str words, const char *request_id, struct err *err)
{
    struct buf message;
    buf_init(&message, BUF_MAX);
    error_text_page(str_trim(words), &message);
    const struct said s = {0, STR(""), buf_str(&message), request_id};
    set_event(&s, 0, err);
    buf_release(&message);
}

/* "1s", "6m0s", "120ms", "0.5": how long until a limit is full again. */
static int
parse_span(const char *value)
{
    double ms = 0;
    while (value && *value) {
        char *end;
        double v = strtod(value, &end);
        if (end == value || !(v >= 0)) /* nor "nan" */
            return 0;
        bool milli = end[0] == 'm' && end[1] == 's';
        ms += v * (milli ? 1 : *end == 'm' ? 60000 : *end == 'h' ? 3600000 : 1000);
        value = end + (milli ? 2 : *end ? 1 : 0);
    }
    return ms > 86400000 ? 86400000 : (int)ms;
}

int
openai_retry_after(const char *(*header)(void *ctx, const char *name), void *ctx)
{
    static const char *const left[] = {"x-ratelimit-remaining-requests",
                                       "x-ratelimit-remaining-tokens"};
    static const char *const reset[] = {"x-ratelimit-reset-requests", "x-ratelimit-reset-tokens"};
    const char *exact = header(ctx, "retry-after-ms");
    int ms = exact ? (int)strtol(exact, NULL, 10) : 0;
    if (ms > 0)
        return ms > 86400000 ? 86400000 : ms;
    const char *after = header(ctx, "retry-after");
    if (after)
        return retry_after_ms(after);
    for (size_t i = 0; i < ARRAY_LEN(left); i++) {
        const char *n = header(ctx, left[i]);
        if (n && strtod(n, NULL) <= 0) {
            int span = parse_span(header(ctx, reset[i]));
            ms = span > ms ? span : ms;
        }
    }
    return ms;
}
