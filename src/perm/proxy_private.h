#pragma once
/* The insides of the proxy, for perm/proxy*.c alone. */
#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"
#include "perm/egress.h"
#include "perm/proxy.h"

enum {
    PROXY_HEADER_MAX = 16 << 10,
    PROXY_CONNECTIONS = 64,
    PROXY_ASK_MS = 30000,     /* to say what is wanted */
    PROXY_CONNECT_MS = 15000, /* to reach one address */
    PROXY_IDLE_MS = 300000,
    PROXY_TOLD_MAX = 256, /* hosts whose refusal was told */
    PROXY_REFUSED_KEPT = 16
};

struct proxy {
    struct egress *egress;
    struct proxy_options options; /* its lists are not used any more */
    char *socket;
    int unix_fd;
    int stop_fd; /* readable: everything ends */
    int wake_fd; /* the acceptor looks again */
    pthread_t acceptor;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t told_all;
    int n_connections, telling;        /* threads; calls of `refused` that are under way */
    bool closed;                       /* nobody is told any more; the last thread frees */
    char *refused[PROXY_REFUSED_KEPT]; /* why, a ring */
    uint64_t n_refused;
    char *told[PROXY_TOLD_MAX];
    size_t n_told;
};

/* One connection of a command, on a thread of its own. */
struct proxy_talk {
    struct proxy *p;
    int client, server; /* -1: none */
    struct buf in;      /* read from the client and not used yet */
    struct url_host host;
    int port;
    int64_t ask_until_ms; /* what is wanted must be said by then */
    struct buf out;       /* goes to the server before the rest of `in`: the rewritten request */
};

/* proxy_talk.c: what is wanted. False: the client was answered, or is gone. */
bool proxy_talk_read(struct proxy_talk *t);
/* proxy_link.c */
bool proxy_wait(const struct proxy *p, int fd, short events, int timeout_ms);
bool proxy_send(const struct proxy *p, int fd, struct str bytes);
/* Checks and connects: t->server. False: why says what stood in the way; *ret_refused: the settings, else the network. */
bool proxy_connect(struct proxy_talk *t, bool *ret_refused, struct buf *why);
void proxy_pump(struct proxy_talk *t);
/* proxy.c: the settings say no. */
void proxy_refuse(struct proxy *p, const struct url_host *h, const char *why);
