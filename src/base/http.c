#include "base/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/http_curl.h"

enum {
    CONNECT_TIMEOUT_MS = 30000,
    IDLE_TIMEOUT_MS = 600000,
    WAITING_MAX = 256 << 10, /* of the response's bytes; past it the transfer rests */
    HEADERS_MAX = 128 << 10
};

struct http {
    const struct http_curl *curl;
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers_out;
    char *place; /* host and port, for texts */
    char reason[CURL_ERROR_SIZE];

    const struct str *body;
    size_t n_body, slice, offset; /* the next byte to send */

    struct buf waiting, lent; /* received; handed out by the last http_next */
    bool paused;

    struct buf head; /* header lines "Name: value\0" of the response */
    int status;      /* of the header block being read */
    bool head_done;

    int idle_timeout_ms;
    int64_t last_byte_ms;
    enum http_step end; /* HTTP_DONE or HTTP_FAILED once it ended */
    bool ended;
    struct err err;
};

bool
http_load(struct err *err)
{
    return http_curl(err) != NULL;
}

/* ---- libcurl calls these while it performs ---- */

static size_t
on_send(char *to, size_t size, size_t n, void *user)
{
    struct http *h = user;
    size_t room = size * n, sent = 0;
    h->last_byte_ms = clock_mono_ms();
    while (h->slice < h->n_body && sent < room) {
        struct str rest = str_sub(h->body[h->slice], h->offset, room - sent);
        if (rest.len)
            memcpy(to + sent, rest.ptr, rest.len);
        sent += rest.len;
        h->offset += rest.len;
        if (h->offset == h->body[h->slice].len) {
            h->slice++;
            h->offset = 0;
        }
    }
    return sent;
}

/* When a kept connection turns out to be closed, the body goes out once more. */
static int
on_rewind(void *user, curl_off_t offset, int origin)
{
    struct http *h = user;
    if (origin != SEEK_SET || offset != 0)
        return CURL_SEEKFUNC_CANTSEEK;
    h->slice = h->offset = 0;
    return CURL_SEEKFUNC_OK;
}

static size_t
on_receive(char *data, size_t size, size_t n, void *user)
{
    struct http *h = user;
    size_t len = size * n;
    if (h->waiting.len && h->waiting.len + len > WAITING_MAX) {
        h->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    h->last_byte_ms = clock_mono_ms();
    return buf_add(&h->waiting, data, len) ? len : 0;
}

/* One line of a header block. There are several blocks when interim answers (1xx) come first: the last one counts. */
static size_t
on_header(char *data, size_t size, size_t n, void *user)
{
    struct http *h = user;
    size_t len = size * n;
    struct str line = str_trim(str_make(data, len));
    h->last_byte_ms = clock_mono_ms();
    if (str_starts(line, "HTTP/")) {
        size_t blank = str_find(line, ' ', 0);
        buf_clear(&h->head);
        h->head_done = false;
        h->status = blank == (size_t)-1 ? 0 : (int)strtol(line.ptr + blank, NULL, 10);
    } else if (line.len == 0) {
        h->head_done = h->status >= 200 || h->status == 101;
    } else if (!h->head_done && buf_reserve(&h->head, line.len + 1)) { /* no trailers */
        buf_add_str(&h->head, line);
        buf_addc(&h->head, '\0');
    }
    return len;
}

/* ---- starting ---- */

static char *
place_of(const char *url)
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    size_t n = strcspn(start, "/?#");
    const char *user = memrchr(start, '@', n); /* never show a password */
    if (user) {
        n -= (size_t)(user + 1 - start);
        start = user + 1;
    }
    return str_dup(str_make(start, n < 200 ? n : 200));
}

static bool
check_spec(const struct http_spec *spec, struct err *err)
{
    if (strncasecmp(spec->url, "http://", 7) && strncasecmp(spec->url, "https://", 8))
        return err_set(err, ERR_INVALID, "'%.100s' is no http or https address", spec->url);
    for (const char *p = spec->url; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return err_set(err, ERR_INVALID,
                           "the address of '%.100s' holds a blank or control byte", spec->url);
    for (size_t i = 0; spec->headers && spec->headers[i]; i++)
        if (strpbrk(spec->headers[i], "\r\n"))
            return err_set(err, ERR_INVALID, "a request header holds a line break: '%.*s'",
                           (int)strcspn(spec->headers[i], ":\r\n"), spec->headers[i]);
    return true;
}

static bool
add_header(struct http *h, const char *line)
{
    struct curl_slist *more = h->curl->slist_append(h->headers_out, line);
    if (!more)
        return false;
    h->headers_out = more;
    return true;
}

static bool
set_headers(struct http *h, const struct http_spec *spec)
{
    /* Large bodies would wait a second for a "100 Continue" that API servers do not send. */
    if (!add_header(h, "Expect:"))
        return false;
    for (size_t i = 0; spec->headers && spec->headers[i]; i++)
        if (!add_header(h, spec->headers[i]))
            return false;
    return h->curl->easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers_out) == CURLE_OK;
}

