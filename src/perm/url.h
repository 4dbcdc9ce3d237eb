#pragma once
/*
 * The host that a URL names, by one strict reading: what a fetcher could read differently is no host at all. Only http and
 * https, ASCII hosts (an internationalised name must come as xn--), no backslash, blank, control byte or percent sign
 * before the path, numeric hosts only as four plain decimal parts or a bracketed IPv6 address.
 * Pure, thread-safe.
 */
#include <stdbool.h>

#include "base/buf.h"

struct url_host {
    struct buf name; /* lower case, without a trailing dot; IPv6 with its brackets */
    bool userinfo;   /* something stood before an '@' */
    bool numeric;    /* an IP literal */
    const char *bad; /* why there is no host, or NULL */
};
void url_host_parse(struct str url, struct url_host *ret);
void url_host_release(struct url_host *h);

/* "h" the very host, "*.h" any depth below h but not h, another '*' one label, "*" alone every name that is no IP literal. Case
 * does not count, nor does a trailing dot. */
bool url_domain_match(struct str pattern, const struct url_host *h);
/* Link-local and cloud metadata addresses: no broad rule speaks of them. */
bool url_is_metadata(const struct url_host *h);
