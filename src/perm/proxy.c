#include "perm/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "perm/proxy_private.h"

static void release(struct proxy *p);

static void
wake(const struct proxy *p)
{
    uint64_t one = 1;
    ssize_t n = write(p->wake_fd, &one, sizeof one);
    (void)n; /* full: it is readable */
}

/* ---- a connection ---- */

static void *
talk_main(void *arg)
{
    struct proxy_talk *t = arg;
    struct proxy *p = t->p;
    if (proxy_talk_read(t))
        proxy_pump(t);
    close(t->client);
    if (t->server >= 0)
        close(t->server);
    url_host_release(&t->host);
    buf_release(&t->in);
    buf_release(&t->out);
    free(t);
    pthread_mutex_lock(&p->lock);
    bool last = --p->n_connections == 0 && p->closed;
    wake(p);
    pthread_mutex_unlock(&p->lock);
    if (last)
        release(p);
    return NULL;
}

static void
count(struct proxy *p, int by)
{
    pthread_mutex_lock(&p->lock);
    p->n_connections += by;
    pthread_mutex_unlock(&p->lock);
}

static void
start_talk(struct proxy *p)
{
    pthread_t thread;
    pthread_attr_t attr;
    int fd = accept4(p->unix_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct proxy_talk *t = xcalloc(1, sizeof *t);
    t->p = p;
    t->client = fd;
    t->server = -1;
    buf_init(&t->in, PROXY_HEADER_MAX + 8192);
    buf_init(&t->out, 2 * PROXY_HEADER_MAX);
    count(p, 1);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&thread, &attr, talk_main, t);
    pthread_attr_destroy(&attr);
    if (!rc)
        return;
    log_warn("proxy", "cannot start a thread: %s", strerror(rc));
    count(p, -1);
    close(fd);
    buf_release(&t->in);
    buf_release(&t->out);
    free(t);
}

/* ---- the acceptor ---- */

static void
empty(int fd)
{
    uint64_t n;
    ssize_t got = read(fd, &n, sizeof n);
    (void)got; /* only there to be emptied */
}

/* Where there are enough connections, further ones wait in the kernel's queue. */
static bool
has_room(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->n_connections < PROXY_CONNECTIONS;
    pthread_mutex_unlock(&p->lock);
    return room;
}

static void *
accept_main(void *arg)
{
    struct proxy *p = arg;
    for (;;) {
        struct pollfd fds[] = {{.fd = p->stop_fd, .events = POLLIN},
                               {.fd = p->wake_fd, .events = POLLIN},
                               {.fd = has_room(p) ? p->unix_fd : -1, .events = POLLIN}};
        if (poll(fds, ARRAY_LEN(fds), -1) < 0)
            continue;
        if (fds[0].revents)
            return NULL;
        if (fds[1].revents)
            empty(p->wake_fd);
        if (fds[2].revents)
            start_talk(p);
    }
}

/* ---- refusals ---- */

/* True: it is to be told, and counts as told. Called with the lock held. */
static bool
is_news_locked(struct proxy *p, const char *host)
{
    if (!p->options.refused || p->closed || p->n_told >= PROXY_TOLD_MAX)
        return false;
    for (size_t i = 0; i < p->n_told; i++)
        if (strcmp(p->told[i], host) == 0)
            return false;
    p->told[p->n_told++] = xstrdup(host);
    return true;
}

void
proxy_refuse(struct proxy *p, const struct url_host *h, const char *why)
{
    pthread_mutex_lock(&p->lock);
    char **at = &p->refused[p->n_refused++ % PROXY_REFUSED_KEPT];
    free(*at);
    *at = xstrdup(why);
    bool tell = is_news_locked(p, buf_cstr(&h->name));
    p->telling += tell;
    pthread_mutex_unlock(&p->lock);
    log_info("proxy", "refused: %s", why);
    if (!tell)
        return;
    p->options.refused(p->options.user, buf_cstr(&h->name), why);
    pthread_mutex_lock(&p->lock);
    if (--p->telling == 0)
        pthread_cond_signal(&p->told_all);
    pthread_mutex_unlock(&p->lock);
}

