#include "ui/canvas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A terminal may claim any size; nothing larger is worth the memory. */
#define CANVAS_MAX_W 1000
#define CANVAS_MAX_H 500
#define TAB_STOP 8
#define CP_ZWJ 0x200D

static int
clamp(int v, int lo, int hi)
{
    if (v < lo)
        return lo;
    return v > hi ? hi : v;
}

void
canvas_init(struct canvas *c, int w, int h)
{
    *c = (struct canvas){0};
    canvas_resize(c, w, h);
}

static void
drop_links(struct canvas *c)
{
    for (size_t i = 0; i < c->n_links; i++)
        free(c->links[i].url);
    c->n_links = 0;
}

void
canvas_release(struct canvas *c)
{
    drop_links(c);
    free(c->links);
    free(c->cells);
    *c = (struct canvas){0};
}

void
canvas_resize(struct canvas *c, int w, int h)
{
    w = clamp(w, 0, CANVAS_MAX_W);
    h = clamp(h, 0, CANVAS_MAX_H);
    if (w != c->w || h != c->h || !c->cells) {
        free(c->cells);
        c->cells = xcalloc((size_t)w * (size_t)h + 1, sizeof(*c->cells));
        c->w = w;
        c->h = h;
    }
    canvas_clear(c);
}

void
canvas_clear(struct canvas *c)
{
    static const struct cell blank = {.width = 1, .style = ST_TEXT};
    size_t n = (size_t)c->w * (size_t)c->h;
    /* Twice as many blanks each time: a frame begins with this. */
    if (n)
        c->cells[0] = blank;
    for (size_t done = 1; done < n; done *= 2)
        memcpy(c->cells + done, c->cells, (done < n - done ? done : n - done) * sizeof(blank));
    drop_links(c);
    c->cursor_x = c->cursor_y = -1;
}

