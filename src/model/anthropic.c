/* The Messages API as a model stream. Streams of several threads may run at once: what they share is the headers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"
#include "model/anthropic_error.h"
#include "model/anthropic_event.h"
#include "model/anthropic_halves.h"
#include "model/anthropic_headers.h"
#include "model/provider.h"
#include "model/sse.h"

#define ERROR_BODY_MAX ((size_t)1 << 20)
#define DRAIN_MS 20

struct provider {
    struct model_provider pub;
    char *url;
    pthread_mutex_t lock;       /* guards the betas in headers, ours and the refused ones */
    struct header_list headers; /* the lines never change */
    bool no_count;              /* under the lock: the server has no such endpoint */
};

struct stream {
    struct model_stream pub;
    struct provider *provider;
    struct model_request req; /* what it points to outlives the stream */
    struct http *http;
    struct str slices[BODY_SLICES]; /* the request's body */
    size_t n_slices;
    struct buf scratch;   /* what the slices point to beside the request */
    struct body_text own; /* and where the request keeps no text of its messages */
    struct sse sse;
    struct buf plain;   /* the answer, when it is no event stream */
    struct cJSON *tree; /* of the event that was handed out: deltas borrow from it */
    struct anthropic_halves halves;
    struct delta after_raw[2]; /* its deltas, which follow the raw event */
    size_t n_after, after;     /* of them; the next one to go */
    char minted_id[48];        /* for a tool_use that came without one */
    bool done, drained, answered, with_betas, betas_dropped;
};

static void
stream_free(struct model_stream *base)
{
    struct stream *s = (struct stream *)base;
    http_free(s->http);
    sse_release(&s->sse);
    anthropic_halves_release(&s->halves);
    buf_release(&s->scratch);
    buf_release(&s->plain);
    body_text_release(&s->own);
    json_free(s->tree);
    free(s);
}

/* ---- sending ---- */

/* NULL-terminated, borrowed but for *ret_beta, which may be NULL; free both. */
static const char **
header_lines(struct provider *p, const char *betas, char **ret_beta)
{
    const struct header_list *h = &p->headers;
    const char **lines = xcalloc(h->n + 2, sizeof *lines);
    pthread_mutex_lock(&p->lock);
    *ret_beta = headers_beta_line(h, betas);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < h->n; i++)
        lines[i] = h->lines[i];
    lines[h->n] = *ret_beta;
    return lines;
}

static bool
send_request(struct stream *s, struct err *err)
{
    char *beta;
    const char **lines = header_lines(s->provider, s->req.betas, &beta);
    s->with_betas = beta != NULL;
    struct http_spec spec = {.method = "POST",
                             .url = s->provider->url,
                             .headers = lines,
                             .body = s->slices,
                             .n_body = s->n_slices};
    s->http = http_start(&spec, err);
    free(beta);
    free(lines);
    return s->http != NULL;
}

static bool
make_body(struct stream *s, struct err *err)
{
    struct body_text *text = s->req.text ? s->req.text : &s->own;
    http_free(s->http); /* it has the body that was */
    s->http = NULL;
    buf_clear(&s->scratch);
    s->n_slices = anthropic_body(&s->req, text, &s->scratch, s->slices);
    return (!buf_full(&s->scratch) && !buf_full(&text->text)) ||
           err_set(err, ERR_LIMIT, "%s larger than %zu MiB",
                   buf_full(&s->scratch) ? "the system prompt is" : "the messages are",
                   BUF_MAX >> 20);
}

/* What a refusal calls the member that a beta is for, where it does not name the beta. */
static bool
names_editing(const struct stream *s)
{
    return s->req.context_management && str_contains(buf_str(&s->plain), STR("context_management"));
}

static bool
names_speed(const struct stream *s)
{
    struct str said = buf_str(&s->plain);
    return s->req.fast &&
           (str_contains(said, STR("speed:")) || str_contains(said, STR("`speed`")) ||
            str_contains(said, STR("'speed'")) || str_contains(said, STR("ast mode")));
}

