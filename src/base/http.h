#pragma once
/*
 * HTTP on libcurl multi, loaded on first use through a typed table over dlopen, so that --version and the first frame
 * never pay for it (the dynamic linker alone costs 8 ms). A request belongs to the thread that started it; that thread
 * pumps it with http_next, which also watches one more descriptor (the engine's wake). The body is sent from slices.
 * Connections stay open from one request to the next, whichever threads make them.
 *
 * Redirects are answers like others (the caller sees 3xx); only http and https; TLS verified; proxies from the
 * environment. No more than 256 KiB of the response wait in memory: a reader that is slow slows the peer.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"

struct http_spec {
    const char *method; /* "GET", "POST" or another */
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated */
    const struct str *body;     /* slices, borrowed until http_free */
    size_t n_body;
    int connect_timeout_ms; /* 0: 30,000 */
    int idle_timeout_ms;    /* no byte for so long: ERR_TIMEOUT; 0: 600,000 */
};

enum http_step {
    HTTP_DATA,  /* *ret_data holds bytes, borrowed until the next call */
    HTTP_IDLE,  /* wake_fd is readable, or the timeout ran out */
    HTTP_DONE,  /* the response ended cleanly */
    HTTP_FAILED /* err says why; bytes got before stand */
};

struct http;
/* loads libcurl now (start-up thread); idempotent, thread-safe */
bool http_load(struct err *err) MUST_CHECK;
struct http *http_start(const struct http_spec *spec, struct err *err);
/* wake_fd -1: none; timeout_ms -1: none. Any status is DATA and DONE, its body is the caller's to read. Errors: ERR_NET,
 * ERR_TIMEOUT (`retryable` when another attempt may help; kind "refused", "dns", "tls", "stall" or ""), ERR_INVALID (URL). After DONE or FAILED it stays that. */
enum http_step http_next(struct http *h, int wake_fd, int timeout_ms, struct str *ret_data,
                         struct err *err);
/* Reads what is left of the response, for `ms` at most: only then can its connection serve the next request. */
void http_drain(struct http *h, int ms);
int http_status(const struct http *h); /* 0 before the headers are in */
/* response header, case-insensitive, or NULL */
const char *http_header(const struct http *h, const char *name);
void http_free(struct http *h); /* closes; NULL is fine */

/* One small request, waited for: timeout_ms for all of it. The body is appended to out; one that passes out->max is ERR_LIMIT. Any
 * status is a success, in *ret_status. `cancel` may be NULL. */
bool http_fetch(const struct http_spec *spec, struct cancel *cancel, int timeout_ms,
                struct buf *out, int *ret_status, struct err *err) MUST_CHECK;
/* Does anything listen where `url` points to? For loopback addresses only ("127.0.0.1", "[::1]", "localhost"): others are false. Asks
 * the kernel, sends nothing and needs no libcurl. */
bool http_is_loopback(const char *url);
bool http_listens(const char *url, int timeout_ms);
