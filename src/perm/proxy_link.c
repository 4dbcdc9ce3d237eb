/* The proxy's sockets: waiting, sending, reaching a host, and passing bytes on. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "perm/proxy_private.h"

enum { CHUNK = 64 << 10 };

/* False: the time is up, or everything ends. */
bool
proxy_wait(const struct proxy *p, int fd, short events, int timeout_ms)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = events}, {.fd = p->stop_fd, .events = POLLIN}};
        int64_t left = until - clock_mono_ms();
        int n = poll(fds, ARRAY_LEN(fds), left < 0 ? 0 : (int)left);
        if (n < 0 && errno == EINTR)
            continue;
        return n > 0 && !fds[1].revents;
    }
}

bool
proxy_send(const struct proxy *p, int fd, struct str s)
{
    while (s.len) {
        ssize_t n = send(fd, s.ptr, s.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return false;
        if (n < 0 && !proxy_wait(p, fd, POLLOUT, PROXY_ASK_MS))
            return false;
        if (n > 0)
            s = str_sub(s, (size_t)n, s.len);
    }
    return true;
}

/* ---- reaching a host ---- */

static int
dial(const struct proxy *p, const struct addrinfo *a, int *ret_errno)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int e = 0;
    socklen_t len = sizeof e;
    if (fd < 0) {
        *ret_errno = errno;
        return -1;
    }
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0 && errno != EINPROGRESS)
        e = errno;
    else if (!proxy_wait(p, fd, POLLOUT, PROXY_CONNECT_MS))
        e = ETIMEDOUT;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
        e = errno;
    if (!e)
        return fd;
    close(fd);
    *ret_errno = e;
    return -1;
}

/* The first address that may be reached and answers. Nothing is looked up again after the check. */
static bool
dial_any(struct proxy_talk *t, const struct addrinfo *list, bool *ret_refused, struct buf *why)
{
    int e = 0;
    bool tried = false;
    struct buf refusal;
    buf_init(&refusal, 1024);
    for (const struct addrinfo *a = list; a && t->server < 0; a = a->ai_next) {
        buf_clear(&refusal);
        if (!egress_address(t->p->egress, &t->host, a->ai_addr, &refusal))
            continue;
        tried = true;
        t->server = dial(t->p, a, &e);
    }
    *ret_refused = !tried;
    if (!tried)
        buf_add_str(why, buf_str(&refusal));
    else if (t->server < 0)
        buf_addf(why, "cannot connect to '%s' port %d: %s", buf_cstr(&t->host.name), t->port,
                 strerror(e));
    buf_release(&refusal);
    return t->server >= 0;
}

bool
proxy_connect(struct proxy_talk *t, bool *ret_refused, struct buf *why)
{
    const struct proxy_options *o = &t->p->options;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = t->host.numeric ? AI_NUMERICHOST : AI_ADDRCONFIG};
    struct addrinfo *list = NULL;
    char name[512], port[8];
    struct str s = buf_str(&t->host.name);
    *ret_refused = true;
    if (!egress_host(t->p->egress, &t->host, why))
        return false;
    if (s.len && s.ptr[0] == '[')
        s = str_sub(s, 1, s.len - 2);
    snprintf(name, sizeof name, "%.*s", (int)s.len, s.ptr);
    snprintf(port, sizeof port, "%d", t->port);
    int rc = o->resolve(name, port, &hints, &list);
    if (rc || !list) {
        *ret_refused = false;
        buf_addf(why, "cannot resolve '%s': %s", name, rc ? gai_strerror(rc) : "no address");
        return false;
    }
    bool ok = dial_any(t, list, ret_refused, why);
    o->free_addresses(list);
    return ok;
}

/* ---- passing on ---- */

struct way {
    int from, to;
    char bytes[CHUNK];
    size_t at, len;
    bool eof, shut;
};

static bool
way_move(struct way *w)
{
    if (!w->eof && !w->len) {
        ssize_t n = recv(w->from, w->bytes, sizeof w->bytes, 0);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        w->eof = n == 0;
        w->at = 0;
        w->len = n > 0 ? (size_t)n : 0;
    }
    while (w->len) {
        ssize_t n = send(w->to, w->bytes + w->at, w->len, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n < 0)
            return false;
        w->at += (size_t)n;
        w->len -= (size_t)n;
    }
    if (w->eof && !w->shut) {
        shutdown(w->to, SHUT_WR);
        w->shut = true;
    }
    return true;
}

static short
way_wants(const struct way *w, bool reading)
{
    return reading ? (!w->eof && !w->len ? POLLIN : 0) : (w->len ? POLLOUT : 0);
}

void
proxy_pump(struct proxy_talk *t)
{
    struct way *up = xcalloc(2, sizeof *up), *down = up + 1;
    up->from = down->to = t->client;
    up->to = down->from = t->server;
    bool ok = proxy_send(t->p, t->server, buf_str(&t->out)) &&
              proxy_send(t->p, t->server, buf_str(&t->in));
    while (ok && !(up->shut && down->shut)) {
        short client = (short)(way_wants(up, true) | way_wants(down, false));
        short server = (short)(way_wants(down, true) | way_wants(up, false));
        struct pollfd fds[] = {{.fd = client ? t->client : -1, .events = client},
                               {.fd = server ? t->server : -1, .events = server},
                               {.fd = t->p->stop_fd, .events = POLLIN}};
        int n = poll(fds, ARRAY_LEN(fds), t->p->options.idle_ms);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n > 0 && !fds[2].revents && way_move(up) && way_move(down);
    }
    free(up);
}