/* What the server said, and the names of the betas that are meant by it. */
static void
meant_betas(const struct stream *s, struct buf *out)
{
    struct str rest = str_from(s->req.betas ? s->req.betas : ""), part;
    buf_add_str(out, buf_str(&s->plain));
    while (str_split(&rest, ',', &part)) {
        if (!(names_editing(s) && str_starts(part, "context-management")) &&
            !(names_speed(s) && str_starts(part, "fast-mode")))
            continue;
        buf_addc(out, ' ');
        buf_add_str(out, part);
    }
}

/* What is asked for by a member of the body goes with its beta: a server that does not know it takes neither. */
static void
drop_refused(struct stream *s)
{
    struct provider *p = s->provider;
    struct buf refused, said;
    buf_init(&refused, sizeof s->pub.betas_refused - 1);
    buf_init(&said, BUF_MAX);
    meant_betas(s, &said);
    pthread_mutex_lock(&p->lock);
    headers_drop_betas(&p->headers, s->req.betas, buf_str(&said), &refused);
    pthread_mutex_unlock(&p->lock);
    snprintf(s->pub.betas_refused, sizeof s->pub.betas_refused, "%s", buf_cstr(&refused));
    if (names_editing(s) || str_contains(buf_str(&refused), STR("context-management")))
        s->req.context_management = NULL;
    if (names_speed(s) || str_contains(buf_str(&refused), STR("fast-mode")))
        s->req.fast = false;
    buf_release(&said);
    buf_release(&refused);
}

/* An unknown beta is a 400 that names the header (or what it is for): asked once more without it, and it stays dropped, so that a
 * server that knows fewer betas than were asked for can be used at all. */
static bool
retry_without_betas(struct stream *s, struct err *err)
{
    if (http_status(s->http) != 400 || s->betas_dropped || !s->with_betas ||
        !(str_contains(buf_str(&s->plain), STR("anthropic-beta")) || names_editing(s) ||
          names_speed(s)))
        return false;
    drop_refused(s);
    log_warn("anthropic", "the server refused betas: %s", buf_cstr(&s->plain));
    s->betas_dropped = true;
    s->pub.request_id[0] = '\0';
    buf_clear(&s->plain);
    s->answered = false;
    return make_body(s, err) && send_request(s, err);
}

/* ---- receiving ---- */

static void
mint_id(struct stream *s, struct delta *d)
{
    char uuid[UUID_LEN + 1];
    if (d->kind != DELTA_BLOCK_START || d->block != BLOCK_TOOL_USE || d->id.len)
        return;
    uuid_make(uuid);
    snprintf(s->minted_id, sizeof s->minted_id, "toolu_%s", uuid);
    d->id = str_from(s->minted_id);
}

/* Takes the next event from the parser. MODEL_IDLE: more bytes are needed. */
static enum model_step
next_event(struct stream *s, struct delta *ret, struct err *err)
{
    struct str event, data, bytes, shown;
    struct delta d;
    if (s->done)
        return MODEL_DONE;
    if (!sse_next(&s->sse, &event, &data)) {
        if (!sse_overflowed(&s->sse))
            return MODEL_IDLE;
        err_set(err, ERR_LIMIT, "the server sent an event of more than %zu MiB",
                SSE_EVENT_MAX >> 20);
        return MODEL_FAILED;
    }
    json_free(s->tree);
    s->tree = anthropic_halves_parse(&s->halves, data, &bytes, &shown, err);
    if (!s->tree) {
        err_wrap(err, "the server sent an event that is no JSON");
        err->retryable = true;
        return MODEL_FAILED;
    }
    struct str type = json_str(s->tree, "type");
    if (str_is(type, "error")) {
        anthropic_error_event(s->tree, s->pub.request_id, err);
        return MODEL_FAILED;
    }
    s->done = str_is(type, "message_stop");
    s->after = s->n_after = 0;
    bool has = anthropic_read_event(s->tree, bytes, &d);
    if (has)
        mint_id(s, &d);
    if (has || s->done)
        s->n_after = anthropic_halves_deltas(&s->halves, has ? &d : NULL, s->after_raw);
    *ret = (struct delta){.kind = DELTA_RAW, .text = shown};
    return MODEL_DELTA;
}

static bool
is_success(const struct stream *s)
{
    int status = http_status(s->http);
    return status >= 200 && status <= 299;
}

