/* The Messages API as a model stream (SURFACE section 11). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http.h"
#include "base/json.h"
#include "base/log.h"
#include "model/anthropic_error.h"
#include "model/provider.h"
#include "model/sse.h"

#define API_VERSION "2023-06-01"
#define ERROR_BODY_MAX ((size_t)1 << 20)

struct provider {
    struct model_provider pub;
    char *url;
    char **headers; /* NULL-terminated */
    size_t n_headers, cap_headers;
};

struct stream {
    struct model_stream pub;
    struct http *http;
    struct str *slices;
    struct buf scratch; /* what the slices point to beside the request */
    struct sse sse;
    struct buf error_body;
    struct cJSON
        *tree; /* of the event whose delta was handed out: its strings are borrowed from it */
    struct delta after_raw;
    struct str raw_data;
    bool raw_pending, done, counted;
    size_t text_bytes;
};

static void
add_header(struct provider *p, char *take_line)
{
    ARRAY_GROW(p->headers, p->n_headers + 1, p->cap_headers);
    p->headers[p->n_headers++] = take_line;
    p->headers[p->n_headers] = NULL;
}

static void
provider_free(void *self)
{
    struct provider *p = self;
    for (size_t i = 0; i < p->n_headers; i++)
        free(p->headers[i]);
    free(p->headers);
    free(p->url);
    free(p);
}

static void
stream_free(struct model_stream *base)
{
    struct stream *s = (struct stream *)base;
    http_free(s->http);
    sse_release(&s->sse);
    buf_release(&s->scratch);
    buf_release(&s->error_body);
    json_free(s->tree);
    free(s->slices);
    free(s);
}

static void
read_usage(const struct cJSON *u, struct usage *ret)
{
    ret->input = json_int(u, "input_tokens", 0);
    ret->output = json_int(u, "output_tokens", 0);
    ret->cache_read = json_int(u, "cache_read_input_tokens", 0);
    ret->cache_write = json_int(u, "cache_creation_input_tokens", 0);
}

static bool
read_block_start(const struct cJSON *t, struct delta *d)
{
    static const struct {
        const char *type;
        enum block_kind kind;
    } kinds[] = {{"text", BLOCK_TEXT},
                 {"thinking", BLOCK_THINKING},
                 {"redacted_thinking", BLOCK_REDACTED_THINKING},
                 {"tool_use", BLOCK_TOOL_USE}};
    struct str type = json_str(t, "content_block.type");
    d->kind = DELTA_BLOCK_START;
    d->block = BLOCK_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].type))
            d->block = kinds[i].kind;
    d->id = json_str(t, "content_block.id");
    d->name = json_str(t, "content_block.name");
    d->text = d->block == BLOCK_REDACTED_THINKING ? json_str(t, "content_block.data")
              : d->block == BLOCK_THINKING        ? json_str(t, "content_block.thinking")
                                                  : json_str(t, "content_block.text");
    return true;
}

static bool
read_block_delta(const struct cJSON *t, struct delta *d)
{
    static const struct {
        const char *type, *path;
        enum delta_kind kind;
    } kinds[] = {{"text_delta", "delta.text", DELTA_TEXT},
                 {"thinking_delta", "delta.thinking", DELTA_THINKING},
                 {"signature_delta", "delta.signature", DELTA_SIGNATURE},
                 {"input_json_delta", "delta.partial_json", DELTA_INPUT_JSON}};
    struct str type = json_str(t, "delta.type");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(type, kinds[i].type))
            continue;
        d->kind = kinds[i].kind;
        d->text = json_str(t, kinds[i].path);
        return d->text.len > 0;
    }
    return false; /* citations and what is newer than this program */
}

/* False: the event has no delta of its own. */
static bool
read_event(const struct cJSON *t, struct delta *d)
{
    struct str type = json_str(t, "type");
    d->index = (int)json_int(t, "index", 0);
    if (str_is(type, "message_start")) {
        d->kind = DELTA_MESSAGE_START;
        d->id = json_str(t, "message.id");
        d->name = json_str(t, "message.model");
        read_usage(json_at(t, "message.usage"), &d->usage);
        return true;
    }
    if (str_is(type, "content_block_start"))
        return read_block_start(t, d);
    if (str_is(type, "content_block_delta"))
        return read_block_delta(t, d);
    if (str_is(type, "content_block_stop")) {
        d->kind = DELTA_BLOCK_STOP;
        return true;
    }
    if (str_is(type, "message_delta")) {
        d->kind = DELTA_USAGE;
        read_usage(json_at(t, "usage"), &d->usage);
        d->stop = stop_reason_parse(json_str(t, "delta.stop_reason"));
        return true;
    }
    if (str_is(type, "ping")) {
        d->kind = DELTA_PING;
        return true;
    }
    return false;
}

