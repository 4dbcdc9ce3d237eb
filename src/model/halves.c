#include "model/halves.h"

#include <stdint.h>

/* Private use, plane 16: a surrogate s is marked as MARK + s - 0xD800, a stray byte b as MARK + 0x800 + b. All are F4 8F xx xx. */
#define MARK 0x10F000u
#define MARK_BYTES (MARK + 0x800u)
#define MARK_END (MARK_BYTES + 0x100u)

static void
add_code(struct buf *out, uint32_t c)
{
    char u[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6)
        u[i] = (char)(0x80 | (c & 0x3F));
    u[0] = (char)(lead[n] | c);
    buf_add(out, u, n);
}

/* Bytes of the UTF-8 sequence that begins at `at`; 0: none does (RFC 3629). */
static size_t
sequence(struct str s, size_t at)
{
    const unsigned char *p = (const unsigned char *)s.ptr + at;
    size_t left = s.len - at, n = p[0] < 0x80                    ? 1
                                  : p[0] >= 0xC2 && p[0] <= 0xDF ? 2
                                  : p[0] >= 0xE0 && p[0] <= 0xEF ? 3
                                  : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4
                                                                 : 0;
    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return n;
}

/* The value of "\uXXXX" at `at`, or -1. */
static int32_t
escape(struct str s, size_t at)
{
    int32_t v = 0;
    if (at + 6 > s.len || s.ptr[at] != '\\' || s.ptr[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        char c = s.ptr[i];
        int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static bool
is_high(int32_t v)
{
    return v >= 0xD800 && v <= 0xDBFF;
}

static bool
is_low(int32_t v)
{
    return v >= 0xDC00 && v <= 0xDFFF;
}

/* Copies what begins at `at`, marked when it is half of something; gives how many bytes it was. */
static size_t
copy_one(struct str s, size_t at, struct buf *out, bool *ret_marked)
{
    size_t n = sequence(s, at);
    if (n == 0) {
        add_code(out, MARK_BYTES + (unsigned char)s.ptr[at]);
        *ret_marked = true;
        return 1;
    }
    if (s.ptr[at] != '\\') {
        buf_add(out, s.ptr + at, n);
        return n;
    }
    int32_t v = escape(s, at);
    if (v == 0) { /* what no text may hold */
        buf_adds(out, "\\ufffd");
        return 6;
    }
    if (is_high(v) && is_low(escape(s, at + 6))) {
        n = 12;
    } else if (is_high(v) || is_low(v)) {
        add_code(out, MARK + (uint32_t)v - 0xD800u);
        *ret_marked = true;
        return 6;
    } else {
        n = s.len - at < 2 ? 1
                           : 2; /* the escaped byte is not looked at again: it may be a backslash */
        if (n == 2 && (unsigned char)s.ptr[at + 1] >= 0x80)
            n = 1;
    }
    buf_add(out, s.ptr + at, n);
    return n;
}

static bool
needs_marks(struct str json)
{
    for (size_t at = 0; at < json.len;) {
        size_t n = sequence(json, at);
        int32_t v = json.ptr[at] == '\\' ? escape(json, at) : -1;
        if (n == 0 || v == 0 || is_high(v) || is_low(v))
            return true;
        at += json.ptr[at] == '\\' && at + 1 < json.len && (unsigned char)json.ptr[at + 1] < 0x80
                  ? 2
                  : n;
    }
    return false;
}

struct str
halves_mark(struct str json, struct buf *scratch, bool *ret_marked)
{
    if (!needs_marks(json))
        return json;
    buf_clear(scratch);
    for (size_t at = 0; at < json.len;)
        at += copy_one(json, at, scratch, ret_marked);
    return buf_str(scratch);
}

/* The mark at `at`, as its number from MARK on, or -1. */
static int32_t
mark_at(struct str s, size_t at)
{
    const unsigned char *p = (const unsigned char *)s.ptr + at;
    if (at + 4 > s.len || p[0] != 0xF4 || p[1] != 0x8F)
        return -1;
    uint32_t c = 0x10F000u | ((uint32_t)(p[2] & 0x3F) << 6) | (p[3] & 0x3Fu);
    return c < MARK_END ? (int32_t)(c - MARK) : -1;
}

/* Marks of bytes from `at`: the bytes themselves, at most one sequence of them. */
static size_t
byte_run(struct str s, size_t at, char ret[4])
{
    size_t n = 0;
    for (int32_t m; n < 4 && (m = mark_at(s, at + 4 * n)) >= 0x800; n++) {
        if (n && (m & 0xC0) != 0x80)
            break;
        ret[n] = (char)(m - 0x800);
    }
    return n;
}

/* May these bytes be the beginning of a sequence that goes on? */
static bool
may_go_on(const char *u, size_t n)
{
    unsigned char lead = (unsigned char)u[0];
    return n < (lead >= 0xF0 && lead <= 0xF4 ? 4u
                : lead >= 0xE0               ? 3u
                                             : 2u) &&
           lead >= 0xC2 && lead <= 0xF4;
}

/* What begins with the mark m at `at`, put together; gives how many bytes of s that took, 0: its other half is still to come. */
static size_t
join_one(struct str s, size_t at, int32_t m, struct buf *out, bool *ret_lost)
{
    char u[4];
    if (m < 0x800) {
        int32_t next = mark_at(s, at + 4);
        if (m < 0x400 && at + 4 >= s.len)
            return 0;
        if (m < 0x400 && next >= 0x400 && next < 0x800) {
            add_code(out, 0x10000u + ((uint32_t)m << 10) + ((uint32_t)next - 0x400u));
            return 8;
        }
        add_code(out, 0xFFFD);
        return 4;
    }
    size_t n = byte_run(s, at, u);
    size_t whole = sequence(str_make(u, n), 0);
    if (whole > 1) {
        buf_add(out, u, whole);
        return 4 * whole;
    }
    if (at + 4 * n >= s.len && may_go_on(u, n))
        return 0;
    *ret_lost = true;
    add_code(out, 0xFFFD);
    return 4;
}

bool
halves_join(struct buf *carry, struct str piece, struct buf *out)
{
    buf_add_str(carry, piece);
    struct str s = buf_str(carry);
    size_t at = 0, plain = 0;
    bool lost = false;
    while (at < s.len) {
        int32_t m = mark_at(s, at);
        if (m < 0) {
            at++;
            continue;
        }
        buf_add(out, s.ptr + plain, at - plain);
        plain = at;
        size_t n = join_one(s, at, m, out, &lost);
        if (n == 0)
            break;
        plain = at += n;
    }
    if (at >= s.len) {
        buf_add(out, s.ptr + plain, s.len - plain);
        plain = s.len;
    }
    buf_remove_front(carry, plain);
    return !lost;
}

bool
halves_end(struct buf *carry, struct buf *out)
{
    bool lost = carry->len && mark_at(buf_str(carry), 0) >= 0x800;
    if (carry->len)
        add_code(out, 0xFFFD);
    buf_clear(carry);
    return !lost;
}
