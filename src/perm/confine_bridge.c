/* From 127.0.0.1 inside the sandbox to the socket of yare's proxy outside: a process that accepts, and one for each connection, so that a
 * slow one holds nobody up. They end with the sandbox. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perm/confine.h"
#include "perm/sandbox.h"

enum { CONNECTIONS_MAX = 128, CHUNK = 65536 };

static bool
write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return false;
        p += w;
        n -= (size_t)w;
    }
    return true;
}

/* One direction's share; false when both ends should be closed. */
static bool
pass_on(struct pollfd *from, int to)
{
    static char chunk[CHUNK];
    ssize_t n = recv(from->fd, chunk, sizeof chunk, 0);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (n == 0) {
        shutdown(to, SHUT_WR);
        from->fd = -1; /* the other direction may go on */
        return true;
    }
    return write_all(to, chunk, (size_t)n);
}

static _Noreturn void
serve(int inside, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int outside = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    if (outside < 0 || connect(outside, (struct sockaddr *)&to, sizeof to) < 0)
        _exit(1);
    struct pollfd p[] = {{.fd = inside, .events = POLLIN}, {.fd = outside, .events = POLLIN}};
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            _exit(1);
        if (p[0].fd >= 0 && p[0].revents && !pass_on(&p[0], outside))
            _exit(1);
        if (p[1].fd >= 0 && p[1].revents && !pass_on(&p[1], inside))
            _exit(1);
    }
    _exit(0);
}

static _Noreturn void
accept_all(int listener, const char *path)
{
    int alive = 0;
    for (;;) {
        while (alive && waitpid(-1, NULL, alive < CONNECTIONS_MAX ? WNOHANG : 0) > 0)
            alive--;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
            _exit(1);
        pid_t pid = fd < 0 ? -1 : fork();
        if (pid == 0) {
            close(listener);
            serve(fd, path);
        }
        alive += pid > 0;
        if (fd >= 0)
            close(fd);
    }
}

pid_t
confine_bridge(const char *path)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(SANDBOX_PROXY_PORT),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int on = 1;
    if (strlen(path) >= sizeof((struct sockaddr_un){0}).sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 64) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, "yare-bridge");
        prctl(PR_SET_DUMPABLE, 0);
        for (int i = 0; i < 3; i++)
            close(i);
        accept_all(fd, path);
    }
    close(fd);
    return pid;
}
