#include "unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/http.h"

/* ---- a server that answers as the test says, one connection after the other ---- */

struct server;
typedef bool (*answer_fn)(struct server *s, int fd,
                          struct str request); /* true: keep the connection */

struct server {
    int listener, port, stop[2];
    pthread_t thread;
    answer_fn answer;
    atomic_int connections, requests;
    char head[4096]; /* of the last request */
    size_t body_len;
    char body_first, body_last;
};

static bool
readable(struct server *s, int fd)
{
    struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = s->stop[0], .events = POLLIN}};
    poll(p, 2, -1);
    return p[0].revents && !p[1].revents;
}

static bool
read_request(struct server *s, int fd, struct buf *b)
{
    size_t want = 0;
    char data[65536];
    buf_clear(b);
    while (want == 0 || b->len < want) {
        if (!readable(s, fd))
            return false;
        ssize_t n = read(fd, data, sizeof data);
        if (n <= 0)
            return false;
        buf_add(b, data, (size_t)n);
        const char *end = strstr(buf_cstr(b), "\r\n\r\n"), *length;
        if (!end || want)
            continue;
        length = strcasestr(b->data, "content-length:");
        want = (size_t)(end + 4 - b->data) +
               (length && length < end ? strtoul(length + 15, NULL, 10) : 0);
        snprintf(s->head, sizeof s->head, "%.*s", (int)(end - b->data), b->data);
        s->body_len = want - (size_t)(end + 4 - b->data);
    }
    if (s->body_len) {
        s->body_first = b->data[want - s->body_len];
        s->body_last = b->data[want - 1];
    }
    return true;
}

static void *
serve(void *arg)
{
    struct server *s = arg;
    struct buf request;
    buf_init(&request, BUF_MAX);
    while (readable(s, s->listener)) {
        int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        atomic_fetch_add(&s->connections, 1);
        bool keep = true;
        while (keep && read_request(s, fd, &request)) {
            atomic_fetch_add(&s->requests, 1);
            keep = s->answer(s, fd, buf_str(&request));
        }
        close(fd);
    }
    buf_release(&request);
    return NULL;
}

static int
listen_somewhere(int *ret_port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *ret_port = ntohs(a.sin_port);
    return fd;
}

