#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "perm/egress.h"
#include "perm/proxy.h"

/* ---- a server on this machine: answers each request with what it got ---- */

struct origin {
    int fd, port;
    pthread_t thread;
    atomic_int connections;
};

static void *
serve(void *arg)
{
    struct origin *o = arg;
    for (;;) {
        int c = accept(o->fd, NULL, NULL);
        if (c < 0)
            return NULL;
        atomic_fetch_add(&o->connections, 1);
        char in[8192], out[9000];
        size_t len = 0;
        ssize_t n;
        while (len < sizeof in && (n = recv(c, in + len, sizeof in - len, 0)) > 0) {
            len += (size_t)n;
            if (memmem(in, len, "\r\n\r\n", 4))
                break;
        }
        int m = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[%.*s]",
                         (int)len, in);
        send(c, out, (size_t)m, MSG_NOSIGNAL);
        close(c);
    }
}

static void
origin_start(struct origin *o)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    o->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(o->fd, (void *)&a, sizeof a), 0);
    assert_int_equal(listen(o->fd, 16), 0);
    assert_int_equal(getsockname(o->fd, (void *)&a, &len), 0);
    o->port = ntohs(a.sin_port);
    atomic_init(&o->connections, 0);
    assert_int_equal(pthread_create(&o->thread, NULL, serve, o), 0);
}

static void
origin_stop(struct origin *o)
{
    shutdown(o->fd, SHUT_RDWR);
    pthread_join(o->thread, NULL);
    close(o->fd);
}

/* ---- names ---- */

static atomic_int lookups;

/* two.example: first an address that nobody allowed, then loopback. Every other name is loopback; digits are themselves. */
static int
look_up(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **ret)
{
    struct addrinfo *first = NULL;
    bool number = name[strspn(name, "0123456789abcdef.:")] == '\0';
    atomic_fetch_add(&lookups, 1);
    if (strcmp(name, "nowhere.example") == 0)
        return EAI_NONAME;
    if (strcmp(name, "two.example") == 0)
        assert_int_equal(getaddrinfo("10.9.8.7", port, hints, &first), 0);
    int rc = getaddrinfo(number ? name : "127.0.0.1", port, hints, ret);
    if (first && !rc) {
        first->ai_next = *ret; /* there is one: a stream socket was asked for */
        *ret = first;
    }
    return rc;
}

static void
free_each(struct addrinfo *a)
{
    while (a) {
        struct addrinfo *next = a->ai_next;
        a->ai_next = NULL;
        freeaddrinfo(a);
        a = next;
    }
}

/* ---- a proxy and who uses it ---- */

struct rig {
    struct origin origin;
    struct proxy *proxy;
    char dir[64];
    pthread_mutex_t lock;
    char told[1024];
    int n_told;
};

static void
refused(void *user, const char *host, const char *why)
{
    struct rig *r = user;
    pthread_mutex_lock(&r->lock);
    r->n_told++;
    snprintf(r->told, sizeof r->told, "%s: %s", host, why);
    pthread_mutex_unlock(&r->lock);
}

static void
rig_start(struct rig *r, const char *const *allowed, const char *const *denied)
{
    memset(r, 0, sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    origin_start(&r->origin);
    snprintf(r->dir, sizeof r->dir, "/tmp/yare-proxy-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    struct proxy_options o = {.allowed = allowed,
                              .denied = denied,
                              .dir = r->dir,
                              .refused = refused,
                              .user = r,
                              .resolve = look_up,
                              .free_addresses = free_each};
    while (allowed && allowed[o.n_allowed])
        o.n_allowed++;
    while (denied && denied[o.n_denied])
        o.n_denied++;
    struct err err = {0};
    r->proxy = proxy_new(&o, &err);
    if (!r->proxy)
        fail_msg("%s", err.text);
}

static void
rig_stop(struct rig *r)
{
    proxy_free(r->proxy);
    origin_stop(&r->origin);
    assert_int_equal(rmdir(r->dir), 0); /* the socket is gone */
    pthread_mutex_destroy(&r->lock);
}

static int
dial(struct rig *r)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", proxy_socket(r->proxy));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (void *)&a, sizeof a), 0);
    return fd;
}

