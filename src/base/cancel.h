#pragma once
/*
 * Cancel tokens form a tree: session > turn > tool batch > tool. Firing one fires everything below it. A token is a
 * flag plus a file descriptor that becomes readable, never a message, so it works when every queue is full.
 *
 * Any thread may call anything here. A token is reference counted: a child holds its parent. The reason given first
 * wins and stays. One lock guards the tree; no call goes out while it is held.
 */
#include <stdbool.h>

struct cancel;

enum cancel_reason {
    CANCEL_NONE,
    CANCEL_USER,    /* Esc, Ctrl+C, SIGINT */
    CANCEL_TERM,    /* SIGTERM, SIGHUP: the program goes down */
    CANCEL_SIBLING, /* another call of the same batch failed */
    CANCEL_TIMEOUT,
    CANCEL_STOP, /* this one call was stopped by hand */
};

/* parent may be NULL; a fired parent makes a fired child */
struct cancel *cancel_new(struct cancel *parent);
struct cancel *cancel_ref(struct cancel *c);
void cancel_free(struct cancel *c); /* drops one reference; NULL is fine */
void cancel_fire(struct cancel *c, enum cancel_reason reason);
enum cancel_reason cancel_fired(const struct cancel *c); /* CANCEL_NONE: not fired; c may be NULL */
/* A descriptor that polls readable once fired; made on first use, owned by the token. */
int cancel_fd(struct cancel *c);
