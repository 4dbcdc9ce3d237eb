/* Small requests that somebody waits for, and a look at whether it is worth to ask at all. */
#include "base/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

static bool
fetch(struct http *h, struct cancel *cancel, int64_t until, struct buf *out, struct err *err)
{
    int wake = cancel ? cancel_fd(cancel) : -1;
    for (;;) {
        struct str chunk;
        int64_t left = until - clock_mono_ms();
        if (cancel_fired(cancel))
            return err_set(err, ERR_CANCELLED, "the request was cancelled");
        if (left <= 0)
            return err_set(err, ERR_TIMEOUT, "no whole answer in time");
        switch (http_next(h, wake, (int)left, &chunk, err)) {
        case HTTP_DATA:
            if (!buf_add_str(out, chunk))
                return err_set(err, ERR_LIMIT, "the answer is larger than %zu bytes", out->max);
            break;
        case HTTP_IDLE:
            break;
        case HTTP_DONE:
            return true;
        case HTTP_FAILED:
            return false;
        }
    }
}

bool
http_fetch(const struct http_spec *spec, struct cancel *cancel, int timeout_ms, struct buf *out,
           int *ret_status, struct err *err)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    struct http_spec s = *spec;
    if (s.connect_timeout_ms <= 0 || s.connect_timeout_ms > timeout_ms)
        s.connect_timeout_ms = timeout_ms;
    struct http *h = http_start(&s, err);
    if (!h)
        return false;
    bool ok = fetch(h, cancel, until, out, err);
    if (ok)
        *ret_status = http_status(h);
    http_free(h);
    return ok;
}

/* ---- loopback ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool
host_and_port(const char *url, struct str *ret_host, long *ret_port)
{
    bool tls = strncasecmp(url, "https://", 8) == 0;
    if (!tls && strncasecmp(url, "http://", 7) != 0)
        return false;
    struct str rest = str_from(url + (tls ? 8 : 7));
    rest.len = strcspn(rest.ptr, "/?#");
    if (rest.len && rest.ptr[0] == '[') {
        size_t end = str_find(rest, ']', 0);
        if (end == (size_t)-1)
            return false;
        *ret_host = str_sub(rest, 1, end - 1);
        rest = str_sub(rest, end + 1, rest.len);
    } else {
        size_t colon = str_find(rest, ':', 0);
        *ret_host = str_sub(rest, 0, colon == (size_t)-1 ? rest.len : colon);
        rest = str_sub(rest, ret_host->len, rest.len);
    }
    *ret_port = rest.len > 1 && rest.ptr[0] == ':' ? strtol(rest.ptr + 1, NULL, 10)
                : tls                              ? 443
                                                   : 80;
    return *ret_port > 0 && *ret_port < 65536;
}

static bool
loopback_address(const char *url, union address *ret, socklen_t *ret_len)
{
    struct str host;
    long port;
    char name[INET6_ADDRSTRLEN];
    *ret = (union address){0};
    if (!host_and_port(url, &host, &port) || host.len >= sizeof name)
        return false;
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    const char *numeric = strcasecmp(name, "localhost") == 0 ? "127.0.0.1" : name;
    if (inet_pton(AF_INET, numeric, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons((uint16_t)port);
        *ret_len = sizeof ret->v4;
        return ntohl(ret->v4.sin_addr.s_addr) >> 24 == 127;
    }
    if (inet_pton(AF_INET6, numeric, &ret->v6.sin6_addr) != 1)
        return false;
    ret->v6.sin6_family = AF_INET6;
    ret->v6.sin6_port = htons((uint16_t)port);
    *ret_len = sizeof ret->v6;
    return IN6_IS_ADDR_LOOPBACK(&ret->v6.sin6_addr);
}

bool
http_is_loopback(const char *url)
{
    union address a;
    socklen_t len;
    return loopback_address(url, &a, &len);
}

static bool
connects(int fd, const union address *a, socklen_t len, int timeout_ms)
{
    if (connect(fd, &a->any, len) == 0)
        return true;
    if (errno != EINPROGRESS)
        return false;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int failed = 0;
    socklen_t size = sizeof failed;
    int64_t until = clock_mono_ms() + timeout_ms;
    for (int64_t left; (left = until - clock_mono_ms()) > 0;) {
        int n = poll(&p, 1, (int)left);
        if (n > 0)
            return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 && !failed;
        if (n == 0 || errno != EINTR)
            break;
    }
    return false;
}

bool
http_listens(const char *url, int timeout_ms)
{
    union address a;
    socklen_t len;
    if (!loopback_address(url, &a, &len))
        return false;
    int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool yes = fd >= 0 && connects(fd, &a, len, timeout_ms);
    if (fd >= 0)
        close(fd);
    return yes;
}
