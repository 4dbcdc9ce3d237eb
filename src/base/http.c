#include "base/http.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/http_curl.h"

/* So much may wait for the reader before the transfer is paused. */
#define PENDING_MAX ((size_t)256 << 10)
#define HEADERS_MAX ((size_t)256 << 10)
#define IDLE_TIMEOUT_MS 600000
#define CONNECT_TIMEOUT_MS 30000

struct http {
    const struct curl_calls *curl;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    const struct str *body;
    size_t n_body, slice, offset; /* how far the body was sent */
    struct buf pending, handed;   /* received and not yet given; given out last */
    struct buf header_value;      /* handed out by http_header */
    struct buf response_headers;  /* "name: value" lines of the last response */
    int status, idle_timeout_ms;
    int64_t last_byte_ms;
    bool paused, finished;
    CURLcode result;
    char error[CURL_ERROR_SIZE];
};

/* One idle multi handle a thread is kept for the next request, since it holds the open connections. */
static pthread_key_t idle_key;
static pthread_once_t idle_once = PTHREAD_ONCE_INIT;

static void
free_idle(void *multi)
{
    const struct curl_calls *c = curl_load(NULL);
    if (c)
        c->multi_cleanup(multi);
}

static void
make_key(void)
{
    if (pthread_key_create(&idle_key, free_idle) != 0)
        die("no thread-specific storage is left");
}

static CURLM *
take_multi(const struct curl_calls *c)
{
    pthread_once(&idle_once, make_key);
    CURLM *multi = pthread_getspecific(idle_key);
    pthread_setspecific(idle_key, NULL);
    return multi ? multi : c->multi_init();
}

static void
keep_multi(const struct curl_calls *c, CURLM *multi)
{
    if (pthread_getspecific(idle_key))
        c->multi_cleanup(multi);
    else
        pthread_setspecific(idle_key, multi);
}

bool
http_load(struct err *err)
{
    return curl_load(err) != NULL;
}

static size_t
on_read(char *to, size_t size, size_t n, void *user)
{
    struct http *h = user;
    size_t room = size * n, done = 0;
    while (done < room && h->slice < h->n_body) {
        struct str rest = str_sub(h->body[h->slice], h->offset, room - done);
        if (rest.len)
            memcpy(to + done, rest.ptr, rest.len);
        done += rest.len;
        h->offset += rest.len;
        if (h->offset == h->body[h->slice].len) {
            h->slice++;
            h->offset = 0;
        }
    }
    return done;
}

/* A connection that was kept alive and closed under us makes curl send the body again. */
static int
on_seek(void *user, curl_off_t offset, int origin)
{
    struct http *h = user;
    if (offset != 0 || origin != SEEK_SET)
        return CURL_SEEKFUNC_FAIL;
    h->slice = h->offset = 0;
    return CURL_SEEKFUNC_OK;
}

static size_t
on_data(char *data, size_t size, size_t n, void *user)
{
    struct http *h = user;
    h->last_byte_ms = clock_mono_ms();
    if (h->pending.len >= PENDING_MAX) {
        h->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    return buf_add(&h->pending, data, size * n) ? size * n : 0;
}

static size_t
on_header(char *data, size_t size, size_t n, void *user)
{
    struct http *h = user;
    struct str line = str_make(data, size * n);
    h->last_byte_ms = clock_mono_ms();
    if (str_starts(line, "HTTP/")) /* after a 1xx or a proxy's answer the real one begins anew */
        buf_clear(&h->response_headers);
    else
        buf_add_str(&h->response_headers, line);
    return size * n;
}

static size_t
body_len(const struct http_spec *spec)
{
    size_t n = 0;
    for (size_t i = 0; i < spec->n_body; i++)
        n += spec->body[i].len;
    return n;
}

static bool
set_headers(struct http *h, const struct http_spec *spec)
{
    static const char *const own[] = {"Expect:"}; /* no round trip before the body */
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        h->headers = h->curl->slist_append(h->headers, own[i]);
    for (const char *const *p = spec->headers; p && *p; p++) {
        struct curl_slist *more = h->curl->slist_append(h->headers, *p);
        if (!more)
            return false;
        h->headers = more;
    }
    return true;
}

static void
set_options(struct http *h, const struct http_spec *spec)
{
    CURL *e = h->easy;
    const struct curl_calls *c = h->curl;
    int connect_ms = spec->connect_timeout_ms ? spec->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    c->setopt(e, CURLOPT_URL, spec->url);
    c->setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    c->setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    c->setopt(e, CURLOPT_NOSIGNAL, 1L);
    c->setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    c->setopt(e, CURLOPT_HTTPHEADER, h->headers);
    c->setopt(e, CURLOPT_WRITEFUNCTION, on_data);
    c->setopt(e, CURLOPT_WRITEDATA, h);
    c->setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    c->setopt(e, CURLOPT_HEADERDATA, h);
    c->setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    c->setopt(e, CURLOPT_ERRORBUFFER, h->error);
    c->setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    if (strcmp(spec->method, "POST") == 0) {
        c->setopt(e, CURLOPT_POST, 1L);
        c->setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_len(spec));
        c->setopt(e, CURLOPT_READFUNCTION, on_read);
        c->setopt(e, CURLOPT_READDATA, h);
        c->setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
        c->setopt(e, CURLOPT_SEEKDATA, h);
    }
}

