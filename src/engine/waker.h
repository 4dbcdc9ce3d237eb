#pragma once
/*
 * The engine thread's one wait: an eventfd that ops, cancels and finished tool jobs make readable. A signal is never lost:
 * waker_clear comes before the reader looks at its queues. waker_signal from any thread; the rest from the reader.
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct waker {
    int fd;
    atomic_bool set; /* lets a busy reader look without a system call */
};

bool waker_init(struct waker *w, struct err *err) MUST_CHECK;
void waker_release(struct waker *w);
void waker_signal(struct waker *w);
bool waker_is_set(const struct waker *w);
void waker_clear(struct waker *w);
/* Waits at most timeout_ms (-1: for ever); true: signalled (and not yet cleared). */
bool waker_wait(struct waker *w, int timeout_ms);
