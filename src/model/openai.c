/* Chat completions as a model stream: the connection, and what to ask again without. What is sent is written in
 * openai_body.c, what comes is read in openai_reader.c. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"
#include "base/log.h"
#include "model/anthropic_headers.h"
#include "model/openai_body.h"
#include "model/openai_error.h"
#include "model/openai_raw.h"
#include "model/openai_reader.h"
#include "model/provider.h"
#include "model/server.h"

#define ERROR_BODY_MAX ((size_t)1 << 20)
#define DRAIN_MS 20
/* Behind the reason to finish come usage and the end mark, at once; some servers leave the connection open instead. */
#define SETTLE_MS 3000
#define MODELS_SHOWN 6

struct provider {
    struct model_provider pub;
    char *url;
    struct header_list headers;
    atomic_uint without; /* OPENAI_CAP bits; only ever grows */
};

struct stream {
    struct model_stream pub;
    struct provider *provider;
    const struct model_request *req;
    struct http *http;
    struct str body[BODY_SLICES];
    struct buf scratch;     /* what stands in it around the messages */
    struct body_text *text; /* the messages: the request's, or our own */
    struct body_text own;
    unsigned used; /* flags of what the body makes use of */
    struct openai_offer offer;
    struct openai_reader *reader;
    struct buf plain; /* the answer, when it is no success */
    int64_t settle_at;
    struct openai_raw raw;
    struct delta after_raw; /* the delta that follows the raw events */
    bool answered, drained, has_after, ended;
};

static void
stream_free(struct model_stream *base)
{
    struct stream *s = (struct stream *)base;
    http_free(s->http);
    openai_reader_free(s->reader);
    openai_offer_release(&s->offer);
    openai_raw_release(&s->raw);
    buf_release(&s->scratch);
    body_text_release(&s->own);
    buf_release(&s->plain);
    free(s);
}

/* ---- sending ---- */

static bool
send_request(struct stream *s, struct err *err)
{
    unsigned without = atomic_load(&s->provider->without);
    http_free(s->http);
    s->http = NULL;
    openai_reader_free(s->reader);
    s->reader = NULL;
    buf_clear(&s->scratch);
    buf_clear(&s->plain);
    s->answered = false;
    s->pub.request_id[0] = '\0';
    size_t n = openai_body(s->req, s->text, without, &s->scratch, s->body, &s->used);
    if (buf_full(&s->scratch) || buf_full(&s->text->text))
        return err_set(err, ERR_LIMIT, "the request is larger than %zu MiB", BUF_MAX >> 20);
    s->reader = openai_reader_new(&s->offer, openai_body_tokens(s->text, s->body, n));
    struct http_spec spec = {.method = "POST",
                             .url = s->provider->url,
                             .headers = (const char *const *)s->provider->headers.lines,
                             .body = s->body,
                             .n_body = n};
    s->http = http_start(&spec, err);
    return s->http != NULL;
}

/* A refusal that names a thing of ours: it is left out from now on, and the request goes out again. Each flag falls once, so that this
 * ends. False: it was no such refusal. */
static bool
learn(struct stream *s)
{
    int status = http_status(s->http);
    struct cJSON *tree = json_parse(buf_str(&s->plain), NULL);
    enum openai_cap cap = openai_caps_refused(status, tree, buf_str(&s->plain), s->used);
    json_free(tree);
    if (cap == OPENAI_N_CAPS)
        return false;
    atomic_fetch_or(&s->provider->without, OPENAI_CAP(cap));
    log_warn("openai", "'%s' refused %s (%d: %.300s); asked again: %s", s->provider->url,
             openai_cap_name(cap), status, buf_cstr(&s->plain), openai_cap_without(cap));
    return true;
}

/* ---- receiving ---- */

static bool
is_success(const struct stream *s)
{
    int status = http_status(s->http);
    return status >= 200 && status <= 299;
}

static void
take_bytes(struct stream *s, struct str chunk)
{
    static const char *const ids[] = {"x-request-id", "request-id", "x-amzn-requestid"};
    for (size_t i = 0; i < ARRAY_LEN(ids) && !s->answered && !s->pub.request_id[0]; i++) {
        const char *id = http_header(s->http, ids[i]);
        if (id)
            snprintf(s->pub.request_id, sizeof s->pub.request_id, "%s", id);
    }
    if (!s->answered)
        openai_reader_set_request_id(s->reader, s->pub.request_id);
    s->answered = true;
    if (is_success(s))
        openai_reader_feed(s->reader, chunk);
    else
        buf_add_str(&s->plain, str_sub(chunk, 0, ERROR_BODY_MAX - s->plain.len));
}

