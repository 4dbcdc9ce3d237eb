#include "perm/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perm/wild.h"

enum { HOST_MAX = 253 };

void
url_host_release(struct url_host *h)
{
    buf_release(&h->name);
}

static bool
starts_nocase(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.len >= n && strncasecmp(s.ptr, prefix, n) == 0;
}

/* The bytes between "//" and the path, query or fragment. */
static bool
authority(struct str url, struct str *ret, const char **ret_bad)
{
    size_t skip = starts_nocase(url, "https://") ? 8 : starts_nocase(url, "http://") ? 7 : 0;
    if (!skip) {
        *ret_bad = "it is no http or https address";
        return false;
    }
    struct str s = str_sub(url, skip, url.len);
    size_t n = 0;
    while (n < s.len && !strchr("/?#", s.ptr[n]) && s.ptr[n])
        n++;
    *ret = str_sub(s, 0, n);
    for (size_t i = 0; i < url.len; i++) {
        unsigned char c = (unsigned char)url.ptr[i];
        if (c <= ' ' || c == 0x7f || c == '\\') {
            *ret_bad = "it holds a blank, a backslash or a control character";
            return false;
        }
    }
    return true;
}

static bool
port_ok(struct str port)
{
    if (port.len > 5)
        return false;
    for (size_t i = 0; i < port.len; i++)
        if (!isdigit((unsigned char)port.ptr[i]))
            return false;
    return true;
}

static bool
bracketed(struct url_host *h, struct str s)
{
    size_t end = str_find(s, ']', 0);
    char text[64];
    struct in6_addr addr;

    if (end == (size_t)-1 || end - 1 >= sizeof text)
        return false;
    memcpy(text, s.ptr + 1, end - 1);
    text[end - 1] = '\0';
    if (inet_pton(AF_INET6, text, &addr) != 1)
        return false;
    struct str rest = str_sub(s, end + 1, s.len);
    if (rest.len && (rest.ptr[0] != ':' || !port_ok(str_sub(rest, 1, rest.len))))
        return false;
    inet_ntop(AF_INET6, &addr, text, sizeof text);
    h->numeric = true;
    return buf_addf(&h->name, "[%s]", text);
}

static bool
name_bytes_ok(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool empty_label = c == '.' && (i == 0 || s.ptr[i - 1] == '.');
        if (empty_label || !(isalnum(c) || c == '-' || c == '.' || c == '_') || c >= 0x80)
            return false;
    }
    return s.len > 0 && s.len <= HOST_MAX;
}

/* What resolvers take for a number: the last label begins with a digit and holds digits (or hex) alone. */
static bool
looks_numeric(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *last = dot ? dot + 1 : name;
    if (last[0] == '0' && (last[1] == 'x' || last[1] == 'X'))
        return true;
    return *last && last[strspn(last, "0123456789")] == '\0';
}

static bool
plain_name(struct url_host *h, struct str s)
{
    size_t colon = str_find(s, ':', 0);
    if (colon != (size_t)-1) {
        if (!port_ok(str_sub(s, colon + 1, s.len)))
            return false;
        s = str_sub(s, 0, colon);
    }
    if (s.len && s.ptr[s.len - 1] == '.')
        s.len--;
    if (!name_bytes_ok(s))
        return false;
    for (size_t i = 0; i < s.len; i++)
        buf_addc(&h->name, (char)tolower((unsigned char)s.ptr[i]));
    if (looks_numeric(buf_cstr(&h->name))) {
        struct in_addr addr;
        h->numeric = true;
        return inet_pton(AF_INET, buf_cstr(&h->name), &addr) == 1;
    }
    return true;
}

void
url_host_parse(struct str url, struct url_host *ret)
{
    struct str auth = {0};
    *ret = (struct url_host){0};
    buf_init(&ret->name, HOST_MAX + 64);
    if (!authority(url, &auth, &ret->bad))
        return;
    for (size_t at; (at = str_find(auth, '@', 0)) != (size_t)-1;) {
        ret->userinfo = true;
        auth = str_sub(auth, at + 1, auth.len);
    }
    bool ok = auth.len && auth.ptr[0] == '[' ? bracketed(ret, auth) : plain_name(ret, auth);
    if (!ok) {
        buf_clear(&ret->name);
        ret->bad = "its host is no plain ASCII name or address";
    }
}

/* `*` inside a pattern stands for one label. */
static bool
labels_match(struct str pattern, struct str host)
{
    struct str a, b;
    for (;;) {
        bool more_a = str_split(&pattern, '.', &a), more_b = str_split(&host, '.', &b);
        if (!more_a || !more_b)
            return more_a == more_b;
        if (!wild_match(a, b))
            return false;
    }
}

bool
url_domain_match(struct str pattern, const struct url_host *h)
{
    struct buf low;
    bool match;

    if (h->bad)
        return false;
    if (pattern.len > 1 && pattern.ptr[pattern.len - 1] == '.')
        pattern.len--;
    buf_init(&low, HOST_MAX + 64);
    for (size_t i = 0; i < pattern.len; i++)
        buf_addc(&low, (char)tolower((unsigned char)pattern.ptr[i]));
    struct str p = buf_str(&low), host = buf_str(&h->name);
    if (buf_full(&low)) {
        match = false;
    } else if (str_eq(p, host)) {
        match = true;
    } else if (h->numeric) {
        match = false;
    } else if (str_is(p, "*")) {
        match = true;
    } else if (str_starts(p, "*.") && str_find(p, '*', 1) == (size_t)-1) {
        struct str tail = str_sub(p, 1, p.len);
        match = host.len > tail.len && str_ends(host, buf_cstr(&low) + 1);
    } else {
        match = str_find(p, '*', 0) != (size_t)-1 && labels_match(p, host);
    }
    buf_release(&low);
    return match;
}

bool
url_is_metadata(const struct url_host *h)
{
    struct str s = buf_str(&h->name);
    return str_starts(s, "169.254.") || str_starts(s, "[fe80:") || str_starts(s, "[fd00:ec2:") ||
           str_starts(s, "[::ffff:169.254.") || str_is(s, "metadata.google.internal") ||
           str_is(s, "metadata");
}
