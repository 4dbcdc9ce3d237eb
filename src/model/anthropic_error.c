#include "model/anthropic_error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "model/retry_after.h"

static bool
has_word(struct str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.len; i++)
        if (strncasecmp(s.ptr + i, word, n) == 0)
            return true;
    return false;
}

/* However it is worded; 0: no status, an event in the stream. */
static bool
is_too_long(int status, struct str message)
{
    static const char *const words[] = {"prompt is too long", "exceed context limit",
                                        "exceeds the context", "context window"};
    if (status == 413)
        return true;
    if (status != 0 && status != 400 && status != 422)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (has_word(message, words[i]))
            return true;
    return false;
}

static void
set_kind(struct err *err, struct str kind)
{
    snprintf(err->kind, sizeof err->kind, "%.*s", (int)kind.len, kind.ptr ? kind.ptr : "");
}

static void
set_text(struct err *err, enum err_code code, int status, struct str kind, struct str message,
         const char *request_id)
{
    struct buf shown;
    buf_init(&shown, 4096);
    text_visible(&shown, str_sub(message, 0, 380));
    if (status)
        err_set(err, code, "the server answered %d%s%.*s: %s%s%s", status, kind.len ? " " : "",
                (int)kind.len, kind.ptr ? kind.ptr : "", buf_cstr(&shown),
                request_id[0] ? " (request " : "", request_id);
    else
        err_set(err, code, "the server broke off with %.*s: %s%s%s", (int)kind.len,
                kind.ptr ? kind.ptr : "an error", buf_cstr(&shown),
                request_id[0] ? " (request " : "", request_id);
    size_t n = strlen(err->text);
    if (request_id[0] && n + 1 < sizeof err->text)
        memcpy(err->text + n, ")", 2);
    buf_release(&shown);
}

void
anthropic_error_event(const struct cJSON *event, const char *request_id, struct err *err)
{
    static const char *const passing[] = {"overloaded_error", "api_error", "rate_limit_error",
                                          "timeout_error"};
    struct str kind = json_str(event, "error.type"), message = json_str(event, "error.message");
    set_text(err, ERR_HTTP, 0, kind, message, request_id);
    bool too_long = is_too_long(0, message);
    set_kind(err, too_long ? STR("prompt_too_long") : kind);
    for (size_t i = 0; i < ARRAY_LEN(passing) && !too_long; i++)
        err->retryable = err->retryable || str_is(kind, passing[i]);
}

static bool
is_passing(int status, bool has_retry_after, struct str message)
{
    switch (status) {
    case 408:
    case 409:
    case 500:
    case 502:
    case 503:
    case 504:
    case 529:
        return true;
    case 429:
        /* A spend cap does not pass by waiting: it comes without Retry-After and says so. */
        return has_retry_after ||
               !(has_word(message, "spend") || has_word(message, "billing") ||
                 has_word(message, "credit") || has_word(message, "usage limit"));
    default:
        return false;
    }
}

void
anthropic_error_body(int status, struct str body, const char *retry_after, const char *request_id,
                     struct err *err)
{
    struct cJSON *tree = json_parse(body, NULL);
    struct str kind = json_str(tree, "error.type"), message = json_str(tree, "error.message");
    if (!message.len)
        message = str_trim(str_sub(body, 0, 200));
    set_text(err, ERR_HTTP, status, kind, message, request_id);
    err->http = status;
    set_kind(err, is_too_long(status, message) ? STR("prompt_too_long") : kind);
    err->retry_after_ms = retry_after_ms(retry_after);
    err->retryable = is_passing(status, retry_after != NULL, message);
    json_free(tree);
}
