#include "ui/term_style.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "ui/theme.h"

#define CP_VS16 0xFE0F
#define CP_ZWJ 0x200D

static struct {
    int colors;
    bool light, wide;
    attr_t attrs[ST_COUNT];
    short pairs[ST_COUNT];
} look;

void
term_style_start(bool no_color)
{
    look.colors = 0;
    if (!no_color && has_colors() && start_color() == OK) {
        (void)use_default_colors();
        look.colors = COLORS;
    }
}

static attr_t
curses_attrs(int attrs)
{
    attr_t a = A_NORMAL;
    if (attrs & TA_BOLD)
        a |= A_BOLD;
    if (attrs & TA_DIM)
        a |= A_DIM;
    if (attrs & TA_UNDERLINE)
        a |= A_UNDERLINE;
    if (attrs & TA_REVERSE)
        a |= A_REVERSE;
    if (attrs & TA_ITALIC)
        a |= A_ITALIC;
    return a;
}

/* With a direct-colour description a colour is its RGB value, below that its palette index. */
static int
curses_color(int color)
{
    return look.colors > 256 && color >= 8 ? (int)theme_rgb(color) : color;
}

void
term_style_set(bool light)
{
    look.light = light;
    for (int st = 0; st < ST_COUNT; st++) {
        struct theme_style s = theme_style((enum style)st, light, look.colors);
        look.attrs[st] = curses_attrs(s.attrs);
        look.pairs[st] = 0;
        if (s.color == THEME_DEFAULT || look.colors < 8)
            continue;
        short pair = (short)(st + 1);
        if (init_extended_pair(pair, curses_color(s.color), -1) == OK)
            look.pairs[st] = pair;
    }
}

void
term_style_sgr(enum style st, struct buf *out)
{
    static const struct {
        int attr, code;
    } codes[] = {{TA_BOLD, 1}, {TA_DIM, 2}, {TA_ITALIC, 3}, {TA_UNDERLINE, 4}, {TA_REVERSE, 7}};
    struct theme_style s = theme_style(st, look.light, look.colors);
    buf_adds(out, "\x1b[0");
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (s.attrs & codes[i].attr)
            buf_addf(out, ";%d", codes[i].code);
    if (s.color != THEME_DEFAULT && look.colors >= 8)
        buf_addf(out, s.color < 8 ? ";3%d" : ";38;5;%d", s.color);
    buf_addc(out, 'm');
}

void
term_style_wide(bool wide)
{
    look.wide = wide;
}

/* What the locale cannot hold becomes a substitute of the same width. */
static size_t
cell_wide(const struct cell *cell, bool ascii, wchar_t out[CCHARW_MAX + 1])
{
    struct str s = str_from(cell->text);
    size_t n = 0;
    if (s.len && (unsigned char)s.ptr[0] >= 0x80 && ascii) {
        for (const char *p = theme_ascii(cell->text, cell->width); *p && n < 2; p++)
            out[n++] = (wchar_t)*p;
        return n;
    }
    if (look.wide && s.len && (unsigned char)s.ptr[0] >= 0x80 && cell->width == 1 &&
        theme_ascii(cell->text, 1)[0] != '?') {
        out[n++] = (wchar_t)theme_ascii(cell->text, 1)[0];
        return n;
    }
    for (size_t off = 0; off < s.len && n < CCHARW_MAX;) {
        int32_t cp;
        off += text_decode(s, off, &cp);
        int width = wcwidth((wchar_t)cp);
        if (n && (width != 0 || cp == CP_VS16 || ascii))
            break; /* the first of an emoji family stands for it, see term_style_text */
        if (!n && (width < 1 || width > cell->width)) {
            out[n++] = ascii ? L'?' : L'\xFFFD';
            break;
        }
        out[n++] = (wchar_t)cp;
    }
    while (n > 1 && out[n - 1] == CP_ZWJ)
        n--; /* else the terminal joins what comes next to it */
    if (!n)
        out[n++] = L' ';
    return n;
}

/* The cluster but for a joiner at its end, which would join what comes next. */
static struct str
cluster_of(const struct cell *cell)
{
    struct str s = str_from(cell->text);
    while (s.len > 3 && memcmp(s.ptr + s.len - 3, "\xE2\x80\x8D", 3) == 0)
        s.len -= 3;
    return s;
}

/* Columns of a cluster that curses has only `held` characters of, when nothing in it is joined; 0: it has all of it. */
static int
columns_apart(const struct cell *cell, size_t held)
{
    struct str s = cluster_of(cell);
    size_t n = 0;
    int columns = 0;
    for (size_t off = 0; off < s.len; n++) {
        int32_t cp;
        off += text_decode(s, off, &cp);
        int width = wcwidth((wchar_t)cp);
        if (!n && (width < 1 || width > cell->width))
            return 0; /* the locale does not know it: a substitute stands there */
        columns += width > 0 ? width : 0;
    }
    return n <= held ? 0 : columns > cell->width ? columns : cell->width;
}

int
term_style_text(const struct cell *cell, bool ascii, struct buf *out)
{
    wchar_t held[CCHARW_MAX + 1];
    char bytes[4];
    size_t n = cell_wide(cell, ascii, held);
    bool plain = ascii || !cell->text[0] || !cell->text[1] || (look.wide && cell->width == 1);
    int columns = plain ? 0 : columns_apart(cell, n);
    if (columns)
        buf_add_str(out, cluster_of(cell));
    else
        for (size_t i = 0; i < n; i++)
            buf_add(out, bytes, text_encode((int32_t)held[i], bytes));
    return columns;
}

static void
put(int y, int x, const wchar_t *text, enum style st)
{
    cchar_t cc;
    if (setcchar(&cc, text, look.attrs[st], look.pairs[st], NULL) == OK)
        (void)mvadd_wch(y, x, &cc);
}

void
term_style_cell(int y, int x, const struct cell *cell, bool ascii)
{
    wchar_t text[CCHARW_MAX + 1];
    size_t n = cell_wide(cell, ascii, text);
    enum style st = cell->style < ST_COUNT ? (enum style)cell->style : ST_TEXT;
    bool two = ascii && n == 2; /* "??" for a wide one */
    wchar_t second = two ? text[1] : L' ';
    text[two ? 1 : n] = L'\0';
    put(y, x, text, st);
    if (cell->width == 2 && (ascii || wcwidth(text[0]) < 2))
        put(y, x + 1, (wchar_t[]){second, L'\0'}, st);
}