#define SET(option, value) (h->curl->easy_setopt(h->easy, (option), (value)) == CURLE_OK)

static bool
set_method(struct http *h, const struct http_spec *spec)
{
    curl_off_t total = 0;
    for (size_t i = 0; i < spec->n_body; i++)
        total += (curl_off_t)spec->body[i].len;
    h->body = spec->body;
    h->n_body = spec->n_body;
    bool post = !strcmp(spec->method, "POST"), get = !strcmp(spec->method, "GET");
    if (!post && !get && !SET(CURLOPT_CUSTOMREQUEST, spec->method))
        return false;
    if (!post && total == 0)
        return true;
    return SET(CURLOPT_POST, 1L) && SET(CURLOPT_POSTFIELDSIZE_LARGE, total) &&
           SET(CURLOPT_READFUNCTION, on_send) && SET(CURLOPT_READDATA, h) &&
           SET(CURLOPT_SEEKFUNCTION, on_rewind) && SET(CURLOPT_SEEKDATA, h) &&
           (post || SET(CURLOPT_CUSTOMREQUEST, spec->method));
}

static bool
set_protocols(struct http *h)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    if (SET(CURLOPT_PROTOCOLS_STR, "http,https"))
        return true;
#endif
    /* Older libraries: CURLOPT_PROTOCOLS with CURLPROTO_HTTP and CURLPROTO_HTTPS, by number since newer headers
     * mark the names. */
    return SET((CURLoption)181, 3L);
}

static bool
set_options(struct http *h, const struct http_spec *spec)
{
    long connect_ms = spec->connect_timeout_ms > 0 ? spec->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    return SET(CURLOPT_URL, spec->url) && SET(CURLOPT_ERRORBUFFER, h->reason) &&
           SET(CURLOPT_NOSIGNAL, 1L) && SET(CURLOPT_CONNECTTIMEOUT_MS, connect_ms) &&
           SET(CURLOPT_TCP_KEEPALIVE, 1L) && SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) &&
           SET(CURLOPT_USERAGENT, "yare/" YARE_VERSION) && SET(CURLOPT_WRITEFUNCTION, on_receive) &&
           SET(CURLOPT_WRITEDATA, h) && SET(CURLOPT_HEADERFUNCTION, on_header) &&
           SET(CURLOPT_HEADERDATA, h) && set_protocols(h) && set_method(h, spec) &&
           set_headers(h, spec);
}

static bool
begin(struct http *h, const struct http_spec *spec, struct err *err)
{
    h->easy = h->curl->easy_init();
    h->multi = http_multi_take(h->curl);
    if (!h->easy || !h->multi)
        return err_set(err, ERR_NET, "libcurl cannot start a request");
    if (!set_options(h, spec))
        return err_set(err, ERR_INVALID, "libcurl does not take the request to '%s'", h->place);
    if (!http_set_certificates(h->curl, h->easy, err))
        return false;
    if (h->curl->multi_add_handle(h->multi, h->easy) != CURLM_OK)
        return err_set(err, ERR_NET, "libcurl cannot start the request to '%s'", h->place);
    return true;
}

struct http *
http_start(const struct http_spec *spec, struct err *err)
{
    const struct http_curl *curl = http_curl(err);
    if (!curl || !check_spec(spec, err))
        return NULL;
    struct http *h = xcalloc(1, sizeof *h);
    h->curl = curl;
    h->place = place_of(spec->url);
    h->idle_timeout_ms = spec->idle_timeout_ms > 0 ? spec->idle_timeout_ms : IDLE_TIMEOUT_MS;
    h->last_byte_ms = clock_mono_ms();
    buf_init(&h->waiting, BUF_MAX);
    buf_init(&h->lent, BUF_MAX);
    buf_init(&h->head, HEADERS_MAX);
    if (!begin(h, spec, err)) {
        http_free(h);
        return NULL;
    }
    return h;
}