struct http *
http_start(const struct http_spec *spec, struct err *err)
{
    const struct curl_calls *c = curl_load(err);
    if (!c)
        return NULL;
    struct http *h = xcalloc(1, sizeof *h);
    h->curl = c;
    h->body = spec->body;
    h->n_body = spec->n_body;
    h->idle_timeout_ms = spec->idle_timeout_ms ? spec->idle_timeout_ms : IDLE_TIMEOUT_MS;
    h->last_byte_ms = clock_mono_ms();
    buf_init(&h->pending, BUF_MAX);
    buf_init(&h->handed, BUF_MAX);
    buf_init(&h->response_headers, HEADERS_MAX);
    buf_init(&h->header_value, HEADERS_MAX);
    h->multi = take_multi(c);
    h->easy = c->easy_init();
    if (!h->multi || !h->easy || !set_headers(h, spec)) {
        err_set(err, ERR_NET, "libcurl cannot make a request");
        http_free(h);
        return NULL;
    }
    set_options(h, spec);
    CURLMcode code = c->add_handle(h->multi, h->easy);
    if (code != CURLM_OK) {
        err_set(err, ERR_NET, "libcurl cannot start the request to '%s'", spec->url);
        http_free(h);
        return NULL;
    }
    return h;
}

static void
pump(struct http *h)
{
    int running, left;
    CURLMsg *m;
    if (h->paused && h->pending.len < PENDING_MAX / 2) {
        h->paused = false;
        h->curl->pause(h->easy, CURLPAUSE_CONT);
    }
    h->curl->perform(h->multi, &running);
    while ((m = h->curl->info_read(h->multi, &left)) != NULL) {
        if (m->msg == CURLMSG_DONE) {
            h->finished = true;
            h->result = m->data.result;
        }
    }
}

static enum http_step
finish(struct http *h, struct err *err)
{
    if (h->result == CURLE_OK)
        return HTTP_DONE;
    const char *why = h->error[0] ? h->error : h->curl->strerror(h->result);
    bool timeout = h->result == CURLE_OPERATION_TIMEDOUT;
    err_set(err, timeout ? ERR_TIMEOUT : ERR_NET, "the connection failed: %s", why);
    if (err)
        err->retryable = h->result != CURLE_URL_MALFORMAT &&
                         h->result != CURLE_UNSUPPORTED_PROTOCOL &&
                         h->result != CURLE_PEER_FAILED_VERIFICATION;
    return HTTP_FAILED;
}

static enum http_step
give(struct http *h, struct str *ret_data)
{
    struct buf spare = h->handed;
    h->handed = h->pending;
    h->pending = spare;
    buf_clear(&h->pending);
    *ret_data = buf_str(&h->handed);
    return HTTP_DATA;
}

enum http_step
http_next(struct http *h, int wake_fd, int timeout_ms, struct str *ret_data, struct err *err)
{
    int64_t start = clock_mono_ms();
    for (;;) {
        pump(h);
        if (h->pending.len)
            return give(h, ret_data);
        if (h->finished)
            return finish(h, err);
        int64_t now = clock_mono_ms(), idle_left = h->last_byte_ms + h->idle_timeout_ms - now;
        if (idle_left <= 0) {
            err_set(err, ERR_TIMEOUT, "the server sent nothing for %d s",
                    h->idle_timeout_ms / 1000);
            if (err)
                err->retryable = true;
            return HTTP_FAILED;
        }
        int64_t left = timeout_ms < 0 ? idle_left : start + timeout_ms - now;
        if (timeout_ms >= 0 && left <= 0)
            return HTTP_IDLE;
        struct curl_waitfd wake = {.fd = wake_fd, .events = CURL_WAIT_POLLIN};
        int n = 0;
        h->curl->poll(h->multi, &wake, wake_fd >= 0 ? 1 : 0,
                      (int)(left < idle_left ? left : idle_left), &n);
        if (wake_fd >= 0 && wake.revents)
            return HTTP_IDLE;
    }
}

int
http_status(const struct http *h)
{
    long status = 0;
    h->curl->getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

const char *
http_header(const struct http *h, const char *name)
{
    struct http *m = (struct http *)(uintptr_t)h; /* the copy handed out is no part of its state */
    struct str rest = buf_str(&h->response_headers), line;
    size_t n = strlen(name);
    while (str_split(&rest, '\n', &line)) {
        if (line.len <= n || line.ptr[n] != ':' || strncasecmp(line.ptr, name, n) != 0)
            continue;
        buf_clear(&m->header_value);
        buf_add_str(&m->header_value, str_trim(str_sub(line, n + 1, line.len)));
        return buf_cstr(&h->header_value);
    }
    return NULL;
}

void
http_free(struct http *h)
{
    if (!h)
        return;
    if (h->easy && h->multi)
        h->curl->remove_handle(h->multi, h->easy);
    if (h->easy)
        h->curl->easy_cleanup(h->easy);
    if (h->multi)
        keep_multi(h->curl, h->multi);
    h->curl->slist_free_all(h->headers);
    buf_release(&h->pending);
    buf_release(&h->handed);
    buf_release(&h->response_headers);
    buf_release(&h->header_value);
    free(h);
}