static bool
is_event_stream(const struct stream *s)
{
    static const char type[] = "text/event-stream";
    const char *value = http_header(s->http, "content-type");
    return !value || strncasecmp(value, type, sizeof type - 1) == 0;
}

/* 200, but something else than events: a web page, a proxy's note, a server that cannot stream. */
static void
say_no_stream(const struct stream *s, struct err *err)
{
    struct cJSON *tree = json_parse(buf_str(&s->plain), NULL);
    const char *type = http_header(s->http, "content-type");
    if (str_is(json_str(tree, "type"), "error"))
        anthropic_error_event(tree, s->pub.request_id, err);
    else
        err_set(err, ERR_HTTP,
                "'%s' answered with '%s' instead of an event stream: check the base URL",
                s->provider->url, type ? type : "");
    err->http = http_status(s->http);
    json_free(tree);
}

static void
say_status(const struct stream *s, struct err *err)
{
    int status = http_status(s->http);
    const char *to = status >= 300 && status <= 399 ? http_header(s->http, "location") : NULL;
    char *target = xstrdup(to), *after = xstrdup(http_header(s->http, "retry-after"));
    if (target)
        err_set(err, ERR_HTTP,
                "'%s' answered %d, a redirect to '%s': it is not followed, set it as the base URL",
                s->provider->url, status, target);
    else
        anthropic_error_body(status, buf_str(&s->plain), after, s->pub.request_id, err);
    err->http = status;
    free(target);
    free(after);
}

/* The response is over, cleanly or (http_err: why) not. MODEL_IDLE: it was asked anew. */
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
        err_clear(err);
        if (retry_without_betas(s, err))
            return MODEL_IDLE;
        if (err->code == ERR_NONE)
            say_status(s, err);
        return MODEL_FAILED;
    }
    if (http_err) {
        *err = *http_err;
        if (err->code != ERR_TIMEOUT)
            err_wrap(err, "the connection was closed in the middle of the answer");
        if (err->code != ERR_TIMEOUT)
            memcpy(err->kind, "cut", sizeof "cut");
        err->retryable = true;
    } else if (!is_event_stream(s)) {
        say_no_stream(s, err);
    } else {
        err_set(err, ERR_NET, "the connection was closed in the middle of the answer");
        memcpy(err->kind, "cut", sizeof "cut");
        err->retryable = true;
    }
    return MODEL_FAILED;
}

static void
take_bytes(struct stream *s, struct str chunk)
{
    const char *id = s->answered ? NULL : http_header(s->http, "request-id");
    if (id)
        snprintf(s->pub.request_id, sizeof s->pub.request_id, "%s", id);
    s->answered = true;
    if (is_success(s) && is_event_stream(s))
        sse_feed(&s->sse, chunk);
    else
        buf_add_str(&s->plain, str_sub(chunk, 0, ERROR_BODY_MAX - s->plain.len));
}

/* MODEL_IDLE: bytes came, the parser may have more; *ret_over: the wait itself is over. */
static enum model_step
receive(struct stream *s, int wake_fd, int timeout_ms, bool *ret_over, struct err *err)
{
    struct str chunk = {0};
    struct err http_err = {0};
    enum http_step step = http_next(s->http, wake_fd, timeout_ms, &chunk, &http_err);
    switch (step) {
    case HTTP_DATA:
        take_bytes(s, chunk);
        return MODEL_IDLE;
    case HTTP_IDLE:
        *ret_over = true;
        return MODEL_IDLE;
    case HTTP_DONE:
    case HTTP_FAILED:
        if (!s->answered)
            take_bytes(s, (struct str){"", 0});
        return finish(s, step == HTTP_FAILED ? &http_err : NULL, err);
    }
    return MODEL_FAILED;
}

/* The few bytes behind the last event are read too: then the connection can serve the next request, which saves its handshakes. They
 * nearly always came with it; a server that dawdles is not waited for. */
static void
drain_end(struct stream *s)
{
    s->drained = true;
    http_drain(s->http, DRAIN_MS);
}