uint64_t
proxy_refused_so_far(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    uint64_t n = p->n_refused;
    pthread_mutex_unlock(&p->lock);
    return n;
}

void
proxy_refused_since(struct proxy *p, uint64_t mark, struct buf *out)
{
    pthread_mutex_lock(&p->lock);
    uint64_t first = p->n_refused > PROXY_REFUSED_KEPT ? p->n_refused - PROXY_REFUSED_KEPT : 0;
    for (uint64_t i = mark > first ? mark : first; i < p->n_refused; i++) {
        const char *why = p->refused[i % PROXY_REFUSED_KEPT];
        if (!str_contains(buf_str(out), str_from(why)))
            buf_addf(out, "%s\n", why);
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- the whole ---- */

/* A path in a deep folder is longer than a socket's address may be: it is bound by way of its folder's descriptor. */
static bool
listen_unix(struct proxy *p, const char *dir, struct err *err)
{
    static atomic_uint number;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!fs_mkdirs(dir, 0700, err))
        return false;
    char *name = xasprintf("proxy-%d-%u.sock", (int)getpid(), atomic_fetch_add(&number, 1));
    p->socket = fs_join(dir, name);
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", at, name);
    free(name);
    unlink(p->socket);
    p->unix_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok = at >= 0 && p->unix_fd >= 0 && !bind(p->unix_fd, (void *)&a, sizeof a) &&
              !listen(p->unix_fd, 64);
    if (!ok)
        err_sys(err, errno, "cannot listen on '%s'", p->socket);
    if (at >= 0)
        close(at);
    return ok;
}

static bool
start_acceptor(struct proxy *p, struct err *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&p->acceptor, NULL, accept_main, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return !rc || err_sys(err, rc, "cannot start the proxy's thread");
}

static void
release(struct proxy *p)
{
    int fds[] = {p->unix_fd, p->stop_fd, p->wake_fd};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (p->socket)
        unlink(p->socket);
    for (size_t i = 0; i < PROXY_REFUSED_KEPT; i++)
        free(p->refused[i]);
    for (size_t i = 0; i < p->n_told; i++)
        free(p->told[i]);
    egress_free(p->egress);
    pthread_cond_destroy(&p->told_all);
    pthread_mutex_destroy(&p->lock);
    free(p->socket);
    free(p);
}

struct proxy *
proxy_new(const struct proxy_options *o, struct err *err)
{
    struct proxy *p = xcalloc(1, sizeof *p);
    p->options = *o;
    p->egress = egress_new(o->allowed, o->n_allowed, o->denied, o->n_denied);
    if (!o->resolve)
        p->options.resolve = getaddrinfo;
    if (!o->free_addresses)
        p->options.free_addresses = freeaddrinfo;
    if (!o->idle_ms)
        p->options.idle_ms = PROXY_IDLE_MS;
    if (!o->ask_ms)
        p->options.ask_ms = PROXY_ASK_MS;
    p->unix_fd = -1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->told_all, NULL);
    p->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = p->stop_fd >= 0 && p->wake_fd >= 0;
    if (!ok)
        err_sys(err, errno, "cannot make an eventfd");
    if (ok && listen_unix(p, o->dir, err) && start_acceptor(p, err))
        return p;
    release(p);
    return NULL;
}

/* A thread that looks up a name cannot be interrupted: the last one clears up. */
void
proxy_free(struct proxy *p)
{
    uint64_t one = 1;
    if (!p)
        return;
    if (write(p->stop_fd, &one, sizeof one) != sizeof one)
        die("cannot tell the proxy to stop");
    pthread_join(p->acceptor, NULL);
    unlink(p->socket);
    pthread_mutex_lock(&p->lock);
    p->closed = true;
    while (p->telling)
        pthread_cond_wait(&p->told_all, &p->lock);
    bool last = p->n_connections == 0;
    pthread_mutex_unlock(&p->lock);
    if (last)
        release(p);
}

const char *
proxy_socket(const struct proxy *p)
{
    return p->socket;
}

bool
proxy_names_localhost(const struct proxy *p)
{
    return egress_names_localhost(p->egress);
}
