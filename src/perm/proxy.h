#pragma once
/*
 * The way out of the sandbox: a proxy on threads of this program, for HTTP (CONNECT and plain) and SOCKS5, that connects only where
 * perm/egress.h lets it.
 *
 * A sandbox has a network of its own, with nothing in it but a port of 127.0.0.1 that the last step before the command (perm/confine.h)
 * joins to the proxy's Unix socket.
 *
 * The name is parsed once, resolved once, and the very address that was checked is connected to. A plain request is
 * rewritten (one a connection, its Host the host that was checked). A refusal is a 403 whose text names the setting, and is told to
 * `refused` once a host. Caps: header bytes, connections, seconds to say what is wanted, seconds of silence.
 *
 * Any thread. proxy_free interrupts its threads and returns; what cannot be interrupted (a name that is looked up) ends by itself and
 * tells nobody any more.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct addrinfo;
struct proxy;
struct proxy_options {
    const char *const *allowed, *const *denied;
    size_t n_allowed, n_denied;
    const char *dir; /* where the Unix socket is made; made 0700 when missing */
    /* A command asked for a host that it may not reach; called from the proxy's threads, once a host. May be NULL. */
    void (*refused)(void *user, const char *host, const char *why);
    void *user;
    /* tests; NULL: getaddrinfo and freeaddrinfo */
    int (*resolve)(const char *name, const char *port, const struct addrinfo *hints,
                   struct addrinfo **ret);
    void (*free_addresses)(struct addrinfo *a);
    int idle_ms; /* silence that ends a connection; 0: 5 minutes */
    int ask_ms;  /* to say all of what is wanted; 0: half a minute */
};

struct proxy *proxy_new(const struct proxy_options *o, struct err *err);
const char *proxy_socket(const struct proxy *p);
bool proxy_names_localhost(const struct proxy *p); /* "localhost" is for the proxy too */
/* What was refused since a mark that was taken before a command started, a line each, in words for the model: its own, and that of
 * commands beside it. Appends; the last 16 at most. */
uint64_t proxy_refused_so_far(struct proxy *p);
void proxy_refused_since(struct proxy *p, uint64_t mark, struct buf *out);
void proxy_free(struct proxy *p); /* NULL is fine */
