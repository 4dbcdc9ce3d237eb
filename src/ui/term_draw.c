/* A picture to the screen: what differs goes to curses; links, and clusters that curses cannot hold, over what curses has drawn. */
#include "ui/term.h"

#include <stdlib.h>
#include <string.h>

#include "ui/term_modes.h"
#include "ui/term_private.h"
#include "ui/term_style.h"

/* How wide is what the width of depends on the terminal? The corner of the frame is drawn once more, and the cursor says. */
static void
ask_width(void)
{
    struct buf b;
    const struct cell *corner = term.shown.cells;
    if (term.ascii || !term.wish.ask || term.wide_said || !corner || strcmp(corner->text, "┌") != 0)
        return;
    buf_init(&b, 256);
    buf_adds(&b, "\x1b"
                 "7\x1b[1;1H");
    term_style_sgr((enum style)corner->style, &b);
    buf_adds(&b, "┌\x1b[6n\x1b"
                 "8");
    modes_write(buf_str(&b));
    buf_release(&b);
}

static bool
same_cell(const struct cell *a, const struct cell *b)
{
    return memcmp(a, b, sizeof(*a)) == 0; /* bytes only, no padding */
}

static void
mark_over(int y, int x, int n)
{
    for (int i = x; i < x + n && i < term.shown.w; i++)
        term.over[(size_t)y * (size_t)term.shown.w + (size_t)i] = 1;
    term.some_over = true;
}

/* Columns of what a cell holds and curses does not; 0: nothing. */
static int
over_reach(const struct cell *cell)
{
    struct buf b;
    if (!term.wish.ansi || !cell->width || !cell->text[0] || !cell->text[1])
        return 0;
    buf_init(&b, 4 * CANVAS_BYTES);
    int n = term_style_text(cell, term.ascii, &b);
    buf_release(&b);
    return n;
}

/* Curses may write any cell of a row that it changes, so all its clusters come again, each with the cells that a terminal writes
 * over when it does not join it. */
static void
mark_clusters(int y)
{
    const struct cell *row = &term.shown.cells[(size_t)y * (size_t)term.shown.w];
    for (int x = 0; x < term.shown.w; x++) {
        int n = over_reach(&row[x]);
        if (n)
            mark_over(y, x, n);
    }
}

/* Hands curses the cells that differ; false when none does. */
static bool
put_row(const struct canvas *c, int y)
{
    bool some = false;
    const struct cell *now = &c->cells[(size_t)y * (size_t)c->w];
    struct cell *was = &term.shown.cells[(size_t)y * (size_t)c->w];
    if (!term.all && memcmp(now, was, (size_t)c->w * sizeof(*now)) == 0)
        return false;
    for (int x = 0; x < c->w; x++) {
        if (!term.all && same_cell(&now[x], &was[x]))
            continue;
        some = true;
        if (term.links && (now[x].link || was[x].link))
            mark_over(y, x, 1);
        if (over_reach(&was[x])) /* curses takes it for its first character */
            mark_over(y, x, was[x].width);
        was[x] = now[x];
        if (now[x].width && x < COLS)
            term_style_cell(y, x, &now[x], term.ascii);
    }
    if (some)
        mark_clusters(y);
    return some;
}

static bool
put_cursor(const struct canvas *c)
{
    bool show = c->cursor_x >= 0 && c->cursor_x < COLS && c->cursor_y >= 0 && c->cursor_y < LINES;
    bool moved = c->cursor_x != term.shown.cursor_x || c->cursor_y != term.shown.cursor_y;
    term.shown.cursor_x = c->cursor_x;
    term.shown.cursor_y = c->cursor_y;
    if (term.cursor_shown != show) {
        (void)curs_set(show ? 1 : 0);
        term.cursor_shown = show;
        moved = true;
    }
    if (show)
        (void)move(c->cursor_y, c->cursor_x);
    return moved;
}

/* One run of cells of a row, as text inside its link; curses knows no links, so they go over what it has drawn. */
static int
put_run(const struct canvas *c, int x, int y, struct buf *out)
{
    const struct cell *row = &c->cells[(size_t)y * (size_t)c->w];
    unsigned char *over = &term.over[(size_t)y * (size_t)c->w];
    const char *url = term.links ? canvas_link_url(c, row[x].link) : NULL;
    int end = x;
    buf_addf(out, "\x1b[%d;%dH", y + 1, x + 1);
    if (url)
        buf_addf(out, "\x1b]8;;%s\x1b\\", url);
    enum style st = ST_COUNT;
    for (; end < c->w && over[end] && row[end].link == row[x].link; end++) {
        over[end] = 0;
        if (!row[end].width)
            continue;
        if (row[end].style != st)
            term_style_sgr(st = (enum style)row[end].style, out);
        if (term_style_text(&row[end], term.ascii, out)) /* as wide as the terminal has it */
            buf_addf(out, "\x1b[%d;%dH", y + 1, end + row[end].width + 1);
    }
    if (url)
        buf_adds(out, "\x1b]8;;\x1b\\");
    return end;
}

static void
put_over(const struct canvas *c)
{
    struct buf b;
    if (!term.some_over)
        return;
    term.some_over = false;
    buf_init(&b, (size_t)4 << 20);
    buf_adds(&b, "\x1b"
                 "7\x1b[?7l"); /* the cursor and the look that curses knows of; no cluster wraps */
    for (int y = 0; y < c->h && y < LINES; y++)
        for (int x = 0; x < c->w && x < COLS;)
            x = term.over[(size_t)y * (size_t)c->w + (size_t)x] ? put_run(c, x, y, &b) : x + 1;
    buf_adds(&b, "\x1b[?7h\x1b"
                 "8");
    if (!buf_full(&b))
        modes_write(buf_str(&b));
    buf_release(&b);
}

void
term_draw(const struct canvas *c)
{
    if (!term.open)
        return;
    if (c->w != term.shown.w || c->h != term.shown.h || !term.shown.cells) {
        canvas_resize(&term.shown, c->w, c->h);
        free(term.over);
        term.over = xcalloc((size_t)c->w * (size_t)c->h + 1, 1);
        term.all = true;
    }
    bool changed = term.all;
    for (int y = 0; y < c->h && y < LINES; y++)
        changed = put_row(c, y) || changed;
    changed = put_cursor(c) || changed;
    term.all = false;
    if (!changed)
        return;
    bool bracket = term.dec.sync_update && term.entered;
    if (bracket)
        modes_write(STR("\x1b[?2026h")); /* curses has sent all it had */
    if (COLS ==
        1) /* behind the only column is where some terminals have the cursor, and write nothing */
        modes_write(STR("\r"));
    (void)wnoutrefresh(stdscr);
    (void)doupdate();
    put_over(c);
    if (bracket)
        modes_write(STR("\x1b[?2026l"));
    if (!term.entered) {
        term.entered = true;
        modes_enter(&term.wish);
        ask_width();
    }
}