static enum model_step
next_delta(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
           struct err *err)
{
    struct stream *s = (struct stream *)base;
    int64_t until = timeout_ms < 0 ? 0 : clock_mono_ms() + timeout_ms;
    bool over = false;
    if (s->after < s->n_after) {
        *ret = s->after_raw[s->after++];
        return MODEL_DELTA;
    }
    for (;;) {
        enum model_step step = next_event(s, ret, err);
        if (step == MODEL_DONE && !s->drained)
            drain_end(s);
        if (step != MODEL_IDLE || over)
            return step;
        int64_t left = timeout_ms < 0 ? -1 : until - clock_mono_ms();
        step = receive(s, wake_fd, timeout_ms < 0 ? -1 : left > 0 ? (int)left : 0, &over, err);
        if (step != MODEL_IDLE)
            return step;
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
    s->req = *req;
    sse_init(&s->sse);
    anthropic_halves_init(&s->halves);
    buf_init(&s->scratch, BUF_MAX);
    buf_init(&s->plain, ERROR_BODY_MAX);
    if (make_body(s, err) && send_request(s, err))
        return &s->pub;
    stream_free(&s->pub);
    return NULL;
}

/* ---- counting ---- */

#define COUNT_ANSWER_MAX 65536

static bool
read_count(struct provider *p, int status, struct str body, int64_t *ret_tokens, struct err *err)
{
    struct cJSON *tree = json_parse(body, NULL);
    int64_t tokens = json_count(tree, "input_tokens");
    json_free(tree);
    if (status == 200 && tokens > 0) {
        *ret_tokens = tokens;
        return true;
    }
    if (status == 404 || status == 405 || status == 501) {
        pthread_mutex_lock(&p->lock);
        p->no_count = true;
        pthread_mutex_unlock(&p->lock);
    }
    return err_set(err, ERR_HTTP, "counting tokens was answered %d", status);
}

static bool
count_tokens(void *self, const struct model_request *req, int timeout_ms, int64_t *ret_tokens,
             struct err *err)
{
    struct provider *p = self;
    pthread_mutex_lock(&p->lock);
    bool asked_in_vain = p->no_count;
    pthread_mutex_unlock(&p->lock);
    if (asked_in_vain)
        return err_set(err, ERR_UNSUPPORTED, "this server does not count tokens");
    struct str slices[BODY_SLICES];
    struct body_text own = {0};
    struct buf scratch, answer;
    char *beta, *url = xasprintf("%s/count_tokens", p->url);
    const char **lines = header_lines(p, req->betas, &beta);
    buf_init(&scratch, BUF_MAX);
    buf_init(&answer, COUNT_ANSWER_MAX);
    const struct http_spec spec = {
        .method = "POST",
        .url = url,
        .headers = lines,
        .body = slices,
        .n_body = anthropic_count_body(req, req->text ? req->text : &own, &scratch, slices)};
    int status = 0;
    bool ok = http_fetch(&spec, NULL, timeout_ms, &answer, &status, err) &&
              read_count(p, status, buf_str(&answer), ret_tokens, err);
    buf_release(&scratch);
    buf_release(&answer);
    free(lines);
    free(beta);
    free(url);
    body_text_release(&own);
    return ok;
}

static void
provider_free(void *self)
{
    struct provider *p = self;
    headers_release(&p->headers);
    pthread_mutex_destroy(&p->lock);
    free(p->url);
    free(p);
}

#define OWN_URL "https://api.anthropic.com"
#define MESSAGES "/v1/messages"

/* People paste it with a slash, and with the /v1 that other wires want. */
static char *
messages_url(const char *base_url)
{
    struct str base = str_trim(str_from(base_url ? base_url : OWN_URL));
    while (str_ends(base, "/"))
        base.len--;
    if (str_ends(base, "/v1"))
        base.len -= 3;
    return xasprintf("%.*s" MESSAGES, (int)base.len, base.ptr);
}

struct model_provider *
anthropic_provider_new(const struct anthropic_config *c)
{
    struct provider *p = xcalloc(1, sizeof *p);
    p->url = messages_url(c->base_url);
    p->pub = (struct model_provider){.name = "anthropic",
                                     .self = p,
                                     .start = start,
                                     .free = provider_free,
                                     .count = count_tokens,
                                     .gateway = !str_is(str_from(p->url), OWN_URL MESSAGES)};
    pthread_mutex_init(&p->lock, NULL);
    headers_init(&p->headers, c);
    return &p->pub;
}