static struct cell *
cell_at(struct canvas *c, int x, int y)
{
    return &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

static void
cell_blank(struct cell *cell)
{
    memset(cell->text, 0, sizeof(cell->text));
    cell->width = 1;
    cell->link = 0;
}

/* A write over one half of a wide cluster blanks the other half. */
static void
unhalve(struct canvas *c, int x, int y)
{
    struct cell *cell = cell_at(c, x, y);
    if (cell->width == 0 && x > 0)
        cell_blank(cell_at(c, x - 1, y));
    else if (cell->width == 2 && x + 1 < c->w)
        cell_blank(cell_at(c, x + 1, y));
    cell_blank(cell);
}

/* The longest prefix of whole code points that a cell can hold. */
static size_t
cell_fit(struct str s)
{
    size_t off = 0;
    while (off < s.len) {
        int32_t cp;
        size_t n = text_decode(s, off, &cp);
        if (off + n >= CANVAS_BYTES)
            break;
        off += n;
    }
    return off;
}

static void
cell_put(struct canvas *c, int x, int y, enum style st, struct str s, int width)
{
    unhalve(c, x, y);
    struct cell *cell = cell_at(c, x, y);
    size_t n = cell_fit(s);
    if (n == 1 && s.ptr[0] == ' ')
        n = 0;
    if (n)
        memcpy(cell->text, s.ptr, n); /* the rest is NUL since unhalve */
    cell->width = (uint8_t)width;
    cell->style = (uint8_t)st;
    if (width == 2) {
        unhalve(c, x + 1, y);
        struct cell *right = cell_at(c, x + 1, y);
        right->width = 0;
        right->style = (uint8_t)st;
    }
}

static void
cell_append(struct cell *cell, struct str s)
{
    size_t have = strlen(cell->text);
    if (have + s.len < CANVAS_BYTES && s.len) {
        memcpy(cell->text + have, s.ptr, s.len);
        cell->text[have + s.len] = '\0';
    }
}

struct rect
canvas_clip(const struct canvas *c, struct rect r)
{
    int x0 = clamp(r.x, 0, c->w), y0 = clamp(r.y, 0, c->h);
    int64_t right = (int64_t)r.x + r.w, below = (int64_t)r.y + r.h;
    int x1 = right > c->w ? c->w : (int)right, y1 = below > c->h ? c->h : (int)below;
    return (struct rect){x0, y0, x1 > x0 ? x1 - x0 : 0, y1 > y0 ? y1 - y0 : 0};
}

struct pen {
    struct canvas *c;
    struct rect seen; /* what may be drawn on, absolute */
    int x, y;         /* absolute; x may lie left of what is seen */
    int last;         /* column of the cluster drawn last, -1: none */
    enum style st;
};

/* False once the pen is past the right edge. */
static bool
pen_cluster(struct pen *p, struct str s, int width)
{
    int right = p->seen.x + p->seen.w;
    if (width == 0) {
        if (p->last >= 0)
            cell_append(cell_at(p->c, p->last, p->y), s);
        return true;
    }
    if (p->x >= right)
        return false;
    if (p->x >= p->seen.x && p->x + width <= right) {
        cell_put(p->c, p->x, p->y, p->st, s, width);
        p->last = p->x;
    } else {
        /* half of a wide cluster is outside: its visible column stays blank */
        int x = p->x < p->seen.x ? p->x + width - 1 : p->x;
        if (x >= p->seen.x && x < right)
            cell_put(p->c, x, p->y, p->st, STR(""), 1);
        p->last = -1;
    }
    p->x += width;
    return p->x < right;
}

static bool
cluster_unsafe(struct str s)
{
    size_t off = 0;
    bool many = false;
    while (off < s.len) {
        int32_t cp;
        off += text_decode(s, off, &cp);
        if (text_is_unsafe_cp(cp) && !(cp == CP_ZWJ && many))
            return true;
        many = true;
    }
    return false;
}

static bool
pen_visible(struct pen *p, struct str s)
{
    struct buf b;
    buf_init(&b, 4096);
    text_visible(&b, s);
    struct str t = buf_str(&b);
    bool more = true;
    for (size_t off = 0; more && off < t.len;) {
        int width;
        size_t n = text_grapheme(t, off, &width);
        more = pen_cluster(p, str_sub(t, off, n), width);
        off += n;
    }
    buf_release(&b);
    return more;
}

/* A byte that begins no valid sequence. */
static bool
is_broken(struct str s)
{
    int32_t cp;
    return (unsigned char)s.ptr[0] >= 0x80 && text_decode(s, 0, &cp) == 1;
}

static bool
pen_grapheme(struct pen *p, struct str s, int width, int origin)
{
    if (s.ptr[0] == '\t') {
        int col = p->x - origin;
        bool more = true;
        for (int n = TAB_STOP - (col < 0 ? 0 : col % TAB_STOP); more && n > 0; n--)
            more = pen_cluster(p, STR(""), 1);
        return more;
    }
    if (s.ptr[0] == '\n' || (s.len == 2 && s.ptr[0] == '\r'))
        return pen_cluster(p, STR(""), 1);
    if (is_broken(s))
        return pen_cluster(p, STR("\xEF\xBF\xBD"), 1);
    if (cluster_unsafe(s))
        return pen_visible(p, s);
    return pen_cluster(p, s, width);
}

int
canvas_text(struct canvas *c, struct rect clip, int x, int y, enum style st, struct str s)
{
    struct rect seen = canvas_clip(c, clip);
    int ay = clip.y + y;
    if (y < 0 || y >= clip.h || ay < seen.y || ay >= seen.y + seen.h || seen.w == 0)
        return x;
    struct pen p = {.c = c, .seen = seen, .x = clip.x + x, .y = ay, .last = -1, .st = st};
    for (size_t off = 0; off < s.len && p.x < seen.x + seen.w;) {
        unsigned char b = (unsigned char)s.ptr[off];
        bool ascii =
            b >= 0x20 && b < 0x7f && (off + 1 == s.len || (unsigned char)s.ptr[off + 1] < 0x80);
        int width = 1;
        size_t n = ascii ? 1 : text_grapheme(s, off, &width);
        struct str g = str_sub(s, off, n);
        if (!(ascii ? pen_cluster(&p, g, 1) : pen_grapheme(&p, g, width, clip.x)))
            break;
        off += n;
    }
    return p.x - clip.x;
}

int
canvas_textf(struct canvas *c, struct rect clip, int x, int y, enum style st, const char *fmt, ...)
{
    struct buf b;
    buf_init(&b, (size_t)1 << 16);
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    int ret = canvas_text(c, clip, x, y, st, buf_str(&b));
    buf_release(&b);
    return ret;
}

void
canvas_fill(struct canvas *c, struct rect r, enum style st, const char *grapheme)
{
    struct rect seen = canvas_clip(c, r);
    struct str s = str_from(grapheme);
    int width = s.len ? text_width(s) : 1;
    if (width < 1 || width > 2 || text_has_unsafe(s)) {
        s = STR("");
        width = 1;
    }
    for (int y = seen.y; y < seen.y + seen.h; y++) {
        int x = seen.x;
        for (; x + width <= seen.x + seen.w; x += width)
            cell_put(c, x, y, st, s, width);
        if (x < seen.x + seen.w)
            cell_put(c, x, y, st, STR(""), 1);
    }
}

static void
put_border(struct canvas *c, struct rect r, int x, int y, enum style st, const char *s)
{
    canvas_text(c, r, x, y, st, str_from(s));
}

void
canvas_box(struct canvas *c, struct rect r, enum style st, struct str title, bool ascii)
{
    static const char *const lines[2][6] = {{"┌", "┐", "└", "┘", "─", "│"},
                                            {"+", "+", "+", "+", "-", "|"}};
    const char *const *l = lines[ascii];
    if (r.w < 1 || r.h < 1)
        return;
    for (int x = 1; x < r.w - 1; x++) {
        put_border(c, r, x, 0, st, l[4]);
        put_border(c, r, x, r.h - 1, st, l[4]);
    }
    for (int y = 1; y < r.h - 1; y++) {
        put_border(c, r, 0, y, st, l[5]);
        put_border(c, r, r.w - 1, y, st, l[5]);
    }
    put_border(c, r, 0, 0, st, l[0]);
    put_border(c, r, r.w - 1, 0, st, l[1]);
    put_border(c, r, 0, r.h - 1, st, l[2]);
    put_border(c, r, r.w - 1, r.h - 1, st, l[3]);
    if (title.len && r.w > 4) {
        struct rect top = {r.x + 1, r.y, r.w - 2, 1};
        int x = canvas_text(c, top, 0, 0, st, STR(" "));
        x = canvas_text(c, top, x, 0, st == ST_BORDER ? ST_TITLE : st, title);
        canvas_text(c, top, x, 0, st, STR(" "));
    }
}

void
canvas_style(struct canvas *c, struct rect r, enum style st)
{
    struct rect seen = canvas_clip(c, r);
    for (int y = seen.y; y < seen.y + seen.h; y++)
        for (int x = seen.x; x < seen.x + seen.w; x++)
            cell_at(c, x, y)->style = (uint8_t)st;
}

const char *
canvas_link_url(const struct canvas *c, uint16_t id)
{
    for (size_t i = 0; id && i < c->n_links; i++)
        if (c->links[i].id == id)
            return c->links[i].url;
    return NULL;
}

static bool
is_address(struct str url)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] >= 0x7f)
            return false;
    return url.len && url.len <= CANVAS_URL;
}

