/* What a command wants of the proxy, in HTTP or SOCKS5, and what it is answered when it cannot have it. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "perm/proxy_private.h"

/* More of what the client says, until `want` bytes are there. All that it says has one time, however it comes. */
static bool
read_until(struct proxy_talk *t, size_t want)
{
    while (t->in.len < want) {
        int64_t left = t->ask_until_ms - clock_mono_ms();
        char *at = buf_reserve(&t->in, 4096);
        if (!at || left <= 0 || !proxy_wait(t->p, t->client, POLLIN, (int)left))
            return false;
        ssize_t n = recv(t->client, at, 4096, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            return false;
        buf_commit(&t->in, (size_t)n);
    }
    return true;
}

/* ---- HTTP ---- */

static bool
answer(struct proxy_talk *t, const char *status, const char *text)
{
    struct buf b;
    buf_init(&b, 8192);
    size_t len = strlen(text) + strlen("yare's sandbox: \n");
    buf_addf(&b,
             "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n\r\nyare's sandbox: %s\n",
             status, len, text);
    proxy_send(t->p, t->client, buf_str(&b));
    shutdown(t->client, SHUT_WR);
    buf_release(&b);
    return false;
}

/* The end of the header behind its blank line; 0: it is not there yet. */
static size_t
header_end(const struct buf *in)
{
    const char *end = in->len ? memmem(in->data, in->len, "\r\n\r\n", 4) : NULL;
    return end ? (size_t)(end - in->data) + 4 : 0;
}

/* Only what every reader reads alike: lines that end in CR LF and hold no control byte, none of them folded. */
static bool
header_clean(struct str h)
{
    for (size_t i = 0; i < h.len; i++) {
        unsigned char c = (unsigned char)h.ptr[i];
        bool line_end = i + 1 < h.len && c == '\r' && h.ptr[i + 1] == '\n';
        if (line_end && i + 2 < h.len && (h.ptr[i + 2] == ' ' || h.ptr[i + 2] == '\t'))
            return false;
        if (line_end)
            i++;
        else if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* "NAME: VALUE". A blank before the colon makes two readers see different names. */
static bool
line_clean(struct str line)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    size_t n = 0;
    while (n < line.len && line.ptr[n] != ':') {
        char c = line.ptr[n++];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !memchr(marks, c, sizeof marks - 1))
            return false;
    }
    return n > 0 && n < line.len;
}

static bool
next_line(struct str *rest, struct str *ret)
{
    size_t end = str_find(*rest, '\r', 0);
    if (end == (size_t)-1 || end == 0)
        return false;
    *ret = str_sub(*rest, 0, end);
    *rest = str_sub(*rest, end + 2, rest->len);
    return true;
}

static bool
lines_clean(struct str headers)
{
    struct str line;
    while (next_line(&headers, &line))
        if (!line_clean(line))
            return false;
    return true;
}

/* Headers that are for the proxy, or that the proxy says anew. */
static bool
is_ours(struct str line)
{
    static const char *const names[] = {"host:", "connection:", "keep-alive:", "proxy-",
                                        "upgrade:"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (line.len >= strlen(names[i]) && !strncasecmp(line.ptr, names[i], strlen(names[i])))
            return true;
    return false;
}

static void
rewrite(struct proxy_talk *t, struct str method, struct str path, struct str headers)
{
    struct str line;
    bool slash = path.len && path.ptr[0] == '/';
    buf_addf(&t->out, "%.*s %s%.*s HTTP/1.1\r\nHost: %s", (int)method.len, method.ptr,
             slash ? "" : "/", (int)path.len, path.ptr, buf_cstr(&t->host.name));
    if (t->port != 80)
        buf_addf(&t->out, ":%d", t->port);
    buf_adds(&t->out, "\r\nConnection: close\r\n");
    while (next_line(&headers, &line))
        if (!is_ours(line))
            buf_addf(&t->out, "%.*s\r\n", (int)line.len, line.ptr);
    buf_adds(&t->out, "\r\n");
}

/* "http://HOST[:PORT]/PATH" */
static bool
split_target(struct str target, struct str *ret_authority, struct str *ret_path)
{
    size_t n = 7;
    if (target.len < n || strncasecmp(target.ptr, "http://", n) != 0)
        return false;
    while (n < target.len && !memchr("/?#", target.ptr[n], 3))
        n++;
    *ret_authority = str_sub(target, 7, n - 7);
    *ret_path = str_sub(target, n, target.len);
    return true;
}

static bool
reach_http(struct proxy_talk *t, bool tunnel)
{
    struct buf why;
    bool refused = false;
    buf_init(&why, 4096);
    bool ok = proxy_connect(t, &refused, &why);
    if (!ok && refused)
        proxy_refuse(t->p, &t->host, buf_cstr(&why));
    if (!ok)
        answer(t, refused ? "403 Forbidden" : "502 Bad Gateway", buf_cstr(&why));
    else if (tunnel)
        ok = proxy_send(t->p, t->client, STR("HTTP/1.1 200 Connection established\r\n\r\n"));
    buf_release(&why);
    return ok;
}

static bool
read_http(struct proxy_talk *t)
{
    struct str line, method, target, version, authority, path = STR("");
    const char *why = "the request line is none of HTTP/1";
    size_t end;
    while (!(end = header_end(&t->in)))
        if (t->in.len > PROXY_HEADER_MAX)
            return answer(t, "431 Request Header Fields Too Large", "the header is too long");
        else if (!read_until(t, t->in.len + 1))
            return false;
    struct str rest = str_sub(buf_str(&t->in), 0, end);
    if (!header_clean(rest) || !next_line(&rest, &line) || !lines_clean(rest))
        return answer(t, "400 Bad Request", "the header holds what is none");
    bool tunnel = str_starts(line, "CONNECT ");
    bool ok = str_split(&line, ' ', &method) && str_split(&line, ' ', &target) &&
              str_split(&line, ' ', &version) && !line.len && str_starts(version, "HTTP/1.") &&
              method.len;
    if (ok && tunnel)
        ok = egress_parse(target, 0, &t->host, &t->port, &why);
    else if (ok)
        ok = split_target(target, &authority, &path) &&
             egress_parse(authority, 80, &t->host, &t->port, &why);
    if (!ok)
        return answer(t, "400 Bad Request", why);
    if (!reach_http(t, tunnel))
        return false;
    if (!tunnel)
        rewrite(t, method, path, rest);
    buf_remove_front(&t->in, end);
    return !buf_full(&t->out);
}

/* ---- SOCKS5, RFC 1928 ---- */

enum {
    SOCKS_OK = 0,
    SOCKS_FAILED = 1,
    SOCKS_REFUSED = 2,
    SOCKS_UNREACHABLE = 4,
    SOCKS_NO_COMMAND = 7,
    SOCKS_NO_TYPE = 8
};

static bool
socks_answer(struct proxy_talk *t, int code)
{
    const char reply[10] = {5, (char)code, 0, 1};
    return proxy_send(t->p, t->client, str_make(reply, sizeof reply)) && code == SOCKS_OK;
}

/* "NAME:PORT", as the one parser takes it. A name may hold anything. */
static bool
socks_authority(struct proxy_talk *t, struct buf *out)
{
    const unsigned char *b;
    char text[INET6_ADDRSTRLEN];
    if (!read_until(t, 5))
        return false;
    b = (const unsigned char *)t->in.data;
    int type = b[3];
    size_t at = type == 3 ? 5 : 4, len = type == 1 ? 4 : type == 3 ? b[4] : 16;
    if (type != 1 && type != 3 && type != 4)
        return socks_answer(t, SOCKS_NO_TYPE);
    if (!read_until(t, at + len + 2))
        return false;
    b = (const unsigned char *)t->in.data;
    if (type == 3)
        buf_add(out, b + at, len);
    else
        buf_addf(out, type == 4 ? "[%s]" : "%s",
                 inet_ntop(type == 4 ? AF_INET6 : AF_INET, b + at, text, sizeof text));
    buf_addf(out, ":%d", b[at + len] << 8 | b[at + len + 1]);
    if (b[1] != 1)
        return socks_answer(t, SOCKS_NO_COMMAND);
    buf_remove_front(&t->in, at + len + 2);
    return true;
}

static bool
socks_greeting(struct proxy_talk *t)
{
    if (!read_until(t, 2) || !read_until(t, 2 + (size_t)(unsigned char)t->in.data[1]))
        return false;
    size_t n = (unsigned char)t->in.data[1];
    bool open = memchr(t->in.data + 2, 0, n) != NULL; /* no password is wanted */
    buf_remove_front(&t->in, 2 + n);
    const char reply[2] = {5, open ? 0 : (char)0xff};
    return proxy_send(t->p, t->client, str_make(reply, sizeof reply)) && open;
}

static bool
read_socks(struct proxy_talk *t)
{
    struct buf authority, text;
    const char *why = NULL;
    bool refused = false;
    buf_init(&authority, 1024);
    buf_init(&text, 4096);
    bool ok = socks_greeting(t) && socks_authority(t, &authority);
    if (ok && !egress_parse(buf_str(&authority), 0, &t->host, &t->port, &why)) {
        ok = socks_answer(t, SOCKS_REFUSED) && false;
    } else if (ok && !proxy_connect(t, &refused, &text)) {
        if (refused)
            proxy_refuse(t->p, &t->host, buf_cstr(&text));
        ok = socks_answer(t, refused ? SOCKS_REFUSED : SOCKS_UNREACHABLE) && false;
    } else if (ok) {
        ok = socks_answer(t, SOCKS_OK);
    }
    buf_release(&text);
    buf_release(&authority);
    return ok;
}

bool
proxy_talk_read(struct proxy_talk *t)
{
    t->ask_until_ms = clock_mono_ms() + t->p->options.ask_ms;
    if (!read_until(t, 1))
        return false;
    return t->in.data[0] == 5 ? read_socks(t) : read_http(t);
}