/* Everything until the other side closes. */
static const char *
rest_of(int fd)
{
    static char text[16384];
    size_t len = 0;
    ssize_t n;
    while (len < sizeof text - 1 && (n = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(fd);
    return text;
}

static const char *
ask_bytes(struct rig *r, const void *bytes, size_t len)
{
    int fd = dial(r);
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
    shutdown(fd, SHUT_WR);
    return rest_of(fd);
}

static const char *ask(struct rig *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *
ask(struct rig *r, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return ask_bytes(r, text, (size_t)n);
}

static const char *
get(struct rig *r, const char *host)
{
    return ask(r, "GET http://%s:%d/p?q=1 HTTP/1.1\r\nHost: other.example\r\n\r\n", host,
               r->origin.port);
}

static const char *
tunnel(struct rig *r, const char *host)
{
    return ask(r, "CONNECT %s:%d HTTP/1.1\r\nHost: %s\r\n\r\nGET /in HTTP/1.1\r\n\r\n", host,
               r->origin.port, host);
}

static void
has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void
has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' in:\n%s", part, text);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void
test_tunnel(void **state)
{
    (void)state;
    struct rig r;
    rig_start(&r, LIST("good.example", "127.0.0.1"), NULL);
    const char *got = tunnel(&r, "good.example");
    has(got, "HTTP/1.1 200 Connection established\r\n\r\n");
    has(got, "[GET /in HTTP/1.1\r\n\r\n]");
    has(tunnel(&r, "GOOD.Example."), "[GET /in");
    has(tunnel(&r, "127.0.0.1"), "[GET /in");
    assert_int_equal(r.n_told, 0);
    rig_stop(&r);
}

static void
test_not_listed(void **state)
{
    (void)state;
    struct rig r;
    struct buf why;
    rig_start(&r, LIST("good.example", "127.0.0.1"), NULL);
    uint64_t mark = proxy_refused_so_far(r.proxy);
    has(tunnel(&r, "bad.example"), "HTTP/1.1 403 ");
    const char *got = get(&r, "bad.example");
    has(got, "HTTP/1.1 403 ");
    has(got, "'bad.example' is not in sandbox.network.allowedDomains");
    assert_int_equal(r.n_told, 1);
    has(r.told, "bad.example: 'bad.example' is not in");
    buf_init(&why, 4096);
    proxy_refused_since(r.proxy, mark, &why);
    assert_string_equal(buf_cstr(&why), "'bad.example' is not in sandbox.network.allowedDomains\n");
    buf_clear(&why);
    proxy_refused_since(r.proxy, proxy_refused_so_far(r.proxy), &why);
    assert_int_equal(why.len, 0);
    buf_release(&why);
    assert_int_equal(r.origin.connections, 0);
    rig_stop(&r);
}

static void
test_patterns(void **state)
{
    (void)state;
    struct rig r;
    rig_start(&r, LIST("*.good.example", "*.no.example", "127.0.0.1"), LIST("bad.no.example"));
    has(tunnel(&r, "a.good.example"), "[GET /in");
    has(tunnel(&r, "a.b.good.example"), "[GET /in");
    has(tunnel(&r, "good.example"), " 403 ");
    has(tunnel(&r, "evilgood.example"), " 403 ");
    has(tunnel(&r, "good.example.evil"), " 403 ");
    has(tunnel(&r, "other.no.example"), "[GET /in");
    has(get(&r, "bad.no.example"), "is in sandbox.network.deniedDomains");
    rig_stop(&r);
}

static void
test_addresses(void **state)
{
    (void)state;
    struct rig r;
    rig_start(&r, LIST("*"), NULL); /* every name, no address */
    has(get(&r, "rebinds.example"), "leads to 127.0.0.1, this machine");
    has(get(&r, "127.0.0.1"), "is not in sandbox.network.allowedDomains");
    has(get(&r, "[::1]"), " 403 ");
    has(get(&r, "[::ffff:127.0.0.1]"), " 403 ");
    has(get(&r, "localhost"), " 403 "); /* by its name alone */
    has(get(&r, "metadata.google.internal"), "metadata address");
    has(get(&r, "nowhere.example"), "HTTP/1.1 502 ");
    assert_int_equal(r.origin.connections, 0);
    rig_stop(&r);

    rig_start(&r, LIST("localhost"), NULL);
    has(tunnel(&r, "localhost"), "[GET /in");
    has(tunnel(&r, "127.0.0.1"), " 403 ");
    rig_stop(&r);

    rig_start(&r, LIST("two.example", "127.0.0.1"), LIST("10.9.8.7"));
    atomic_store(&lookups, 0);
    has(tunnel(&r, "two.example"), "[GET /in"); /* not by the address that is not allowed */
    assert_int_equal(lookups, 1);
    assert_int_equal(r.origin.connections, 1);
    rig_stop(&r);
}

static void
test_plain_request(void **state)
{
    (void)state;
    struct rig r;
    rig_start(&r, LIST("good.example", "127.0.0.1"), NULL);
    char want[128];
    const char *got =
        ask(&r,
            "POST http://good.example:%d/p?q HTTP/1.1\r\nHost: evil.example\r\nX-A: 1\r\n"
            "Proxy-Authorization: Basic x\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
            r.origin.port);
    snprintf(want, sizeof want,
             "[POST /p?q HTTP/1.1\r\nHost: good.example:%d\r\nConnection: close\r\nX-A: 1\r\n"
             "Content-Length: 0\r\n\r\n]",
             r.origin.port);
    has(got, want);
    has_not(got, "evil.example");
    has(ask(&r, "GET http://good.example:%d?q HTTP/1.1\r\n\r\n", r.origin.port),
        "[GET /?q HTTP/1.1");
    rig_stop(&r);
}

/* What two readers could read differently is not passed on. */
static void
test_malformed(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "GET http://user@good.example/ HTTP/1.1\r\n\r\n",
        "GET http://evil.example\\@good.example/ HTTP/1.1\r\n\r\n",
        "GET http://good.example%2eevil.example/ HTTP/1.1\r\n\r\n",
        "GET http://0x7f.1/ HTTP/1.1\r\n\r\n",
        "GET http://2130706433/ HTTP/1.1\r\n\r\n",
        "GET http://g\xc3\xb6\x6f\x64.example/ HTTP/1.1\r\n\r\n",
        "GET https://good.example/ HTTP/1.1\r\n\r\n",
        "GET /only/a/path HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\nX: 1\r\n folded\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\nX: a\nHost: b\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\nHost : evil.example\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\nHost\t: evil.example\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\n Host: evil.example\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\nX: 1\r\nno name\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\n: 1\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\nH\xc3\xb6st: 1\r\n\r\n",
        "GET http://good.example/ HTTP/2\r\n\r\n",
        "GET  http://good.example/ HTTP/1.1\r\n\r\n",
        "CONNECT good.example HTTP/1.1\r\n\r\n",
        "CONNECT good.example:0 HTTP/1.1\r\n\r\n",
        "CONNECT good.example:99999 HTTP/1.1\r\n\r\n",
        "CONNECT a@good.example:80 HTTP/1.1\r\n\r\n",
        "CONNECT good.example/x:80 HTTP/1.1\r\n\r\n",
        "CONNECT good.example?:80 HTTP/1.1\r\n\r\n",
        "CONNECT [::1:80 HTTP/1.1\r\n\r\n",
    };
    struct rig r;
    rig_start(&r, LIST("good.example", "*", "127.0.0.1"), NULL);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        if (strncmp(ask(&r, "%s", requests[i]), "HTTP/1.1 400 ", 13) != 0)
            fail_msg("taken: %s", requests[i]);
    static const char nul[] = "GET http://good.example\0.evil/ HTTP/1.1\r\n\r\n";
    has(ask_bytes(&r, nul, sizeof nul - 1), "HTTP/1.1 400 ");
    char *big = malloc(40000);
    memset(big, 'a', 40000);
    memcpy(big, "GET http://", 11);
    int fd = dial(&r);
    send(fd, big, 40000, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    has(rest_of(fd), "HTTP/1.1 431 ");
    free(big);
    assert_int_equal(r.origin.connections, 0);
    rig_stop(&r);
}

/* ---- SOCKS5 ---- */

static int
socks_code(struct rig *r, int command, int type, const void *name, size_t len)
{
    unsigned char in[12];
    struct buf b;
    buf_init(&b, 1024);
    buf_add(&b, "\5\1\0\5", 4);
    buf_addc(&b, (char)command);
    buf_addc(&b, 0);
    buf_addc(&b, (char)type);
    if (type == 3)
        buf_addc(&b, (char)len);
    buf_add(&b, name, len);
    buf_addc(&b, (char)(r->origin.port >> 8));
    buf_addc(&b, (char)(r->origin.port & 0xff));
    int fd = dial(r);
    assert_int_equal(send(fd, b.data, b.len, MSG_NOSIGNAL), b.len);
    buf_release(&b);
    assert_int_equal(recv(fd, in, sizeof in, MSG_WAITALL), sizeof in);
    assert_memory_equal(in, "\5\0\5", 3);
    if (in[3] == 0) {
        assert_int_equal(send(fd, "GET /s HTTP/1.1\r\n\r\n", 19, MSG_NOSIGNAL), 19);
        has(rest_of(fd), "[GET /s");
    } else {
        assert_string_equal(rest_of(fd), "");
    }
    return in[3];
}

static void
test_socks(void **state)
{
    (void)state;
    struct rig r;
    rig_start(&r, LIST("good.example", "127.0.0.1"), NULL);
    assert_int_equal(socks_code(&r, 1, 3, "good.example", 12), 0);
    assert_int_equal(socks_code(&r, 1, 1, "\x7f\0\0\1", 4), 0);
    assert_int_equal(socks_code(&r, 1, 3, "evil.example", 12), 2);
    assert_int_equal(socks_code(&r, 1, 3, "evil.example\0.good.example", 26), 2);
    assert_int_equal(socks_code(&r, 1, 3, "good.example\0.evil.example", 26), 2);
    assert_int_equal(socks_code(&r, 1, 3, "good.example:80", 15), 2);
    assert_int_equal(socks_code(&r, 1, 3, "a@good.example", 14), 2);
    assert_int_equal(socks_code(&r, 1, 4, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16), 2);
    assert_int_equal(socks_code(&r, 1, 4, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\2", 16), 2);
    assert_int_equal(socks_code(&r, 2, 3, "good.example", 12), 7); /* to listen */
    has(r.told, "127.0.0.2");                                      /* the last one that was new */
    has_not(ask_bytes(&r, "\4\1\0\x50\x7f\0\0\1", 8), "\4"); /* an older SOCKS: no request at all */
    rig_stop(&r);
}

/* ---- ends ---- */

static void
test_idle_and_end(void **state)
{
    (void)state;
    struct rig r;
    rig_start(&r, LIST("127.0.0.1"), NULL);
    int fd[3];
    char text[256];
    for (int i = 0; i < 3; i++) { /* one says nothing, one half a request, one has its tunnel */
        fd[i] = dial(&r);
        int n = snprintf(text, sizeof text, "CONNECT 127.0.0.1:%d HTTP/1.1\r\n%s", r.origin.port,
                         i == 2 ? "\r\n" : "");
        if (i)
            assert_int_equal(send(fd[i], text, (size_t)n, 0), n);
    }
    assert_true(recv(fd[2], text, sizeof text, 0) > 0);
    proxy_free(r.proxy); /* does not wait for any of them */
    for (int i = 0; i < 3; i++)
        assert_string_equal(rest_of(fd[i]), "");
    origin_stop(&r.origin);
    assert_int_equal(rmdir(r.dir), 0);
}

static void
test_silence(void **state)
{
    (void)state;
    struct rig r;
    struct err err;
    rig_start(&r, NULL, NULL);
    proxy_free(r.proxy);
    const struct proxy_options o = {
        .allowed = LIST("127.0.0.1"), .n_allowed = 1, .dir = r.dir, .idle_ms = 20};
    r.proxy = proxy_new(&o, &err);
    int fd = dial(&r);
    char text[128];
    int n = snprintf(text, sizeof text, "CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n", r.origin.port);
    assert_int_equal(send(fd, text, (size_t)n, 0), n);
    has(rest_of(fd), " 200 "); /* and its end */
    rig_stop(&r);
}

/* Who says what it wants byte by byte has no more time than others. */
static void
test_slow_client(void **state)
{
    (void)state;
    struct rig r;
    struct err err;
    rig_start(&r, NULL, NULL);
    proxy_free(r.proxy);
    const struct proxy_options o = {
        .allowed = LIST("127.0.0.1"), .n_allowed = 1, .dir = r.dir, .ask_ms = 100};
    r.proxy = proxy_new(&o, &err);
    int fd = dial(&r), bytes = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(send(fd, "GET http://127.0.0.1/", 21, MSG_NOSIGNAL), 21);
    while (poll(&p, 1, 10) == 0 && bytes++ < 5000)
        (void)send(fd, "a", 1, MSG_NOSIGNAL);
    assert_in_range(bytes, 0, 4999);
    assert_string_equal(rest_of(fd), "");
    rig_stop(&r);
}

/* More connections than there may be: the rest waits and is served. */
static void
test_many(void **state)
{
    (void)state;
    struct rig r;
    int fd[80];
    char text[128];
    rig_start(&r, LIST("127.0.0.1"), NULL);
    for (int i = 0; i < 80; i++)
        fd[i] = dial(&r);
    int n = snprintf(text, sizeof text, "GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n", r.origin.port);
    for (int i = 0; i < 80; i++)
        assert_int_equal(send(fd[i], text, (size_t)n, 0), n);
    for (int i = 0; i < 80; i++)
        has(rest_of(fd[i]), " 200 OK");
    assert_int_equal(r.origin.connections, 80);
    rig_stop(&r);
}

/* ---- addresses that are none of the open internet ---- */

static bool
open_to(const char *list, const char *address)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {.v4 = {.sin_family = AF_INET}};
    if (strchr(address, ':')) {
        a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
        assert_int_equal(inet_pton(AF_INET6, address, &a.v6.sin6_addr), 1);
    } else {
        assert_int_equal(inet_pton(AF_INET, address, &a.v4.sin_addr), 1);
    }
    struct egress *e = egress_new(LIST(list), 1, NULL, 0);
    struct url_host h;
    struct buf why;
    buf_init(&why, 1024);
    url_host_parse(STR("http://name.example/"), &h);
    bool ok = egress_address(e, &h, &a.any, &why);
    assert_int_equal(ok, why.len == 0);
    buf_release(&why);
    url_host_release(&h);
    egress_free(e);
    return ok;
}

static void
test_special_addresses(void **state)
{
    (void)state;
    static const char *const closed[] = {"0.0.0.0",
                                         "10.1.2.3",
                                         "100.64.0.1",
                                         "127.8.8.8",
                                         "169.254.169.254",
                                         "172.16.0.1",
                                         "172.31.255.255",
                                         "192.168.1.1",
                                         "198.18.0.1",
                                         "224.0.0.1",
                                         "255.255.255.255",
                                         "::",
                                         "::1",
                                         "fc00::1",
                                         "fd12::1",
                                         "fe80::1",
                                         "ff02::1",
                                         "::7f00:1",
                                         "::ffff:10.0.0.1",
                                         "64:ff9b::7f00:1",
                                         "2002:7f00:1::",
                                         "fec0::1",
                                         "100::1",
                                         "::ffff:169.254.1.1"};
    static const char *const open[] = {"1.1.1.1",       "172.32.0.1",      "100.128.0.1",
                                       "9.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1"};
    for (size_t i = 0; i < ARRAY_LEN(closed); i++)
        if (open_to("*", closed[i]))
            fail_msg("open: %s", closed[i]);
    for (size_t i = 0; i < ARRAY_LEN(open); i++)
        if (!open_to("*", open[i]))
            fail_msg("closed: %s", open[i]);
    assert_true(open_to("10.1.2.3", "10.1.2.3"));
    assert_true(open_to("10.1.2.3", "::ffff:10.1.2.3"));
    assert_true(open_to("fd12::1", "fd12::1"));
    assert_true(open_to("[fd12::1]", "fd12::1"));
    assert_false(open_to("10.1.2.3", "10.1.2.4"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tunnel),        cmocka_unit_test(test_not_listed),
        cmocka_unit_test(test_patterns),      cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_plain_request), cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_socks),         cmocka_unit_test(test_idle_and_end),
        cmocka_unit_test(test_silence),       cmocka_unit_test(test_slow_client),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_special_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