void
http_free(struct http *h)
{
    if (!h)
        return;
    if (h->multi && h->easy)
        h->curl->multi_remove_handle(h->multi, h->easy);
    if (h->easy)
        h->curl->easy_cleanup(h->easy);
    if (h->multi)
        http_multi_give(h->curl, h->multi);
    h->curl->slist_free_all(h->headers_out);
    buf_release(&h->waiting);
    buf_release(&h->lent);
    buf_release(&h->head);
    free(h->place);
    free(h);
}

/* ---- the end of a transfer ---- */

static const struct failure {
    CURLcode code;
    enum err_code err;
    bool retryable;
    const char *text, *kind; /* err.kind; NULL: none */
} failures[] = {
    {CURLE_URL_MALFORMAT, ERR_INVALID, false, "the address cannot be read", "address"},
    {CURLE_UNSUPPORTED_PROTOCOL, ERR_INVALID, false, "only http and https are spoken", "address"},
    {CURLE_COULDNT_RESOLVE_HOST, ERR_NET, true, "no such host, or no network", "dns"},
    {CURLE_COULDNT_RESOLVE_PROXY, ERR_NET, true, "the proxy's host is not known", "dns"},
    {CURLE_COULDNT_CONNECT, ERR_NET, true, "no connection", NULL},
    {CURLE_OPERATION_TIMEDOUT, ERR_TIMEOUT, true, "no connection in time", NULL},
    {CURLE_SSL_CONNECT_ERROR, ERR_NET, true, "the TLS handshake failed", NULL},
    {CURLE_PEER_FAILED_VERIFICATION, ERR_NET, false, "its certificate is not trusted", "tls"},
    {CURLE_SSL_CACERT_BADFILE, ERR_NET, false, "the CA certificates cannot be read", "tls"},
    {CURLE_OUT_OF_MEMORY, ERR_NET, false, "the head of its answer is too large", "address"},
    {CURLE_GOT_NOTHING, ERR_NET, true, "the connection was closed without an answer", NULL},
    {CURLE_PARTIAL_FILE, ERR_NET, true, "it broke off", NULL},
    {CURLE_RECV_ERROR, ERR_NET, true, "the connection was lost", NULL},
    {CURLE_SEND_ERROR, ERR_NET, true, "the connection was lost while sending", NULL},
    {CURLE_HTTP2, ERR_NET, true, "HTTP/2 error", NULL},
    {CURLE_HTTP2_STREAM, ERR_NET, true, "the HTTP/2 stream was reset", NULL},
};

/* The host is there, and nothing listens on that port. */
static bool
is_refused(const struct http *h)
{
    long number = 0;
    return h->curl->easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK &&
           number == ECONNREFUSED;
}

/* What answers there speaks another protocol: not a handshake that may work the next time. */
static bool
speaks_no_tls(const struct http *h, CURLcode code)
{
    return code == CURLE_SSL_CONNECT_ERROR && (strstr(h->reason, "wrong version number") ||
                                               strstr(h->reason, "unexpected TLS packet"));
}

static const struct failure *
failure_for(const struct http *h, CURLcode code)
{
    static const struct failure other = {.err = ERR_NET, .text = "the request failed"},
                                no_tls = {.err = ERR_NET,
                                          .text = "no TLS is spoken there, is it an http address?",
                                          .kind = "tls"};
    if (speaks_no_tls(h, code))
        return &no_tls;
    for (size_t i = 0; i < ARRAY_LEN(failures); i++)
        if (failures[i].code == code)
            return &failures[i];
    return &other;
}

static void
fail(struct http *h, CURLcode code)
{
    const struct failure *f = failure_for(h, code);
    const char *detail = h->reason[0] ? h->reason : h->curl->easy_strerror(code);
    err_set(&h->err, f->err, "'%s': %s (%s)", h->place, f->text, detail);
    h->err.retryable = f->retryable;
    const char *kind = code == CURLE_COULDNT_CONNECT && is_refused(h) ? "refused" : f->kind;
    (void)snprintf(h->err.kind, sizeof h->err.kind, "%s", kind ? kind : "");
    h->end = HTTP_FAILED;
    h->ended = true;
}

