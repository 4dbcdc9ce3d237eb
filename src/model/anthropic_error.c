#include "model/anthropic_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "model/error_text.h"
#include "model/openai_error.h"
#include "model/retry_after.h"

#define SHOWN_MAX 380

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

struct said {
    int status; /* 0: an event in the stream */
    struct str kind, message;
    const char *request_id;
};

static void
set_text(const struct said *s, enum err_code code, struct err *err)
{
    struct buf shown;
    buf_init(&shown, ERROR_TEXT_MAX);
    text_visible(&shown, str_sub(s->message, 0, SHOWN_MAX));
    char *kind = error_text_word(s->kind), *id = error_text_word(str_from(s->request_id));
    const char *open = *id ? " (request " : "", *close = *id ? ")" : "";
    if (s->status)
        err_set(err, code, "the server answered %d%s%s: %s%s%s%s%s", s->status, *kind ? " " : "",
                kind, buf_cstr(&shown), error_text_advice(s->status), open, id, close);
    else
        err_set(err, code, "the server broke off with %s: %s%s%s%s", *kind ? kind : "an error",
                buf_cstr(&shown), open, id, close);
    free(kind);
    free(id);
    buf_release(&shown);
}

/* What the answer says, in its own words: gateways and proxies answer in other shapes, and with pages. */
static void
add_message(const struct cJSON *tree, struct str body, struct buf *out)
{
    if (!openai_error_message(tree, out))
        error_text_page(str_trim(body), out);
    if (!out->len)
        buf_adds(out, "no reason was given");
}

void
anthropic_error_event(const struct cJSON *event, const char *request_id, struct err *err)
{
    static const char *const passing[] = {"overloaded_error", "api_error", "rate_limit_error",
                                          "timeout_error"};
    struct str kind = json_str(event, "error.type");
    struct buf words;
    buf_init(&words, BUF_MAX);
    add_message(event, STR(""), &words);
    const struct said said = {0, kind, buf_str(&words), request_id};
    set_text(&said, ERR_HTTP, err);
    bool too_long = is_too_long(0, said.message);
    set_kind(err, too_long ? STR("prompt_too_long") : kind);
    for (size_t i = 0; i < ARRAY_LEN(passing) && !too_long; i++)
        err->retryable = err->retryable || str_is(kind, passing[i]);
    buf_release(&words);
}

static bool
is_passing(int status, bool has_retry_after, struct str message)
{
    /* A spend cap does not pass by waiting: it comes without Retry-After and says so. */
    if (status == 429 && !has_retry_after &&
        (has_word(message, "spend") || has_word(message, "billing") ||
         has_word(message, "credit") || has_word(message, "usage limit")))
        return false;
    return error_text_is_passing(status);
}

void
anthropic_error_body(int status, struct str body, const char *retry_after, const char *request_id,
                     struct err *err)
{
    struct cJSON *tree = json_parse(body, NULL);
    struct str kind = json_str(tree, "error.type");
    struct buf words;
    buf_init(&words, BUF_MAX);
    add_message(tree, body, &words);
    const struct said said = {status, kind, buf_str(&words), request_id};
    set_text(&said, ERR_HTTP, err);
    err->http = status;
    set_kind(err, is_too_long(status, said.message) ? STR("prompt_too_long") : kind);
    err->retry_after_ms = retry_after_ms(retry_after);
    err->retryable = is_passing(status, retry_after != NULL, said.message);
    buf_release(&words);
    json_free(tree);
}
