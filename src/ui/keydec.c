#include "ui/keydec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
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

/* The parameter's bits: 1 shift, 2 alt, 4 ctrl, 8 super, 32 meta. */
static int
modifiers(int param)
{
    int bits = param > 0 ? param - 1 : 0;
    return (bits & 1 ? KM_SHIFT : 0) | (bits & (2 | 32) ? KM_ALT : 0) | (bits & 4 ? KM_CTRL : 0);
}

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

/* A key by its code point, as CSI u and modifyOtherKeys give it. */
static int
code_key(int code, int mods)
{
    switch (code) {
    case 13:
    case 57414: /* keypad Enter */
        return YK_ENTER | mods;
    case 9:
        return mods & KM_SHIFT ? YK_BACKTAB : YK_TAB | mods;
    case 27:
        return YK_ESC | mods;
    case 8:
    case 127:
        return YK_BACKSPACE | mods;
    default:
        break;
    }
    if (code < 32 || code > 0x10FFFF || (code >= 57344 && code <= 63743))
        return -1;
    if (mods & KM_CTRL && code >= 'A' && code <= 'Z')
        code += 'a' - 'A';
    /* Shift is part of a printable character already */
    return code | (mods & ~KM_SHIFT);
}

static int
letter_key(char final)
{
    switch (final) {
    case 'A':
        return YK_UP;
    case 'B':
        return YK_DOWN;
    case 'C':
        return YK_RIGHT;
    case 'D':
        return YK_LEFT;
    case 'H':
        return YK_HOME;
    case 'F':
        return YK_END;
    case 'M':
        return YK_ENTER; /* SS3 keypad */
    case 'P':
        return YK_F1;
    case 'Z':
        return YK_BACKTAB;
    default:
        return -1;
    }
}

static int
tilde_key(int n)
{
    switch (n) {
    case 1:
    case 7:
        return YK_HOME;
    case 4:
    case 8:
        return YK_END;
    case 3:
        return YK_DELETE;
    case 5:
        return YK_PGUP;
    case 6:
        return YK_PGDN;
    case 11:
        return YK_F1;
    default:
        return -1;
    }
}

/* The parameters of a control sequence: "27;5;13" and "97:65;2:1". */
struct params {
    int v[4];
    int sub[4]; /* the first sub-parameter after ':', -1: none */
    size_t n;
};

static void
params_read(struct params *p, struct str s)
{
    *p = (struct params){.sub = {-1, -1, -1, -1}};
    bool sub = false;
    for (size_t i = 0; i < s.len && p->n < ARRAY_LEN(p->v); i++) {
        int *at = sub ? &p->sub[p->n] : &p->v[p->n];
        if (s.ptr[i] == ';') {
            p->n++;
            sub = false;
        } else if (s.ptr[i] == ':') {
            if (!sub)
                p->sub[p->n] = 0;
            sub = true;
        } else if (s.ptr[i] >= '0' && s.ptr[i] <= '9' && *at < INT_MAX / 16) {
            *at = (*at < 0 ? 0 : *at) * 10 + (s.ptr[i] - '0');
        }
    }
    if (p->n < ARRAY_LEN(p->v))
        p->n++;
}

static int
mouse_key(struct keydec *d, const struct params *p, bool released)
{
    if (!(p->v[0] & 64)) { /* the left button without modifiers; the others are the terminal's */
        d->mouse_x = p->v[1] - 1;
        d->mouse_y = p->v[2] - 1;
        if (p->v[0] & ~32)
            return -1;
        return released ? YK_MOUSE_UP : p->v[0] & 32 ? YK_MOUSE_DRAG : YK_MOUSE_DOWN;
    }
    return (p->v[0] & 1) ? YK_WHEEL_DOWN : YK_WHEEL_UP;
}

/* "?2026;2$y": modes 1 to 3 can be set; 0 is unknown, 4 fixed off. */
static void
take_mode_report(struct keydec *d, const struct params *p)
{
    if (p->v[0] == 2026 && p->n >= 2)
        d->sync_update = p->v[1] >= 1 && p->v[1] <= 3;
}

static int
csi_key(struct keydec *d, struct str body, char final)
{
    struct params p;
    char kind = body.len ? body.ptr[0] : '\0';
    bool marked = kind == '?' || kind == '<' || kind == '>' || kind == '=';
    params_read(&p, marked ? str_sub(body, 1, body.len) : body);
    if (marked) {
        if (kind == '?' && final == 'y')
            take_mode_report(d, &p);
        return kind == '<' && (final == 'M' || final == 'm') ? mouse_key(d, &p, final == 'm') : -1;
    }
    if (p.sub[1] == 3)
        return -1; /* a key was let go */
    int mods = modifiers(p.v[1]);
    if (final == 'u')
        return code_key(p.v[0], mods);
    if (final == '~') {
        if (p.v[0] == 27)
            return code_key(p.v[2], mods);
        int key = tilde_key(p.v[0]);
        return key < 0 ? -1 : key | mods;
    }
    if (final == 'R' && p.v[0] == 1 && (p.v[1] == 2 || p.v[1] == 3)) {
        d->ambiguous = p.v[1] - 1;
        return -1;
    }
    if (final == 'I' || final == 'O')
        return final == 'I' ? YK_FOCUS_IN : YK_FOCUS_OUT;
    int key = letter_key(final);
    return key < 0 || key == YK_BACKTAB ? key : key | mods;
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
            int key = csi_key(d, body, (char)b);
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
    int key = letter_key(s.ptr[i]);
    if (key >= 0)
        return key_found(key == YK_BACKTAB ? key : key | modifiers(param), i + 1);
    bool known = s.ptr[i] >= '@' && s.ptr[i] <= '~';
    return nothing_found(known ? i + 1 : i);
}

static int
hex_channel(struct str s)
{
    int v = 0;
    for (size_t i = 0; i < s.len && i < 2; i++) {
        char c = s.ptr[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return s.len == 1 ? v * 17 : v;
}

/* "11;rgb:1e1e/1e1e/2e2e": the background. */
static void
take_background(struct keydec *d, struct str body)
{
    if (!str_starts(body, "11;rgb:"))
        return;
    struct str rest = str_sub(body, 7, body.len), part;
    int rgb[3] = {0};
    for (int i = 0; i < 3; i++) {
        if (!str_split(&rest, '/', &part) || (rgb[i] = hex_channel(part)) < 0)
            return;
    }
    int luma = (rgb[0] * 299 + rgb[1] * 587 + rgb[2] * 114) / 1000;
    d->background = luma >= 128 ? BACKGROUND_LIGHT : BACKGROUND_DARK;
}

/* OSC, DCS, APC, PM: up to BEL or ST. */
static struct found
look_string(struct keydec *d, struct str s)
{
    for (size_t i = 2; i < s.len; i++) {
        bool st = s.ptr[i] == '\x1b' && i + 1 < s.len && s.ptr[i + 1] == '\\';
        if (s.ptr[i] == '\a' || st) {
            if (s.ptr[1] == ']')
                take_background(d, str_sub(s, 2, i - 2));
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