static void
take_end(struct http *h)
{
    int left;
    for (CURLMsg *m; (m = h->curl->multi_info_read(h->multi, &left));) {
        if (m->msg != CURLMSG_DONE || m->easy_handle != h->easy)
            continue;
        if (m->data.result != CURLE_OK) {
            fail(h, m->data.result);
        } else if (!h->head_done) { /* a success to curl */
            fail(h, CURLE_GOT_NOTHING);
        } else {
            h->end = HTTP_DONE;
            h->ended = true;
        }
    }
}

static void
fail_idle(struct http *h)
{
    err_set(&h->err, ERR_TIMEOUT, "'%s': not a byte for %d s", h->place, h->idle_timeout_ms / 1000);
    memcpy(h->err.kind, "stall", sizeof "stall");
    h->err.retryable = true;
    h->end = HTTP_FAILED;
    h->ended = true;
}

/* ---- pumping ---- */

/* Both bufs keep their memory; what waited is lent out, and a resting transfer goes on. */
static struct str
lend(struct http *h)
{
    struct buf swap = h->lent;
    h->lent = h->waiting;
    h->waiting = swap;
    h->last_byte_ms = clock_mono_ms(); /* the reader's time is not the peer's silence */
    return buf_str(&h->lent);
}

static void
perform(struct http *h)
{
    int running;
    if (h->paused) {
        h->paused = false;
        h->curl->easy_pause(h->easy, CURLPAUSE_CONT);
    }
    CURLMcode rc = h->curl->multi_perform(h->multi, &running);
    take_end(h);
    if (rc != CURLM_OK && !h->ended) {
        err_set(&h->err, ERR_NET, "'%s': %s", h->place, h->curl->multi_strerror(rc));
        h->end = HTTP_FAILED;
        h->ended = true;
    }
}

/* How long to wait now: until the caller's time or the peer's is over. */
static int
wait_ms(const struct http *h, int64_t deadline)
{
    int64_t now = clock_mono_ms(), left = h->last_byte_ms + h->idle_timeout_ms - now;
    if (deadline >= 0 && deadline - now < left)
        left = deadline - now;
    return left > 0 ? (int)left : 0;
}

static bool
wait_more(struct http *h, int wake_fd, int64_t deadline)
{
    struct curl_waitfd wake = {.fd = wake_fd, .events = CURL_WAIT_POLLIN};
    int n;
    CURLMcode rc = h->curl->multi_poll(h->multi, wake_fd >= 0 ? &wake : NULL, wake_fd >= 0 ? 1 : 0,
                                       wait_ms(h, deadline), &n);
    if (rc != CURLM_OK) {
        err_set(&h->err, ERR_NET, "'%s': %s", h->place, h->curl->multi_strerror(rc));
        h->end = HTTP_FAILED;
        h->ended = true;
    }
    return wake.revents != 0;
}

enum http_step
http_next(struct http *h, int wake_fd, int timeout_ms, struct str *ret_data, struct err *err)
{
    int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
    buf_clear(&h->lent);
    for (bool woken = false;;) {
        if (!h->ended && h->waiting.len == 0)
            perform(h);
        if (h->waiting.len) {
            *ret_data = lend(h);
            return HTTP_DATA;
        }
        if (h->ended) {
            if (h->end == HTTP_FAILED && err)
                *err = h->err;
            return h->end;
        }
        if (woken || (deadline >= 0 && clock_mono_ms() >= deadline))
            return HTTP_IDLE;
        if (clock_mono_ms() - h->last_byte_ms >= h->idle_timeout_ms) {
            fail_idle(h);
            continue;
        }
        woken = wait_more(h, wake_fd, deadline);
    }
}

void
http_drain(struct http *h, int ms)
{
    struct str rest;
    struct err ignored = {0};
    int64_t until = clock_mono_ms() + ms;
    for (int64_t left; (left = until - clock_mono_ms()) > 0;)
        if (http_next(h, -1, (int)left, &rest, &ignored) != HTTP_DATA)
            return;
}

int
http_status(const struct http *h)
{
    return h->head_done ? h->status : 0;
}

const char *
http_header(const struct http *h, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = 0; h->head_done && at < h->head.len; at += strlen(h->head.data + at) + 1) {
        const char *line = h->head.data + at;
        if (!strncasecmp(line, name, n) && line[n] == ':')
            return line + n + 1 + strspn(line + n + 1, " \t");
    }
    return NULL;
}