void
canvas_link(struct canvas *c, struct rect r, struct str url)
{
    struct rect seen = canvas_clip(c, r);
    uint16_t id = (uint16_t)(str_hash(url) | 1);
    const char *known = canvas_link_url(c, id);
    if (!is_address(url) || (known && !str_is(url, known)))
        return;
    if (!known) {
        ARRAY_GROW(c->links, c->n_links, c->cap_links);
        c->links[c->n_links++] = (struct canvas_link){id, str_dup(url)};
    }
    for (int y = seen.y; y < seen.y + seen.h; y++)
        for (int x = seen.x; x < seen.x + seen.w; x++)
            cell_at(c, x, y)->link = id;
}

void
canvas_cursor(struct canvas *c, int x, int y)
{
    bool inside = x >= 0 && y >= 0 && x < c->w && y < c->h;
    c->cursor_x = inside ? x : -1;
    c->cursor_y = inside ? y : -1;
}

static void
dump_row(const struct canvas *c, int y, struct buf *out)
{
    size_t keep = out->len;
    for (int x = 0; x < c->w; x++) {
        const struct cell *cell = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
        if (cell->width == 0)
            continue;
        buf_adds(out, cell->text[0] ? cell->text : " ");
        if (cell->text[0])
            keep = out->len;
    }
    buf_truncate(out, keep);
}

void
canvas_dump(const struct canvas *c, struct buf *out)
{
    for (int y = 0; y < c->h; y++) {
        if (y)
            buf_addc(out, '\n');
        dump_row(c, y, out);
    }
}
