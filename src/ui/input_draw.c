/* Where the prompt's text stands on the screen: rows broken at the width, one walk over the text for all questions. */
#include <stdio.h>

#include "base/text.h"
#include "ui/fmt.h"
#include "ui/input_private.h"

#define TAB_COLUMNS 4

struct walk {
    const struct input *in;
    size_t off; /* of the cluster at (row, col) */
    int row, col;
    size_t next; /* after it */
    int width;   /* columns it takes; a newline none */
};

static void
with_thousands(char *out, size_t cap, size_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof(digits), "%zu", n);
    size_t to = 0;
    for (int i = 0; i < len && to + 2 < cap; i++) {
        if (i && (len - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
}

static void
chip_label(const struct input *in, size_t off, char *out, size_t cap)
{
    size_t i = off + 1 < in->text.len ? (unsigned char)in->text.data[off + 1] - 0x80u : INPUT_CHIPS;
    char n[40];
    out[0] = '\0';
    if (i >= in->n_chips)
        return;
    bool lines = in->chips[i].lines > 1;
    struct buf size;
    buf_init(&size, 64);
    if (lines)
        buf_adds(&size, ", ");
    if (lines)
        fmt_bytes(&size, (int64_t)in->chips[i].len);
    with_thousands(n, sizeof(n), lines ? in->chips[i].lines : in->chips[i].len);
    (void)snprintf(out, cap, "[paste %zu: %s %s%s]", i + 1, n, lines ? "lines" : "bytes",
                   buf_cstr(&size));
    buf_release(&size);
}

static int
visible_width(struct str s)
{
    struct buf b;
    buf_init(&b, 4096);
    text_visible(&b, s);
    int width = text_width(buf_str(&b));
    buf_release(&b);
    return width;
}

/* Measures the cluster at w->off. */
static void
measure(struct walk *w)
{
    struct str s = buf_str(&w->in->text);
    unsigned char b = (unsigned char)s.ptr[w->off];
    bool plain = b >= 0x20 && b < 0x7f;
    if (plain && (w->off + 1 == s.len || (unsigned char)s.ptr[w->off + 1] < 0x80 ||
                  s.ptr[w->off + 1] == CHIP_MARK)) {
        w->next = w->off + 1;
        w->width = 1;
        return;
    }
    w->next = input_next(w->in, w->off);
    struct str g = str_sub(s, w->off, w->next - w->off);
    if (s.ptr[w->off] == CHIP_MARK) {
        char label[96];
        chip_label(w->in, w->off, label, sizeof(label));
        w->width = text_width(str_from(label));
    } else if (b == '\n') {
        w->width = 0;
    } else if (b == '\t') {
        w->width = TAB_COLUMNS;
    } else if (text_has_unsafe(g)) {
        w->width = visible_width(g);
    } else {
        int width;
        (void)text_grapheme(g, 0, &width);
        w->width = width;
    }
}

static void
walk_start(struct walk *w, const struct input *in)
{
    *w = (struct walk){.in = in};
    if (in->text.len)
        measure(w);
}

/* To the next cluster; false at the end, where (row, col) is the place of a cursor there. */
static bool
walk_on(struct walk *w)
{
    int columns = w->in->width;
    if (w->off >= w->in->text.len)
        return false;
    if (w->in->text.data[w->off] == '\n') {
        w->row++;
        w->col = 0;
    } else {
        w->col += w->width;
    }
    w->off = w->next;
    w->width = 0;
    if (w->off < w->in->text.len)
        measure(w);
    /* the last column is kept for a cursor at the end of a row */
    if (w->col && w->col + w->width > columns && w->off < w->in->text.len &&
        w->in->text.data[w->off] != '\n') {
        w->row++;
        w->col = 0;
    }
    return w->off < w->in->text.len;
}

static void
walk_to(struct walk *w, const struct input *in, size_t off)
{
    walk_start(w, in);
    while (w->off < off && walk_on(w))
        ;
}

static int
columns_of(int width)
{
    int n = width - INPUT_PREFIX - 1;
    return n < 1 ? 1 : n;
}

int
input_rows(struct input *in, int width)
{
    struct walk w;
    in->width = columns_of(width);
    walk_to(&w, in, in->text.len);
    return w.row + 1;
}

/* The offset of the cluster nearest to a column of a row. */
static size_t
offset_at(const struct input *in, int row, int col)
{
    struct walk w;
    size_t best = 0;
    walk_start(&w, in);
    for (;;) {
        if (w.row > row)
            break;
        if (w.row == row) {
            best = w.off;
            if (w.col + w.width > col)
                break;
        }
        if (w.off >= in->text.len)
            break;
        (void)walk_on(&w);
    }
    return best;
}

bool
input_move_row(struct input *in, int dir)
{
    struct walk at, end;
    walk_to(&at, in, in->cursor);
    walk_to(&end, in, in->text.len);
    int row = at.row + dir;
    if (row < 0 || row > end.row)
        return false;
    if (in->goal < 0)
        in->goal = at.col;
    in->cursor = offset_at(in, row, in->goal);
    in->typing = in->cutting = false;
    return true;
}

static void
draw_cluster(const struct walk *w, struct canvas *c, struct rect r, int y)
{
    struct str g = str_sub(buf_str(&w->in->text), w->off, w->next - w->off);
    int x = INPUT_PREFIX + w->col;
    if (g.ptr[0] == CHIP_MARK) {
        char label[96];
        chip_label(w->in, w->off, label, sizeof(label));
        (void)canvas_text(c, r, x, y, ST_SELECT, str_from(label));
    } else if (g.ptr[0] != '\n' && g.ptr[0] != '\t') {
        (void)canvas_text(c, r, x, y, ST_TEXT, g);
    }
}

void
input_draw(struct input *in, struct canvas *c, struct rect r)
{
    if (r.w < 1 || r.h < 1)
        return;
    struct walk at, w;
    in->width = columns_of(r.w);
    walk_to(&at, in, in->cursor);
    w = at; /* the rest of it, from there */
    while (walk_on(&w))
        ;
    int rows = w.row + 1;
    if (in->top > at.row)
        in->top = at.row;
    if (in->top < at.row - r.h + 1)
        in->top = at.row - r.h + 1;
    if (in->top > rows - r.h)
        in->top = rows > r.h ? rows - r.h : 0;
    bool shell = input_is_shell(in);
    canvas_text(c, r, 0, 0, shell ? ST_WARN : ST_PROMPT,
                in->top ? STR("^ ")
                : shell ? STR("$ ")
                        : STR("> "));
    walk_start(&w, in);
    while (w.off < in->text.len && w.row < in->top + r.h) {
        if (w.row >= in->top)
            draw_cluster(&w, c, r, w.row - in->top);
        (void)walk_on(&w);
    }
    int x = INPUT_PREFIX + at.col;
    canvas_cursor(c, r.x + (x < r.w ? x : r.w - 1), r.y + at.row - in->top);
}