static const char *
find_header(void *ctx, const char *name)
{
    return http_header(ctx, name);
}

/* A model that is not there: the ones that are, when the server said so before. */
static void
add_models(const struct stream *s, struct err *err)
{
    size_t n = 0;
    if (err->http != 404 || !s->provider->pub.server)
        return;
    struct server_model *list = model_server_models(s->provider->pub.server, &n);
    struct buf names;
    buf_init(&names, 400);
    for (size_t i = 0; i < n && i < MODELS_SHOWN; i++)
        buf_addf(&names, "%s%s", i ? ", " : "", list[i].id);
    server_models_free(list, n);
    if (names.len) {
        struct err said = *err;
        err_set(err, said.code, "%.280s; it has %s%s", said.text, buf_cstr(&names),
                n > MODELS_SHOWN ? " and more" : "");
        err->http = said.http;
        memcpy(err->kind, said.kind, sizeof err->kind);
    }
    buf_release(&names);
}

static void
say_status(const struct stream *s, struct err *err)
{
    int status = http_status(s->http);
    const char *to = status >= 300 && status <= 399 ? http_header(s->http, "location") : NULL;
    if (to)
        err_set(err, ERR_HTTP,
                "'%s' answered %d, a redirect to '%s': it is not followed, set it as the base URL",
                s->provider->url, status, to);
    else
        openai_error_body(status, buf_str(&s->plain), openai_retry_after(find_header, s->http),
                          s->pub.request_id, err);
    err->http = status;
    add_models(s, err);
}

/* The response is over, cleanly or (http_err: why) not. MODEL_IDLE: it was asked anew, or the reader has the rest. */
static enum model_step
finish(struct stream *s, const struct err *http_err, struct err *err)
{
    if (http_err && http_status(s->http) == 0) {
        *err = *http_err;
        return MODEL_FAILED;
    }
    if (!is_success(s)) {
        if (s->plain.len)
            headers_mask(&s->provider->headers, s->plain.data, s->plain.len);
        if (learn(s))
            return send_request(s, err) ? MODEL_IDLE : MODEL_FAILED;
        say_status(s, err);
        return MODEL_FAILED;
    }
    if (http_err && http_err->code == ERR_TIMEOUT && !openai_reader_is_over(s->reader)) {
        *err = *http_err;
        err->retryable = true;
        return MODEL_FAILED;
    }
    openai_reader_end(s->reader, http_err == NULL);
    return MODEL_IDLE;
}

/* MODEL_IDLE: bytes came, the reader may have more; *ret_over: the wait itself is over. */
static enum model_step
receive(struct stream *s, int wake_fd, int timeout_ms, bool *ret_over, struct err *err)
{
    struct str chunk = {0};
    struct err http_err = {0};
    enum http_step step = http_next(s->http, wake_fd, timeout_ms, &chunk, &http_err);
    switch (step) {
    case HTTP_DATA:
        /* Some give a reason with every chunk: it is silence that ends an answer. */
        s->settle_at = 0;
        take_bytes(s, chunk);
        return MODEL_IDLE;
    case HTTP_IDLE:
        *ret_over = true;
        return MODEL_IDLE;
    case HTTP_DONE:
    case HTTP_FAILED:
        if (!s->answered)
            take_bytes(s, STR(""));
        return finish(s, step == HTTP_FAILED ? &http_err : NULL, err);
    }
    return MODEL_FAILED;
}

/* The few bytes behind [DONE] are read too, so that the connection can serve the next request; they nearly always came with it. */
static void
drain_end(struct stream *s)
{
    s->drained = true;
    http_drain(s->http, DRAIN_MS);
}

/* How long to wait for bytes: the caller's time, or less when only the end mark is missing. -1: no limit. */
static int
wait_ms(struct stream *s, int timeout_ms, int64_t until)
{
    int64_t now = clock_mono_ms(), left = timeout_ms < 0 ? INT32_MAX : until - now;
    if (!openai_reader_is_over(s->reader))
        return timeout_ms < 0 ? -1 : left > 0 ? (int)left : 0;
    if (!s->settle_at)
        s->settle_at = now + SETTLE_MS;
    if (s->settle_at - now < left)
        left = s->settle_at - now;
    return left > 0 ? (int)left : 0;
}