static void
server_start(struct server *s, answer_fn answer)
{
    memset(s, 0, sizeof *s);
    s->answer = answer;
    s->listener = listen_somewhere(&s->port);
    assert_int_equal(pipe(s->stop), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void
server_stop(struct server *s)
{
    close(s->stop[1]);
    pthread_join(s->thread, NULL);
    close(s->stop[0]);
    close(s->listener);
}

static bool
say(int fd, const char *text)
{
    return fs_write_all(fd, str_from(text), NULL);
}

/* ---- the client's side ---- */

static struct http *
start(const struct server *s, const char *method, const struct str *body, size_t n_body,
      int idle_ms)
{
    char url[64];
    struct err err;
    static const char *const headers[] = {"Content-Type: application/json", "X-Test: yes", NULL};
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/x", s->port);
    struct http_spec spec = {.method = method,
                             .url = url,
                             .headers = headers,
                             .body = body,
                             .n_body = n_body,
                             .idle_timeout_ms = idle_ms};
    struct http *h = http_start(&spec, &err);
    if (!h)
        fail_msg("%s", err.text);
    return h;
}

static enum http_step
collect(struct http *h, struct buf *out, struct err *err)
{
    for (;;) {
        struct str data;
        enum http_step step = http_next(h, -1, 20000, &data, err);
        if (step != HTTP_DATA)
            return step;
        assert_true(data.len <= (256 << 10) + 65536);
        buf_add_str(out, data);
    }
}

static void
expect_body(struct http *h, const char *want)
{
    struct buf out;
    struct err err = {0};
    buf_init(&out, BUF_MAX);
    enum http_step step = collect(h, &out, &err);
    if (step != HTTP_DONE)
        fail_msg("step %d: %s", (int)step, err.text);
    assert_string_equal(buf_cstr(&out), want);
    assert_int_equal(http_next(h, -1, 0, NULL, &err), HTTP_DONE);
    buf_release(&out);
}

/* ---- cases ---- */

static bool
plain(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    return say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nRequest-Id:  r1 \r\n\r\nhello");
}

static void
an_answer_with_headers(void **state)
{
    (void)state;
    struct server s;
    server_start(&s, plain);
    struct http *h = start(&s, "GET", NULL, 0, 0);
    assert_int_equal(http_status(h), 0);
    assert_null(http_header(h, "request-id"));
    expect_body(h, "hello");
    assert_int_equal(http_status(h), 200);
    assert_string_equal(http_header(h, "request-id"), "r1");
    assert_string_equal(http_header(h, "CONTENT-LENGTH"), "5");
    assert_null(http_header(h, "request"));
    http_free(h);
    http_free(NULL);
    server_stop(&s);
    assert_non_null(strstr(s.head, "GET /v1/x HTTP/1.1"));
    assert_non_null(strstr(s.head, "X-Test: yes"));
    assert_non_null(strstr(s.head, "User-Agent: yare/"));
}

static bool
dribble(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    static const char text[] =
        "HTTP/1.1 103 Early Hints\r\nLink: no\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n"
        "X-Late: yes\r\n\r\n3\r\nabc\r\n1\r\nd\r\n5\r\nefghi\r\n0\r\nTrailer: t\r\n\r\n";
    for (size_t i = 0; i < sizeof text - 1; i++)
        if (write(fd, text + i, 1) != 1)
            return false;
    return true;
}

static void
bytes_one_by_one(void **state)
{
    (void)state;
    struct server s;
    server_start(&s, dribble);
    struct http *h = start(&s, "GET", NULL, 0, 0);
    expect_body(h, "abcdefghi");
    assert_int_equal(http_status(h), 200);
    assert_string_equal(http_header(h, "x-late"), "yes");
    assert_null(http_header(h, "link"));
    assert_null(http_header(h, "trailer"));
    http_free(h);
    server_stop(&s);
}

static void
a_large_body_from_slices(void **state)
{
    (void)state;
    struct server s;
    size_t n = 3u << 20;
    char *big = xmalloc(n);
    memset(big, 'b', n);
    const struct str body[] = {STR("<"), {NULL, 0}, {big, n}, STR(""), STR(">")};
    server_start(&s, plain);
    struct http *h = start(&s, "POST", body, ARRAY_LEN(body), 0);
    expect_body(h, "hello");
    http_free(h);
    server_stop(&s);
    assert_int_equal(s.body_len, n + 2);
    assert_int_equal(s.body_first, '<');
    assert_int_equal(s.body_last, '>');
    assert_null(strcasestr(s.head, "expect:"));
    assert_non_null(strstr(s.head, "Content-Type: application/json"));
    free(big);
}

static void
an_empty_post_and_other_methods(void **state)
{
    (void)state;
    struct server s;
    server_start(&s, plain);
    struct http *h = start(&s, "POST", NULL, 0, 0);
    expect_body(h, "hello");
    assert_non_null(strstr(s.head, "POST "));
    assert_non_null(strcasestr(s.head, "content-length: 0"));
    http_free(h);
    h = start(&s, "DELETE", NULL, 0, 0);
    expect_body(h, "hello");
    assert_non_null(strstr(s.head, "DELETE "));
    http_free(h);
    server_stop(&s);
}

static bool
cut_in_the_middle(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n10\r\nhalf");
    return false;
}

/* curl takes this for a whole answer. */
static bool
cut_in_the_head(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    say(fd, "HTTP/1.1 200 OK\r\ncontent-type: text/ev");
    return false;
}

static bool
cut_at_once(struct server *s, int fd, struct str request)
{
    (void)s, (void)fd, (void)request;
    return false;
}

static void
cut_connections(void **state)
{
    (void)state;
    struct server s;
    struct buf out;
    struct err err = {0};
    buf_init(&out, 1000);
    server_start(&s, cut_in_the_middle);
    struct http *h = start(&s, "GET", NULL, 0, 0);
    assert_int_equal(collect(h, &out, &err), HTTP_FAILED);
    assert_int_equal(err.code, ERR_NET);
    assert_true(err.retryable);
    assert_string_equal(buf_cstr(&out), "datahalf");
    assert_int_equal(http_status(h), 200);
    memset(&err, 0, sizeof err);
    assert_int_equal(http_next(h, -1, 0, NULL, &err), HTTP_FAILED);
    assert_int_equal(err.code, ERR_NET);
    http_free(h);
    server_stop(&s);

    static const answer_fn early[] = {cut_at_once, cut_in_the_head};
    for (size_t i = 0; i < ARRAY_LEN(early); i++) {
        server_start(&s, early[i]);
        h = start(&s, "GET", NULL, 0, 0);
        memset(&err, 0, sizeof err);
        assert_int_equal(collect(h, &out, &err), HTTP_FAILED);
        assert_int_equal(err.code, ERR_NET);
        assert_true(err.retryable);
        assert_int_equal(http_status(h), 0);
        http_free(h);
        server_stop(&s);
    }
    buf_release(&out);
}

static void
a_refused_connection(void **state)
{
    (void)state;
    struct server nobody = {0};
    struct buf out;
    struct err err = {0};
    buf_init(&out, 10);
    close(listen_somewhere(&nobody.port));
    struct http *h = start(&nobody, "GET", NULL, 0, 0);
    assert_int_equal(collect(h, &out, &err), HTTP_FAILED);
    assert_int_equal(err.code, ERR_NET);
    assert_true(err.retryable);
    assert_non_null(strstr(err.text, "'127.0.0.1:"));
    assert_int_equal(http_status(h), 0);
    http_free(h);
    buf_release(&out);
}

static bool
stay_silent(struct server *s, int fd, struct str request)
{
    (void)request;
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    readable(s, fd); /* until the client goes */
    return false;
}

static void
wakes_and_timeouts(void **state)
{
    (void)state;
    struct server s;
    struct str data;
    struct err err = {0};
    int wake[2];
    assert_int_equal(pipe(wake), 0);
    server_start(&s, stay_silent);
    struct http *h = start(&s, "GET", NULL, 0, 0);
    assert_int_equal(http_next(h, wake[0], 20000, &data, &err), HTTP_DATA);
    assert_true(str_is(data, "he"));
    int64_t before = clock_mono_ms();
    assert_int_equal(http_next(h, wake[0], 30, &data, &err), HTTP_IDLE);
    assert_true(clock_mono_ms() - before >= 29);
    assert_int_equal(http_next(h, wake[0], 0, &data, &err), HTTP_IDLE);
    assert_int_equal(write(wake[1], "x", 1), 1);
    assert_int_equal(http_next(h, wake[0], -1, &data, &err), HTTP_IDLE);
    http_free(h); /* in the middle of the answer */

    h = start(&s, "GET", NULL, 0, 80);
    assert_int_equal(http_next(h, -1, -1, &data, &err), HTTP_DATA);
    assert_int_equal(http_next(h, -1, -1, &data, &err), HTTP_FAILED);
    assert_int_equal(err.code, ERR_TIMEOUT);
    assert_true(err.retryable);
    http_free(h);
    server_stop(&s);
    close(wake[0]);
    close(wake[1]);
}

static bool
too_many(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    return say(
        fd,
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 6\r\n\r\n{\"e\":1");
}

static bool
redirect(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    return say(
        fd, "HTTP/1.1 302 Found\r\nLocation: http://example.invalid/\r\nContent-Length: 0\r\n\r\n");
}

static void
other_statuses_are_answers(void **state)
{
    (void)state;
    struct server s;
    server_start(&s, too_many);
    struct http *h = start(&s, "GET", NULL, 0, 0);
    expect_body(h, "{\"e\":1");
    assert_int_equal(http_status(h), 429);
    assert_string_equal(http_header(h, "retry-after"), "7");
    http_free(h);
    server_stop(&s);
    server_start(&s, redirect);
    h = start(&s, "GET", NULL, 0, 0);
    expect_body(h, "");
    assert_int_equal(http_status(h), 302);
    assert_int_equal(s.requests, 1);
    http_free(h);
    server_stop(&s);
}

enum { FLOOD = 40 << 20 };
static atomic_long flooded;

static bool
flood(struct server *s, int fd, struct str request)
{
    (void)s, (void)request;
    static char data[65536];
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 41943040\r\n\r\n");
    for (size_t sent = 0; sent < FLOOD; sent += sizeof data) {
        if (!fs_write_all(fd, str_make(data, sizeof data), NULL))
            return false;
        atomic_fetch_add(&flooded, (long)sizeof data);
    }
    return true;
}

/* Nothing is read from the connection while the reader is busy elsewhere, and little is kept. */
static void
a_slow_reader_slows_the_peer(void **state)
{
    (void)state;
    struct server s;
    struct str data;
    struct err err = {0};
    size_t total = 0;
    enum http_step step;
    server_start(&s, flood);
    struct http *h = start(&s, "GET", NULL, 0, 0);
    while ((step = http_next(h, -1, 20000, &data, &err)) == HTTP_DATA) {
        total += data.len;
        assert_true(data.len <= (256 << 10) + 65536);
        /* What the kernel buffers on both sides is a few MiB at most. */
        assert_true(flooded - (long)total < 16 << 20);
    }
    assert_int_equal(step, HTTP_DONE);
    assert_int_equal(total, FLOOD);
    http_free(h);
    server_stop(&s);
}

static bool
close_silently(struct server *s, int fd, struct str request)
{
    plain(s, fd, request);
    return false;
}

static void
connections_are_kept_and_replaced(void **state)
{
    (void)state;
    struct server s;
    const struct str body[] = {STR("again")};
    server_start(&s, plain);
    for (int i = 0; i < 5; i++) {
        struct http *h = start(&s, "POST", body, 1, 0);
        expect_body(h, "hello");
        http_free(h);
    }
    assert_int_equal(s.connections, 1);
    server_stop(&s);
    server_start(&s, close_silently);
    for (int i = 0; i < 5; i++) {
        struct http *h = start(&s, "POST", body, 1, 0);
        expect_body(h, "hello");
        assert_int_equal(s.body_len, 5);
        http_free(h);
    }
    server_stop(&s);
}

static void
what_is_refused_before_it_leaves(void **state)
{
    (void)state;
    struct err err;
    static const char *const urls[] = {"file:///etc/passwd", "ftp://h/x",        "/relative", "",
                                       "http://h/a b",       "http://h/\r\nX: y"};
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct http_spec spec = {.method = "GET", .url = urls[i]};
        assert_null(http_start(&spec, &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
    const char *const headers[] = {"X-Key: secret\r\nInjected: yes", NULL};
    struct http_spec spec = {.method = "GET", .url = "http://127.0.0.1:1/", .headers = headers};
    assert_null(http_start(&spec, &err));
    assert_non_null(strstr(err.text, "'X-Key'"));
    assert_null(strstr(err.text, "secret"));

    /* An address that libcurl refuses later; its password is never shown. */
    spec =
        (struct http_spec){.method = "GET", .url = "http://user:secret@127.0.0.1:1/x?key=hidden"};
    struct http *h = http_start(&spec, &err);
    assert_non_null(h);
    struct str data;
    assert_int_equal(http_next(h, -1, 20000, &data, &err), HTTP_FAILED);
    assert_null(strstr(err.text, "secret"));
    assert_null(strstr(err.text, "hidden"));
    http_free(h);
}

struct greeter {
    int listener;
    const char *words;
};

/* Says its words to whoever comes, and waits until they are gone. */
static void *
greet(void *arg)
{
    const struct greeter *g = arg;
    char rest[4096];
    int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC);
    say(fd, g->words);
    while (read(fd, rest, sizeof rest) > 0)
        ;
    close(fd);
    return NULL;
}

/* Another protocol answers there, and will each time: that is not tried again, and said to be the address. */
static void
another_protocol_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *scheme, *words, *kind;
    } rows[] = {
        {"https", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "tls"},
        {"http", "SSH-2.0-OpenSSH_9.2\r\n", "address"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct greeter g = {.words = rows[i].words};
        struct err err = {0};
        struct str data;
        char url[64];
        pthread_t t;
        int port;
        g.listener = listen_somewhere(&port);
        assert_int_equal(pthread_create(&t, NULL, greet, &g), 0);
        snprintf(url, sizeof url, "%s://127.0.0.1:%d/", rows[i].scheme, port);
        struct http_spec spec = {.method = "GET", .url = url};
        struct http *h = http_start(&spec, &err);
        assert_non_null(h);
        assert_int_equal(http_next(h, -1, 20000, &data, &err), HTTP_FAILED);
        if (strcmp(err.kind, rows[i].kind) != 0)
            fail_msg("row %zu is of the kind '%s': %s", i, err.kind, err.text);
        assert_false(err.retryable);
        http_free(h);
        pthread_join(t, NULL);
        close(g.listener);
    }
    struct err err = {0};
    struct str data;
    struct http_spec spec = {.method = "GET", .url = "http://127.0.0.1:99999/"};
    struct http *h = http_start(&spec, &err);
    assert_non_null(h);
    assert_int_equal(http_next(h, -1, 20000, &data, &err), HTTP_FAILED);
    assert_string_equal(err.kind, "address");
    http_free(h);
}

static void *
use_server(void *server)
{
    const struct str body[] = {STR("x")};
    for (int i = 0; i < 5; i++) {
        struct http *h = start(server, "POST", body, 1, 0);
        struct str data;
        struct err err;
        while (http_next(h, -1, 20000, &data, &err) == HTTP_DATA)
            ;
        if (http_status(h) != 200)
            abort();
        http_free(h);
    }
    return NULL;
}

static void
threads_side_by_side(void **state)
{
    (void)state;
    struct server s;
    pthread_t t[4];
    assert_true(http_load(NULL));
    server_start(&s, close_silently);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, use_server, &s), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_true(s.requests >= 20);
    server_stop(&s);
}

static void
extra_certificates_must_be_readable(void **state)
{
    (void)state;
    struct err err;
    setenv("NODE_EXTRA_CA_CERTS", "/no/such/certificates.pem", 1);
    struct http_spec spec = {.method = "GET", .url = "http://127.0.0.1:1/"};
    assert_null(http_start(&spec, &err));
    assert_non_null(strstr(err.text, "NODE_EXTRA_CA_CERTS"));
    unsetenv("NODE_EXTRA_CA_CERTS");
}

int
main(void)
{
    signal(SIGPIPE, SIG_IGN);
    setenv("no_proxy", "*", 1);
    unsetenv("http_proxy");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_with_headers),
        cmocka_unit_test(bytes_one_by_one),
        cmocka_unit_test(a_large_body_from_slices),
        cmocka_unit_test(an_empty_post_and_other_methods),
        cmocka_unit_test(cut_connections),
        cmocka_unit_test(a_refused_connection),
        cmocka_unit_test(another_protocol_is_told),
        cmocka_unit_test(wakes_and_timeouts),
        cmocka_unit_test(other_statuses_are_answers),
        cmocka_unit_test(a_slow_reader_slows_the_peer),
        cmocka_unit_test(connections_are_kept_and_replaced),
        cmocka_unit_test(what_is_refused_before_it_leaves),
        cmocka_unit_test(threads_side_by_side),
        cmocka_unit_test(extra_certificates_must_be_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
