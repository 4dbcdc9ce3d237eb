#include "perm/egress.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char **
copy(const char *const *v, size_t n)
{
    char **out = xcalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = xstrdup(v[i]);
    return out;
}

struct egress *
egress_new(const char *const *allowed, size_t n_allowed, const char *const *denied, size_t n_denied)
{
    struct egress *e = xcalloc(1, sizeof *e);
    e->allowed = copy(allowed, n_allowed);
    e->denied = copy(denied, n_denied);
    e->n_allowed = n_allowed;
    e->n_denied = n_denied;
    return e;
}

void
egress_free(struct egress *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->n_allowed; i++)
        free(e->allowed[i]);
    for (size_t i = 0; i < e->n_denied; i++)
        free(e->denied[i]);
    free(e->allowed);
    free(e->denied);
    free(e);
}

/* ---- what was asked for ---- */

/* What stands behind the host: "" or ":PORT". */
static bool
read_port(struct str tail, int fallback, int *ret)
{
    int port = 0;
    if (!tail.len || str_is(tail, ":"))
        port = fallback;
    for (size_t i = 1; i < tail.len; i++)
        port = port * 10 + (tail.ptr[i] - '0'); /* at most five digits: the parser saw to that */
    *ret = port;
    return port >= 1 && port <= 65535;
}

bool
egress_parse(struct str authority, int fallback_port, struct url_host *ret, int *ret_port,
             const char **ret_why)
{
    struct buf url;
    buf_init(&url, 1024);
    bool ok = authority.len > 0;
    for (size_t i = 0; i < authority.len; i++)
        ok = ok && !memchr("/?#", authority.ptr[i], 3);
    ok = ok && buf_adds(&url, "http://") && buf_add_str(&url, authority) && buf_addc(&url, '/');
    url_host_parse(ok ? buf_str(&url) : STR(""), ret);
    buf_release(&url);
    size_t host_end = authority.len && authority.ptr[0] == '[' ? str_find(authority, ']', 0) : 0;
    size_t colon = host_end == (size_t)-1 ? host_end : str_find(authority, ':', host_end);
    struct str tail = colon == (size_t)-1 ? STR("") : str_sub(authority, colon, authority.len);
    *ret_why = !ok             ? "it is no host and port"
               : ret->bad      ? ret->bad
               : ret->userinfo ? "a name or password stands before its host"
                               : NULL;
    if (!*ret_why && !read_port(tail, fallback_port, ret_port))
        *ret_why = "its port is none from 1 to 65535";
    return !*ret_why;
}

/* ---- the lists ---- */

static const char *
match(char *const *list, size_t n, const struct url_host *h)
{
    for (size_t i = 0; i < n; i++)
        if (url_domain_match(str_from(list[i]), h))
            return list[i];
    return NULL;
}

bool
egress_host(const struct egress *e, const struct url_host *h, struct buf *why)
{
    const char *denied = match(e->denied, e->n_denied, h);
    if (denied) {
        buf_addf(why, "'%s' is in sandbox.network.deniedDomains (%s)", buf_cstr(&h->name), denied);
        return false;
    }
    const char *allowed = match(e->allowed, e->n_allowed, h);
    if (!allowed) {
        buf_addf(why, "'%s' is not in sandbox.network.allowedDomains", buf_cstr(&h->name));
        return false;
    }
    if (url_is_metadata(h) && strcasecmp(allowed, buf_cstr(&h->name)) != 0) {
        buf_addf(why, "'%s' is a cloud metadata address, which '%s' does not speak of",
                 buf_cstr(&h->name), allowed);
        return false;
    }
    return true;
}

bool
egress_names_localhost(const struct egress *e)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]", "::1"};
    for (size_t i = 0; i < e->n_allowed; i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (strcasecmp(e->allowed[i], names[k]) == 0)
                return true;
    return false;
}

/* ---- addresses ---- */

struct range {
    unsigned char net[4];
    int bits;
    const char *what;
};
/* RFC 6890 and its like: nothing there is a host of the open internet. */
static const struct range ranges[] = {
    {{0, 0, 0, 0}, 8, "this network"},
    {{10, 0, 0, 0}, 8, "a private network"},
    {{100, 64, 0, 0}, 10, "a carrier's network"},
    {{127, 0, 0, 0}, 8, "this machine"},
    {{169, 254, 0, 0}, 16, "a link-local or metadata address"},
    {{172, 16, 0, 0}, 12, "a private network"},
    {{192, 0, 0, 0}, 24, "a special address"},
    {{192, 0, 2, 0}, 24, "a special address"},
    {{192, 88, 99, 0}, 24, "a special address"},
    {{192, 168, 0, 0}, 16, "a private network"},
    {{198, 18, 0, 0}, 15, "a test network"},
    {{198, 51, 100, 0}, 24, "a special address"},
    {{203, 0, 113, 0}, 24, "a special address"},
    {{224, 0, 0, 0}, 4, "a multicast address"},
    {{240, 0, 0, 0}, 4, "a reserved address"},
};