/* The next delta, or the end, of what was read. */
static enum model_step
read_on(struct stream *s, int wake_fd, int timeout_ms, struct delta *ret, struct err *err)
{
    int64_t until = timeout_ms < 0 ? 0 : clock_mono_ms() + timeout_ms;
    bool over = false;
    for (;;) {
        enum model_step step = openai_reader_next(s->reader, ret, err);
        if (step == MODEL_DONE && !s->drained)
            drain_end(s);
        if (step != MODEL_IDLE || over)
            return step;
        int wait = wait_ms(s, timeout_ms, until);
        step = receive(s, wake_fd, wait, &over, err);
        if (step != MODEL_IDLE)
            return step;
        if (over && s->settle_at && clock_mono_ms() >= s->settle_at) {
            openai_reader_end(s->reader, true);
            over = false;
        }
    }
}

/* Each delta comes behind the events that the other wire would have sent for it. */
static enum model_step
next_delta(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
           struct err *err)
{
    struct stream *s = (struct stream *)base;
    for (;;) {
        struct str json;
        if (openai_raw_next(&s->raw, &json)) {
            *ret = (struct delta){.kind = DELTA_RAW, .text = json};
            return MODEL_DELTA;
        }
        if (s->has_after) {
            s->has_after = false;
            *ret = s->after_raw;
            return MODEL_DELTA;
        }
        if (s->ended)
            return MODEL_DONE;
        enum model_step step = read_on(s, wake_fd, timeout_ms, &s->after_raw, err);
        if (step != MODEL_DELTA && step != MODEL_DONE)
            return step;
        s->has_after = step == MODEL_DELTA;
        s->ended = step == MODEL_DONE;
        openai_raw_put(&s->raw, s->has_after ? &s->after_raw : NULL);
    }
}

/* An error in the stream may repeat the key too. */
static enum model_step
stream_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
            struct err *err)
{
    const struct provider *p = ((struct stream *)base)->provider;
    enum model_step step = next_delta(base, wake_fd, timeout_ms, ret, err);
    if (step == MODEL_FAILED)
        headers_mask(&p->headers, err->text, strlen(err->text));
    return step;
}

static const struct model_stream_ops stream_ops = {stream_next, stream_free};

/* ---- the provider ---- */

static struct model_stream *
start(void *self, const struct model_request *req, struct err *err)
{
    struct stream *s = xcalloc(1, sizeof *s);
    s->pub.ops = &stream_ops;
    s->provider = self;
    s->req = req;
    s->text = req->text ? req->text : &s->own;
    buf_init(&s->scratch, BUF_MAX);
    buf_init(&s->plain, ERROR_BODY_MAX);
    openai_offer_init(&s->offer, req, &s->text->ids);
    openai_raw_init(&s->raw);
    if (send_request(s, err))
        return &s->pub;
    stream_free(&s->pub);
    return NULL;
}

static void
provider_free(void *self)
{
    struct provider *p = self;
    headers_release(&p->headers);
    free(p->url);
    free(p);
}

/* People paste it with a slash, with or without its /v1, or the whole path. What has a path of its own (/api/v3, /openai) keeps it. */
static char *
completions_url(const char *base_url)
{
    static const char path[] = "/chat/completions";
    struct str base = str_trim(str_from(base_url ? base_url : "https://api.openai.com/v1"));
    while (str_ends(base, "/"))
        base.len--;
    if (str_ends(base, path))
        base.len -= sizeof path - 1;
    size_t scheme = str_find(base, ':', 0);
    size_t host = scheme != (size_t)-1 && scheme + 3 < base.len ? scheme + 3 : 0;
    bool has_path = str_find(base, '/', host) != (size_t)-1;
    return xasprintf("%.*s%s%s", (int)base.len, base.ptr, has_path ? "" : "/v1", path);
}

struct model_provider *
openai_provider_new(const struct openai_config *c)
{
    struct provider *p = xcalloc(1, sizeof *p);
    enum openai_kind kind = c->kind != OPENAI_KIND_UNKNOWN
                                ? c->kind
                                : openai_kind_of_url(c->base_url ? c->base_url : "api.openai.com");
    p->url = completions_url(c->base_url);
    p->pub =
        (struct model_provider){.name = "openai", .self = p, .start = start, .free = provider_free};
    atomic_init(&p->without, c->without | openai_kind_without(kind));
    headers_init_empty(&p->headers);
    headers_put(&p->headers, STR("content-type"), "", STR("application/json"));
    headers_put(&p->headers, STR("accept"), "", STR("text/event-stream"));
    if (c->user_agent)
        headers_put(&p->headers, STR("user-agent"), "", str_from(c->user_agent));
    if (c->api_key)
        headers_put(&p->headers, STR("authorization"), "Bearer ", str_from(c->api_key));
    if (c->custom_headers)
        headers_put_lines(&p->headers, c->custom_headers);
    return &p->pub;
}
