#pragma once
/*
 * Which hosts a confined command may reach: sandbox.network.allowedDomains less deniedDomains, by the one parser of perm/url.h.
 *
 * A host is judged twice: its name as it was asked for, and each address it resolved to, which is the one then connected to. Private,
 * loopback, link-local and other addresses that are not of the open internet are refused unless the list names that very
 * address (or "localhost", for loopback); a name that resolves there does not help. Immutable once made; thread-safe.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "perm/url.h"

struct sockaddr;
struct egress {
    char **allowed, **denied;
    size_t n_allowed, n_denied;
};
/* Copies the lists. */
struct egress *egress_new(const char *const *allowed, size_t n_allowed, const char *const *denied,
                          size_t n_denied);
void egress_free(struct egress *e);

/* "HOST:PORT" (CONNECT, Host), parsed strictly: no userinfo, no path, and a port from 1 to 65535 (fallback when there is none; 0:
 * there must be one). False: ret_why says what is wrong. url_host_release(ret) in any case. */
bool egress_parse(struct str authority, int fallback_port, struct url_host *ret, int *ret_port,
                  const char **ret_why);
/* May a command talk to this host? False: why is appended, naming the setting. */
bool egress_host(const struct egress *e, const struct url_host *h, struct buf *why);
/* ... at this address? */
bool egress_address(const struct egress *e, const struct url_host *h, const struct sockaddr *addr,
                    struct buf *why);
/* Does the list name this machine itself, so that "localhost" goes through the proxy? */
bool egress_names_localhost(const struct egress *e);
