#include "ui/keydec.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/keydec_private.h"
#include "ui/keys.h"

#define SEQUENCE_MAX 4096     /* an answer longer than this is thrown away in parts */
#define PASTE_SILENCE_MS 5000 /* a paste whose end never comes is over */
#define PARTIAL_FACTOR 4      /* "ESC [" is no Esc: wait longer for its rest */
#define PASTE_MAX                                                                                  \
    ((size_t)32 << 20) /* what comes after this is dropped, up to the end of the paste */
#define PASTE_END "\x1b[201~"
#define PASTE_END_LEN 6

#define GIVEN_KEEP ((size_t)64 << 10) /* a larger paste's memory is given back */

/* What a look at the pending bytes found. */
enum look { LOOK_KEY, LOOK_NOTHING, LOOK_MORE };
struct found {
    enum look look;
    int key;
    size_t used;
};

void
keydec_init(struct keydec *d, int esc_ms)
{
    *d = (struct keydec){.esc_ms = esc_ms > 0 ? esc_ms : KEYDEC_ESC_MS};
    buf_init(&d->in, BUF_MAX);
    buf_init(&d->paste, BUF_MAX);
    buf_init(&d->given, BUF_MAX);
}

void
keydec_release(struct keydec *d)
{
    buf_release(&d->in);
    buf_release(&d->paste);
    buf_release(&d->given);
}

void
keydec_clear(struct keydec *d)
{
    buf_clear(&d->in);
    buf_clear(&d->paste);
    d->pos = d->paste_seen = 0;
    d->pasting = false;
}

void
keydec_own(struct keydec *d, const char *bytes, int key)
{
    if (!bytes || bytes[0] != '\x1b' || strlen(bytes) < 3 ||
        strlen(bytes) >= sizeof(d->own[0].bytes) || d->n_own == ARRAY_LEN(d->own))
        return;
    strncpy(d->own[d->n_own].bytes, bytes, sizeof(d->own[0].bytes) - 1);
    d->own[d->n_own++].key = key;
}

void
keydec_feed(struct keydec *d, struct str bytes, int64_t now_ms)
{
    if (bytes.len)
        d->last_ms = now_ms;
    if (d->pasting)
        buf_add_str(&d->paste, bytes);
    else
        buf_add_str(&d->in, bytes);
}

static struct found
key_found(int key, size_t used)
{
    return (struct found){LOOK_KEY, key, used};
}

static struct found
nothing_found(size_t used)
{
    return (struct found){LOOK_NOTHING, 0, used};
}

static const struct found more_needed = {LOOK_MORE, 0, 0};

static int
control_key(unsigned char b)
{
    switch (b) {
    case '\r':
        return YK_ENTER;
    case '\t':
        return YK_TAB;
    case '\b':
    case 0x7f:
        return YK_BACKSPACE;
    case 0:
        return ' ' | KM_CTRL;
    default:
        return (b < 27 ? b + 'a' - 1 : b + '@') | KM_CTRL;
    }
}

static struct found
look_csi(struct keydec *d, struct str s)
{
    if (s.len < 3)
        return more_needed;
    if (s.ptr[2] == '[') /* linux console: ESC [ [ A is F1 */
        return s.len < 4 ? more_needed : (s.ptr[3] == 'A' ? key_found(YK_F1, 4) : nothing_found(4));
    if (s.ptr[2] == 'M') /* a mouse of the old kind: three bytes follow */
        return s.len < 6 ? more_needed : nothing_found(6);
    for (size_t i = 2; i < s.len; i++) {
        unsigned char b = (unsigned char)s.ptr[i];
        if (b >= 0x40 && b < 0x7f) {
            struct str body = str_sub(s, 2, i - 2);
            if (b == '~' && str_is(body, "200"))
                return key_found(YK_PASTE, i + 1);
            int key = keydec_csi(d, body, (char)b);
            return key < 0 ? nothing_found(i + 1) : key_found(key, i + 1);
        }
        if (b < 0x20 || b >= 0x7f) /* broken off: drop it, look at what broke it */
            return nothing_found(i);
        if (i >= SEQUENCE_MAX)
            return nothing_found(i);
    }
    return more_needed;
}

