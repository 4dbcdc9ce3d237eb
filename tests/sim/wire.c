/* base/http.h over the simulated server, in place of libcurl (--wrap): the provider above it is the real one, so bytes are cut anywhere,
 * headers are read, and time-outs are the world's. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/http.h"
#include "sim/session.h"
#include "sim/world.h"

#define IDLE_MS 600000
#define CHUNKS 6

struct http *__wrap_http_start(const struct http_spec *spec, struct err *err);
enum http_step __wrap_http_next(struct http *h, int wake_fd, int timeout_ms, struct str *ret_data,
                                struct err *err);
void __wrap_http_drain(struct http *h, int ms);
int __wrap_http_status(const struct http *h);
const char *__wrap_http_header(const struct http *h, const char *name);
void __wrap_http_free(struct http *h);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

struct http {
    struct plan plan;
    size_t at;
    int64_t next_ms, idle_until; /* when the next bytes are there */
    int idle_ms;
    bool begun;
};

struct http *
__wrap_http_start(const struct http_spec *spec, struct err *err)
{
    (void)err;
    struct http *h = xcalloc(1, sizeof *h);
    const char *betas = NULL;
    for (size_t i = 0; spec->headers && spec->headers[i]; i++)
        if (strncasecmp(spec->headers[i], "anthropic-beta:", 15) == 0)
            betas = spec->headers[i] + 15;
    buf_init(&h->plan.bytes, BUF_MAX);
    if (str_ends(str_from(spec->url), "/count_tokens"))
        server_count(&sim->server, spec->body, spec->n_body, &h->plan);
    else
        server_answer(&sim->server, spec->body, spec->n_body, betas, &h->plan);
    h->idle_ms = spec->idle_timeout_ms > 0 ? spec->idle_timeout_ms : IDLE_MS;
    h->next_ms = world_now_ms() + (int64_t)world_pick(400);
    h->idle_until = world_now_ms() + h->idle_ms;
    return h;
}

/* False: the wait was over first. */
static bool
wait_for_bytes(struct http *h, int wake_fd, int timeout_ms)
{
    int64_t until =
        h->plan.end == PLAN_STALL && h->at == h->plan.bytes.len ? h->idle_until : h->next_ms;
    int64_t left = until - world_now_ms();
    if (left <= 0)
        return true;
    bool mine = timeout_ms < 0 || left <= timeout_ms;
    struct pollfd p = {.fd = wake_fd, .events = POLLIN};
    int n = __wrap_poll(&p, wake_fd >= 0 ? 1 : 0, mine ? (int)left : timeout_ms);
    return n == 0 && mine;
}

static enum http_step
next_chunk(struct http *h, struct str *ret)
{
    size_t left = h->plan.bytes.len - h->at;
    size_t n = 1 + (size_t)world_pick((unsigned)(2 * h->plan.bytes.len / CHUNKS) + 1);
    if (n > left)
        n = left;
    *ret = str_make(h->plan.bytes.data + h->at, n);
    h->at += n;
    h->begun = true;
    h->next_ms = world_now_ms() + (world_pick(3) ? 0 : (int64_t)world_pick(300));
    h->idle_until = world_now_ms() + h->idle_ms;
    return HTTP_DATA;
}

enum http_step
__wrap_http_next(struct http *h, int wake_fd, int timeout_ms, struct str *ret_data, struct err *err)
{
    if (!wait_for_bytes(h, wake_fd, timeout_ms))
        return HTTP_IDLE;
    if (h->plan.no_connection) {
        err_set(err, ERR_NET, "'http://sim': no connection");
        err->retryable = true;
        return HTTP_FAILED;
    }
    if (h->at < h->plan.bytes.len)
        return next_chunk(h, ret_data);
    h->begun = true;
    switch (h->plan.end) {
    case PLAN_DONE:
        return HTTP_DONE;
    case PLAN_CUT:
        err_set(err, ERR_NET, "'http://sim': it broke off");
        break;
    case PLAN_STALL:
        err_set(err, ERR_TIMEOUT, "'http://sim': not a byte for %d s", h->idle_ms / 1000);
        break;
    }
    err->retryable = true;
    return HTTP_FAILED;
}

void
__wrap_http_drain(struct http *h, int ms)
{
    (void)h;
    (void)ms;
}

int
__wrap_http_status(const struct http *h)
{
    return h->begun ? h->plan.status : 0;
}

const char *
__wrap_http_header(const struct http *h, const char *name)
{
    if (!h->begun)
        return NULL;
    if (strcasecmp(name, "content-type") == 0)
        return h->plan.content_type;
    if (strcasecmp(name, "request-id") == 0)
        return h->plan.request_id;
    if (strcasecmp(name, "retry-after") == 0 && h->plan.retry_after[0])
        return h->plan.retry_after;
    return NULL;
}

void
__wrap_http_free(struct http *h)
{
    if (!h)
        return;
    buf_release(&h->plan.bytes);
    free(h);
}
