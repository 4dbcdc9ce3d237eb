#include "engine/waker.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool
waker_init(struct waker *w, struct err *err)
{
    atomic_init(&w->set, false);
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->fd < 0)
        return err_sys(err, errno, "cannot make the engine's event descriptor");
    return true;
}

void
waker_release(struct waker *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

void
waker_signal(struct waker *w)
{
    /* The flag goes first: a reader that sees the descriptor also sees the flag. */
    if (atomic_exchange(&w->set, true))
        return;
    uint64_t one = 1;
    ssize_t n;
    do
        n = write(w->fd, &one, sizeof one);
    while (n < 0 && errno == EINTR);
}

bool
waker_is_set(const struct waker *w)
{
    return atomic_load(&w->set);
}

void
waker_clear(struct waker *w)
{
    uint64_t count;
    ssize_t n;
    do
        n = read(w->fd, &count, sizeof count);
    while (n < 0 && errno == EINTR);
    atomic_store(&w->set, false);
}

bool
waker_wait(struct waker *w, int timeout_ms)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    int n = poll(&p, 1, timeout_ms);
    return n > 0 || waker_is_set(w);
}