static struct found
look_ss3(struct str s)
{
    size_t i = 2;
    int param = 0;
    for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && i < 5; i++)
        param = param * 10 + (s.ptr[i] - '0');
    if (i == s.len)
        return more_needed;
    int key = keydec_letter(s.ptr[i]);
    if (key >= 0)
        return key_found(key == YK_BACKTAB ? key : key | keydec_modifiers(param), i + 1);
    bool known = s.ptr[i] >= '@' && s.ptr[i] <= '~';
    return nothing_found(known ? i + 1 : i);
}

/* OSC, DCS, APC, PM: up to BEL or ST. */
static struct found
look_string(struct keydec *d, struct str s)
{
    for (size_t i = 2; i < s.len; i++) {
        bool st = s.ptr[i] == '\x1b' && i + 1 < s.len && s.ptr[i + 1] == '\\';
        if (s.ptr[i] == '\a' || st) {
            if (s.ptr[1] == ']')
                keydec_string(d, str_sub(s, 2, i - 2));
            return nothing_found(i + (st ? 2 : 1));
        }
        if (i >= SEQUENCE_MAX || (s.ptr[i] == '\x1b' && i + 1 < s.len))
            return nothing_found(i);
    }
    return more_needed;
}

static struct found
look_char(struct str s)
{
    unsigned char b = (unsigned char)s.ptr[0];
    if (b < 0x20 || b == 0x7f)
        return key_found(control_key(b), 1);
    size_t want = b < 0x80 ? 1 : b < 0xC2 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : b < 0xF5 ? 4 : 1;
    for (size_t i = 1; i < want && i < s.len; i++) {
        if (((unsigned char)s.ptr[i] & 0xC0) != 0x80)
            return key_found(0xFFFD, i);
    }
    if (s.len < want)
        return more_needed;
    int32_t cp;
    size_t n = text_decode(s, 0, &cp);
    return key_found(cp, n);
}

static bool
own_key(const struct keydec *d, struct str s, struct found *ret)
{
    for (size_t i = 0; i < d->n_own; i++) {
        if (str_starts(s, d->own[i].bytes)) {
            *ret = key_found(d->own[i].key, strlen(d->own[i].bytes));
            return true;
        }
    }
    return false;
}

static struct found
look_escape(struct keydec *d, struct str s)
{
    struct found f;
    if (s.len == 1)
        return more_needed;
    if (own_key(d, s, &f))
        return f;
    switch (s.ptr[1]) {
    case '[':
        return look_csi(d, s);
    case 'O':
        return look_ss3(s);
    case ']':
    case 'P':
    case '_':
    case '^':
        return look_string(d, s);
    case '\x1b':
        /* Alt with an arrow on some terminals; else the first is an Esc of its own */
        if (s.len == 2)
            return more_needed;
        if (s.ptr[2] != '[' && s.ptr[2] != 'O')
            return key_found(YK_ESC, 1);
        f = look_escape(d, str_sub(s, 1, s.len));
        break;
    default:
        f = look_char(str_sub(s, 1, s.len));
        break;
    }
    if (f.look == LOOK_KEY && f.key != YK_PASTE && f.key != 0xFFFD)
        f.key |= KM_ALT;
    f.used += f.look == LOOK_MORE ? 0 : 1;
    return f;
}

/* Time is up for the pending bytes: what do they mean as they are? */
static struct found
look_late(struct str s)
{
    if (s.ptr[0] != '\x1b')
        return key_found(0xFFFD, s.len); /* a character whose rest never came */
    if (s.len == 1 || (s.len == 2 && s.ptr[1] == '\x1b'))
        return key_found(YK_ESC, 1);
    if (s.len == 2)
        return key_found(s.ptr[1] | KM_ALT, 2); /* Alt+[ Alt+O Alt+] Alt+P */
    return nothing_found(s.len);
}

static int
wait_of(const struct keydec *d, struct str s)
{
    bool lone = s.len == 1 || (s.len == 2 && s.ptr[1] == '\x1b');
    return lone ? d->esc_ms : d->esc_ms * PARTIAL_FACTOR;
}