static const char *
special_4(const unsigned char *a)
{
    uint32_t addr = (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        const unsigned char *n = ranges[i].net;
        uint32_t net = (uint32_t)n[0] << 24 | (uint32_t)n[1] << 16 | (uint32_t)n[2] << 8 | n[3];
        if ((addr ^ net) >> (32 - ranges[i].bits) == 0)
            return ranges[i].what;
    }
    return NULL;
}

/* The IPv4 address that an IPv6 one carries, or NULL. */
static const unsigned char *
carried(const unsigned char *a)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff}, none[12];
    static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    if (!memcmp(a, mapped, 12) || !memcmp(a, nat64, 12))
        return a + 12;
    if (!memcmp(a, none, 12) && (a[12] || a[13] || a[14] || a[15] > 1))
        return a + 12;
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return a + 2;
    return NULL;
}

static const char *
special_6(const unsigned char *a)
{
    static const unsigned char loopback[16] = {[15] = 1}, none[16];
    const unsigned char *v4 = carried(a);
    if (v4)
        return special_4(v4);
    if (!memcmp(a, loopback, 16))
        return "this machine";
    if (!memcmp(a, none, 16))
        return "this network";
    if ((a[0] & 0xfe) == 0xfc)
        return "a private network";
    if (a[0] == 0xfe && a[1] & 0x80)
        return "a link-local address";
    if (a[0] == 0xff)
        return "a multicast address";
    return (a[0] & 0xe0) == 0x20 ? NULL : "a special address";
}

/* As the lists would write it: "10.0.0.5", "[fd00::1]". An IPv4 address in an IPv6 coat is judged without it. */
static const char *
look_at(const struct sockaddr *addr, struct url_host *ret)
{
    char text[INET6_ADDRSTRLEN];
    const unsigned char *a4 = NULL, *a6 = NULL;
    *ret = (struct url_host){.numeric = true};
    buf_init(&ret->name, 128);
    if (addr->sa_family == AF_INET)
        a4 = (const unsigned char *)&((const struct sockaddr_in *)(const void *)addr)->sin_addr;
    else if (addr->sa_family == AF_INET6)
        a6 = (const unsigned char *)&((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr;
    else
        return "no address of the internet";
    if (a6 && carried(a6))
        a4 = carried(a6);
    if (a4)
        buf_adds(&ret->name, inet_ntop(AF_INET, a4, text, sizeof text));
    else
        buf_addf(&ret->name, "[%s]", inet_ntop(AF_INET6, a6, text, sizeof text));
    return a4 ? special_4(a4) : special_6(a6);
}

static bool
names_address(const struct egress *e, const struct url_host *at)
{
    struct str bare = buf_str(&at->name);
    if (bare.len && bare.ptr[0] == '[')
        bare = str_sub(bare, 1, bare.len - 2);
    for (size_t i = 0; i < e->n_allowed; i++)
        if (str_is(buf_str(&at->name), e->allowed[i]) || str_is(bare, e->allowed[i]))
            return true;
    return false;
}

bool
egress_address(const struct egress *e, const struct url_host *h, const struct sockaddr *addr,
               struct buf *why)
{
    struct url_host at;
    const char *special = look_at(addr, &at);
    const char *denied = match(e->denied, e->n_denied, &at);
    bool loopback = special && strcmp(special, "this machine") == 0;
    bool ok = !denied && (!special || names_address(e, &at));
    if (!denied && loopback && str_is(buf_str(&h->name), "localhost"))
        ok = egress_names_localhost(e);
    if (denied)
        buf_addf(why, "%s (%s) is in sandbox.network.deniedDomains", buf_cstr(&at.name), denied);
    else if (!ok)
        buf_addf(why,
                 "'%s' leads to %s, %s: only that address itself in sandbox.network.allowedDomains "
                 "opens it",
                 buf_cstr(&h->name), buf_cstr(&at.name), special);
    url_host_release(&at);
    return ok;
}
