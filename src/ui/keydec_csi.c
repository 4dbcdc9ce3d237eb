/* What a sequence means, once keydec.c has found where it ends. */
#include "ui/keydec_private.h"

#include <limits.h>

#include "ui/keys.h"

/* The parameter's bits: 1 shift, 2 alt, 4 ctrl, 8 super, 32 meta. */
int
keydec_modifiers(int param)
{
    int bits = param > 0 ? param - 1 : 0;
    return (bits & 1 ? KM_SHIFT : 0) | (bits & (2 | 32) ? KM_ALT : 0) | (bits & 4 ? KM_CTRL : 0);
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

int
keydec_letter(char final)
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

int
keydec_csi(struct keydec *d, struct str body, char final)
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
    int mods = keydec_modifiers(p.v[1]);
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
    int key = keydec_letter(final);
    return key < 0 || key == YK_BACKTAB ? key : key | mods;
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
void
keydec_string(struct keydec *d, struct str body)
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