static void
consume(struct keydec *d, size_t n)
{
    d->pos += n;
    if (d->pos >= d->in.len) {
        buf_clear(&d->in);
        d->pos = 0;
    } else if (d->pos > SEQUENCE_MAX && d->pos > d->in.len / 2) {
        buf_remove_front(&d->in, d->pos);
        d->pos = 0;
    }
}

static void
paste_begin(struct keydec *d)
{
    d->pasting = true;
    d->paste_seen = 0;
    buf_clear(&d->paste);
    buf_add(&d->paste, d->in.data + d->pos, d->in.len - d->pos);
    buf_clear(&d->in);
    d->pos = 0;
}

/* Terminals send CR for a line end; one that sent a newline translates nothing, and its bytes stay as they are. */
static void
mend_line_ends(struct buf *b)
{
    if (!b->len || memchr(b->data, '\n', b->len))
        return;
    for (char *p = b->data; (p = memchr(p, '\r', b->len - (size_t)(p - b->data)));)
        *p++ = '\n';
}

static int
paste_give(struct keydec *d, size_t len, size_t rest, struct str *ret)
{
    d->pasting = false;
    buf_clear(&d->in);
    d->pos = 0;
    if (rest < d->paste.len)
        buf_add(&d->in, d->paste.data + rest, d->paste.len - rest);
    buf_truncate(&d->paste, len);
    struct buf keep = d->given;
    d->given = d->paste;
    d->paste = keep;
    mend_line_ends(&d->given);
    *ret = buf_str(&d->given);
    return YK_PASTE;
}

static int
paste_next(struct keydec *d, int64_t now_ms, struct str *ret, int *ret_wait)
{
    size_t from = d->paste_seen;
    char *end = d->paste.len > from
                    ? memmem(d->paste.data + from, d->paste.len - from, PASTE_END, PASTE_END_LEN)
                    : NULL;
    if (end) {
        size_t len = (size_t)(end - d->paste.data);
        return paste_give(d, len, len + PASTE_END_LEN, ret);
    }
    d->paste_seen = d->paste.len > PASTE_END_LEN ? d->paste.len - PASTE_END_LEN : 0;
    if (d->paste.len > PASTE_MAX + PASTE_END_LEN) { /* keep what may be half of an end */
        memmove(d->paste.data + PASTE_MAX, d->paste.data + d->paste_seen, PASTE_END_LEN);
        buf_truncate(&d->paste, PASTE_MAX + PASTE_END_LEN);
        d->paste_seen = PASTE_MAX;
    }
    int64_t left = d->last_ms + PASTE_SILENCE_MS - now_ms;
    if (left <= 0)
        return paste_give(d, d->paste.len, d->paste.len, ret);
    *ret_wait = (int)left;
    return -1;
}

int
keydec_next(struct keydec *d, int64_t now_ms, struct str *ret_paste, int *ret_wait_ms)
{
    *ret_wait_ms = -1;
    *ret_paste = STR("");
    if (d->given.cap > GIVEN_KEEP) {
        buf_release(&d->given);
        buf_init(&d->given, BUF_MAX);
    }
    for (;;) {
        if (d->pasting)
            return paste_next(d, now_ms, ret_paste, ret_wait_ms);
        if (d->pos >= d->in.len)
            return -1;
        struct str s = str_make(d->in.data + d->pos, d->in.len - d->pos);
        struct found f = s.ptr[0] == '\x1b' ? look_escape(d, s) : look_char(s);
        if (f.look == LOOK_MORE) {
            int64_t left = d->last_ms + wait_of(d, s) - now_ms;
            if (left > 0) {
                *ret_wait_ms = (int)left;
                return -1;
            }
            f = look_late(s);
        }
        if (f.look == LOOK_KEY && f.key == YK_PASTE) {
            consume(d, f.used);
            paste_begin(d);
            continue;
        }
        consume(d, f.used);
        if (f.look == LOOK_KEY)
            return f.key;
    }
}
