/* What the mouse selects in the transcript, and the transcript as plain text. */
#include <string.h>

#include "base/text.h"
#include "ui/item_lines.h"
#include "ui/transcript_private.h"

static bool
spot_before(const struct spot *a, const struct spot *b)
{
    if (a->at.no != b->at.no)
        return a->at.no < b->at.no;
    return a->at.line != b->at.line ? a->at.line < b->at.line : a->x < b->x;
}

static void
ends(const struct transcript *t, struct spot *ret_a, struct spot *ret_b)
{
    bool forward = spot_before(&t->pressed, &t->dragged);
    *ret_a = forward ? t->pressed : t->dragged;
    *ret_b = forward ? t->dragged : t->pressed;
    ret_b->x++; /* the cell under the pointer is part of it */
}

/* What stands at a cell of the pane; what is below the last line is on it. */
static bool
spot_at(struct transcript *t, struct view *v, int x, int y, struct spot *ret)
{
    if (!transcript_ready(t, v))
        return false;
    size_t i = view_find(v, t->top.no), n = view_len(v);
    int line = t->top.line + (y > 0 ? y : 0);
    while (i + 1 < n && line >= transcript_height(t, v, i))
        line -= transcript_height(t, v, i++);
    int last = transcript_height(t, v, i) - 1;
    ret->at = (struct place){view_at(v, i)->no, line < last ? line : last > 0 ? last : 0};
    ret->x = x > 0 ? x : 0;
    return true;
}

void
transcript_press(struct transcript *t, struct view *v, int x, int y)
{
    t->selected = false;
    t->pressing = spot_at(t, v, x, y, &t->pressed);
    t->dragged = t->pressed;
}

void
transcript_drag(struct transcript *t, struct view *v, int x, int y)
{
    if (!t->pressing || !spot_at(t, v, x, y, &t->dragged))
        return;
    t->selected = spot_before(&t->pressed, &t->dragged) || spot_before(&t->dragged, &t->pressed);
    if (t->selected)
        transcript_leave_tail(t, v); /* what is being selected does not run away */
}

bool
transcript_release(struct transcript *t, struct view *v, int x, int y)
{
    struct spot s;
    bool pressed = t->pressing && spot_at(t, v, x, y, &s);
    t->pressing = false;
    if (!pressed || t->selected)
        return t->selected;
    t->cursor = s.at.no + 1;
    t->first = t->first < s.at.no ? t->first : s.at.no;
    t->last = t->last > s.at.no ? t->last : s.at.no;
    (void)transcript_toggle(t, v);
    return true;
}

void
select_draw(const struct transcript *t, struct place at, const struct lines *l, int line,
            struct canvas *c, struct rect r, int y)
{
    struct spot a, b, start = {at, 0}, end = {at, lines_width(l, (size_t)line)};
    if (!t->selected)
        return;
    ends(t, &a, &b);
    if (spot_before(&start, &a))
        start = a;
    if (spot_before(&b, &end))
        end = b;
    if (start.at.no != at.no || end.at.no != at.no || start.at.line != at.line ||
        end.at.line != at.line || end.x <= start.x)
        return;
    canvas_style(c, canvas_clip(c, (struct rect){r.x + start.x, r.y + y, end.x - start.x, 1}),
                 ST_SELECT);
}

/* Of item i what lies between the spots. */
static void
add_part(struct transcript *t, struct view *v, size_t i, const struct spot *a, const struct spot *b,
         struct buf *out)
{
    uint64_t no = view_at(v, i)->no;
    int gap = cache_gap(v, i);
    const struct lines *l = cache_lines(&t->cache, v, i);
    struct lines_place from = {0, 0}, to = {l->n, 0};
    if (no == a->at.no && a->at.line >= gap) {
        from.line = (size_t)(a->at.line - gap);
        from.off = from.line < l->n ? lines_off(l, from.line, a->x) : 0;
    }
    if (no == b->at.no) {
        if (b->at.line < gap)
            return;
        to.line = (size_t)(b->at.line - gap);
        to.off = to.line < l->n ? lines_off(l, to.line, b->x) : 0;
    }
    lines_logical(l, from, to, out);
}

bool
transcript_selection(struct transcript *t, struct view *v, struct buf *out)
{
    struct spot a, b;
    bool some = false;
    if (!t->selected || !transcript_ready(t, v))
        return false;
    ends(t, &a, &b);
    for (size_t i = view_find(v, a.at.no); i < view_len(v) && view_at(v, i)->no <= b.at.no; i++) {
        if (transcript_height(t, v, i) == 0)
            continue;
        if (some)
            buf_adds(out, cache_gap(v, i) ? "\n\n" : "\n");
        add_part(t, v, i, &a, &b, out);
        some = true;
    }
    return some && !buf_full(out);
}

void
transcript_print(const struct view *v, int width, bool ascii, struct buf *out)
{
    struct lines l;
    lines_init(&l);
    for (size_t i = 0; i < view_len(v); i++) {
        const struct item *it = view_at(v, i);
        if (item_is_empty(it))
            continue;
        lines_clear(&l);
        item_lines(it, &l, width, ascii);
        if (item_is_markdown(it))
            md_render(&l, buf_str(&it->text),
                      &(struct md_options){.width = width, .ascii = ascii, .open = true});
        if (cache_gap(v, i))
            buf_addc(out, '\n');
        if (it->kind == ITEM_USER && !it->hidden)
            buf_adds(out, "> ");
        lines_logical(&l, (struct lines_place){0, 0}, (struct lines_place){l.n, 0}, out);
        buf_addc(out, '\n');
    }
    lines_release(&l);
}
