#pragma once
/*
 * A command of the person's that prints an API key (setting apiKeyHelper). It runs under /bin/sh with the environment that children
 * get; what it prints on standard error is dropped, for it may hold the key; it has 60 seconds. The key is its standard output without
 * the blanks around it: one word. It stands in no log, no environment and no error text.
 *
 * A struct key_run belongs to one thread. key_helper_get waits; key_run_* is the same in steps, for a thread with one wait of its own:
 *
 *     key_run_start(&r, &helper, &err);
 *     while ((step = key_run_step(&r, wake_fd, timeout_ms, &key, &err)) == KEY_WAITS) ...
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/proc.h"

#define KEY_HELPER_MS 60000

struct key_helper { /* borrowed */
    const char *command;
    const char *cwd;        /* NULL: this program's */
    const char *const *env; /* the child's whole environment */
    int timeout_ms;         /* 0: KEY_HELPER_MS */
};

enum key_step { KEY_WAITS, KEY_DONE, KEY_FAILED };
struct key_run {
    struct proc proc;
    struct buf out;
    int64_t until;
    bool running;
};
bool key_run_start(struct key_run *r, const struct key_helper *h, struct err *err) MUST_CHECK;
/* Waits until the helper has ended, wake_fd is readable or timeout_ms is over (-1: none). DONE: *ret_key is yours (key_free).
 * After DONE and FAILED nothing is left to stop. */
enum key_step key_run_step(struct key_run *r, int wake_fd, int timeout_ms, char **ret_key,
                           struct err *err);
void key_run_stop(struct key_run *r); /* kills what runs; safe on a zeroed one */

/* The whole of it; NULL with err. `cancel` may be NULL. */
char *key_helper_get(const struct key_helper *h, struct cancel *cancel, struct err *err);
void key_free(char *key); /* wipes it first; NULL is fine */
