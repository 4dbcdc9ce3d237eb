#include "ui/overlay.h"

#include "base/text.h"
#include "ui/keys.h"

#define OVERLAY_WIDEST 96

void
overlay_init(struct overlay *o)
{
    *o = (struct overlay){0};
    buf_init(&o->text, (size_t)4 << 20);
}

void
overlay_release(struct overlay *o)
{
    buf_release(&o->text);
}

void
overlay_open(struct overlay *o, const char *title)
{
    buf_clear(&o->text);
    o->open = true;
    o->title = title;
    o->scroll = 0;
    o->rows = o->seen = 1;
}

void
overlay_close(struct overlay *o)
{
    o->open = false;
    buf_release(&o->text);
    buf_init(&o->text, (size_t)4 << 20);
}

bool
overlay_key(struct overlay *o, int key)
{
    switch (key) {
    case YK_ESC:
    case 'q':
    case YK_ENTER:
    case YK_F1:
        overlay_close(o);
        return true;
    case YK_UP:
    case 'k':
        o->scroll--;
        break;
    case YK_DOWN:
    case 'j':
        o->scroll++;
        break;
    case YK_WHEEL_UP:
        o->scroll -= 3;
        break;
    case YK_WHEEL_DOWN:
        o->scroll += 3;
        break;
    case YK_PGUP:
        o->scroll -= o->seen;
        break;
    case YK_PGDN:
    case ' ':
        o->scroll += o->seen;
        break;
    case YK_HOME:
        o->scroll = 0;
        break;
    case YK_END:
        o->scroll = o->rows;
        break;
    default:
        return false;
    }
    if (o->scroll > o->rows - o->seen)
        o->scroll = o->rows - o->seen;
    if (o->scroll < 0)
        o->scroll = 0;
    return true;
}

static struct rect
overlay_rect(const struct canvas *c)
{
    int w = c->w > OVERLAY_WIDEST + 4 ? OVERLAY_WIDEST : c->w;
    int h = c->h > 24 ? c->h - 2 : c->h;
    return (struct rect){(c->w - w) / 2, (c->h - h) / 2, w, h};
}

/* Which rows are seen, on the lower border. */
static void
draw_place(const struct overlay *o, struct canvas *c, struct rect r, int last)
{
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, " %d to %d of %d ", o->scroll + 1, last, o->rows);
    canvas_text(c, r, r.w - 2 - text_width(buf_str(&b)), r.h - 1, ST_DIM, buf_str(&b));
    buf_release(&b);
}

void
overlay_draw(struct overlay *o, struct canvas *c, bool ascii)
{
    struct rect r = overlay_rect(c);
    bool framed = r.w > 8 && r.h > 4;
    canvas_fill(c, r, ST_TEXT, NULL);
    if (framed)
        canvas_box(c, r, ST_BORDER_FOCUS, str_from(o->title), ascii);
    struct rect in = framed ? (struct rect){r.x + 2, r.y + 1, r.w - 4, r.h - 2} : r;
    struct str rest = buf_str(&o->text), line;
    int row = 0;
    while (in.w > 0 && text_wrap(&rest, in.w, &line)) {
        bool heading = line.len && line.ptr[0] == OVERLAY_HEADING;
        if (row >= o->scroll && row < o->scroll + in.h)
            canvas_text(c, in, 0, row - o->scroll, heading ? ST_HEADING : ST_TEXT,
                        heading ? str_sub(line, 1, line.len) : line);
        row++;
    }
    o->rows = row;
    o->seen = in.h > 0 ? in.h : 1;
    if (framed && row > in.h)
        draw_place(o, c, r, o->scroll + in.h < row ? o->scroll + in.h : row);
    canvas_cursor(c, -1, -1);
}