/* Takes events from the parser until one has something to hand out. MODEL_IDLE: more bytes are needed. */
static enum model_step
next_event(struct stream *s, struct delta *ret, struct err *err)
{
    struct str event, data;
    while (!s->done && sse_next(&s->sse, &event, &data)) {
        json_free(s->tree);
        s->tree = json_parse(data, err);
        if (!s->tree) {
            err_wrap(err, "the server sent an event that is no JSON");
            err->retryable = true;
            return MODEL_FAILED;
        }
        if (str_is(json_str(s->tree, "type"), "error")) {
            anthropic_error_event(s->tree, s->pub.request_id, err);
            return MODEL_FAILED;
        }
        if (str_is(json_str(s->tree, "type"), "message_stop"))
            s->done = true;
        struct delta d = {0};
        s->raw_pending = read_event(s->tree, &d);
        s->after_raw = d;
        *ret = (struct delta){.kind = DELTA_RAW, .text = data};
        return MODEL_DELTA;
    }
    return s->done ? MODEL_DONE : MODEL_IDLE;
}

static enum model_step
finish(struct stream *s, struct err *err)
{
    int status = http_status(s->http);
    if (status < 200 || status > 299) {
        anthropic_error_body(status, buf_str(&s->error_body), http_header(s->http, "retry-after"),
                             s->pub.request_id, err);
        return MODEL_FAILED;
    }
    if (s->done)
        return MODEL_DONE;
    err_set(err, ERR_NET, "the connection was closed in the middle of the answer");
    err->retryable = true;
    return MODEL_FAILED;
}

static void
note_request_id(struct stream *s)
{
    const char *id = http_header(s->http, "request-id");
    if (id && !s->pub.request_id[0])
        snprintf(s->pub.request_id, sizeof s->pub.request_id, "%s", id);
}

static enum model_step
stream_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
            struct err *err)
{
    struct stream *s = (struct stream *)base;
    if (s->raw_pending) {
        s->raw_pending = false;
        *ret = s->after_raw;
        return MODEL_DELTA;
    }
    for (;;) {
        struct str chunk;
        enum model_step step = next_event(s, ret, err);
        if (step != MODEL_IDLE)
            return step;
        switch (http_next(s->http, wake_fd, timeout_ms, &chunk, err)) {
        case HTTP_DATA:
            note_request_id(s);
            if (http_status(s->http) > 299) {
                if (s->error_body.len + chunk.len <= ERROR_BODY_MAX)
                    buf_add_str(&s->error_body, chunk);
            } else if (!sse_feed(&s->sse, chunk)) {
                err_set(err, ERR_LIMIT, "the server sent an event of more than %zu bytes",
                        SSE_EVENT_MAX);
                return MODEL_FAILED;
            }
            break;
        case HTTP_IDLE:
            return MODEL_IDLE;
        case HTTP_DONE:
            note_request_id(s);
            return finish(s, err);
        case HTTP_FAILED:
            return MODEL_FAILED;
        }
    }
}

static const struct model_stream_ops stream_ops = {stream_next, stream_free};

static struct model_stream *
start(void *self, const struct model_request *req, struct err *err)
{
    struct provider *p = self;
    struct stream *s = xcalloc(1, sizeof *s);
    size_t cap = 16 + 5 * req->n_messages;

    s->pub.ops = &stream_ops;
    sse_init(&s->sse);
    buf_init(&s->scratch, BUF_MAX);
    buf_init(&s->error_body, ERROR_BODY_MAX);
    s->slices = xcalloc(cap, sizeof *s->slices);
    size_t n = anthropic_body(req, &s->scratch, s->slices, cap);
    struct http_spec spec = {.method = "POST",
                             .url = p->url,
                             .headers = (const char *const *)p->headers,
                             .body = s->slices,
                             .n_body = n};
    s->http = http_start(&spec, err);
    if (!s->http) {
        stream_free(&s->pub);
        return NULL;
    }
    return &s->pub;
}

static void
add_custom_headers(struct provider *p, const char *lines)
{
    struct str rest = str_from(lines), line;
    while (lines && str_split(&rest, '\n', &line)) {
        line = str_trim(line);
        if (str_find(line, ':', 0) != (size_t)-1 && str_find(line, '\r', 0) == (size_t)-1)
            add_header(p, str_dup(line));
    }
}

struct model_provider *
anthropic_provider_new(const struct anthropic_config *c)
{
    struct provider *p = xcalloc(1, sizeof *p);
    struct str base = str_from(c->base_url ? c->base_url : "https://api.anthropic.com");
    while (str_ends(base, "/"))
        base.len--;
    p->url = xasprintf("%.*s/v1/messages", (int)base.len, base.ptr);
    p->pub = (struct model_provider){"anthropic", p, start, provider_free};
    add_header(p, xstrdup("content-type: application/json"));
    add_header(p, xstrdup("accept: text/event-stream"));
    add_header(p, xstrdup("anthropic-version: " API_VERSION));
    if (c->user_agent)
        add_header(p, xasprintf("user-agent: %s", c->user_agent));
    if (c->api_key)
        add_header(p, xasprintf("x-api-key: %s", c->api_key));
    else if (c->auth_token)
        add_header(p, xasprintf("authorization: Bearer %s", c->auth_token));
    if (c->betas && *c->betas)
        add_header(p, xasprintf("anthropic-beta: %s", c->betas));
    add_custom_headers(p, c->custom_headers);
    return &p->pub;
}
