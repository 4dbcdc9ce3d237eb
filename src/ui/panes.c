/* The frame with its titles, and every pane but the prompt into it. */
#include "base/text.h"
#include "ui/view.h"

struct frame {
    struct canvas *c;
    bool ascii;
};

enum joint { J_H, J_V, J_TL, J_TR, J_BL, J_BR, J_LEFT, J_RIGHT, J_TOP, J_BOTTOM };

static const char *
joint(const struct frame *f, enum joint j)
{
    static const char *const lines[][2] = {
        [J_H] = {"─", "-"},   [J_V] = {"│", "|"},     [J_TL] = {"┌", "+"},   [J_TR] = {"┐", "+"},
        [J_BL] = {"└", "+"},  [J_BR] = {"┘", "+"},    [J_LEFT] = {"├", "+"}, [J_RIGHT] = {"┤", "+"},
        [J_TOP] = {"┬", "+"}, [J_BOTTOM] = {"┴", "+"}};
    return lines[j][f->ascii];
}

static void
put(const struct frame *f, int x, int y, enum joint j)
{
    canvas_fill(f->c, (struct rect){x, y, 1, 1}, ST_BORDER, joint(f, j));
}

/* A horizontal line from x0 to x1, both its ends given. */
static void
hline(const struct frame *f, int x0, int x1, int y, enum joint left, enum joint right)
{
    canvas_fill(f->c, (struct rect){x0, y, x1 - x0 + 1, 1}, ST_BORDER, joint(f, J_H));
    put(f, x0, y, left);
    put(f, x1, y, right);
}

static void
vline(const struct frame *f, int x, int y0, int y1)
{
    canvas_fill(f->c, (struct rect){x, y0, 1, y1 - y0 + 1}, ST_BORDER, joint(f, J_V));
}

/* " activity " on a border; the pane with the focus has a sign besides its colour. */
static void
title(const struct frame *f, int x, int y, int room, struct str s, bool focus)
{
    struct rect r = {x, y, room, 1};
    enum style st = focus ? ST_BORDER_FOCUS : ST_TITLE;
    int at =
        canvas_text(f->c, r, 0, 0, st, focus ? (f->ascii ? STR(" > ") : STR(" ▸ ")) : STR(" "));
    at = canvas_text(f->c, r, at, 0, st, s);
    canvas_text(f->c, r, at, 0, st, STR(" "));
}

static void
approval_head(const struct frame *f, const struct panes *p, const struct rect *r, int room)
{
    struct buf b;
    buf_init(&b, 256);
    approval_title(p->approval, p->view, &b);
    title(f, r->x - 1, r->y - 1, room, buf_str(&b), p->focus == PANE_APPROVAL);
    buf_release(&b);
}

static void
frame_column(const struct frame *f, const struct panes *p, const struct layout *l)
{
    int right = l->w - 1;
    if (l->approval.h) {
        hline(f, 0, right, l->approval.y - 1, J_LEFT, J_RIGHT);
        approval_head(f, p, &l->approval, l->approval.w + 1);
    }
    if (l->todos.h) {
        hline(f, 0, right, l->todos.y - 1, J_LEFT, J_RIGHT);
        title(f, 1, l->todos.y - 1, l->todos.w, STR("todos"), false);
    }
}

static void
frame_side(const struct frame *f, const struct panes *p, const struct layout *l)
{
    int right = l->w - 1, rule_y = l->prompt.y - 1;
    vline(f, l->side_x, 1, rule_y - 1);
    put(f, l->side_x, 0, J_TOP);
    put(f, l->side_x, rule_y, J_BOTTOM);
    title(f, l->side_x + 1, 0, l->activity.w, STR("activity"), p->focus == PANE_ACTIVITY);
    if (l->todos.h) {
        hline(f, l->side_x, right, l->todos.y - 1, J_LEFT, J_RIGHT);
        title(f, l->side_x + 1, l->todos.y - 1, l->todos.w, STR("todos"), false);
    }
    if (l->approval.h) {
        hline(f, l->side_x, right, l->approval.y - 1, J_LEFT, J_RIGHT);
        approval_head(f, p, &l->approval, l->approval.w + 1);
    }
}

static void
frame_draw(const struct frame *f, const struct panes *p, const struct layout *l)
{
    int right = l->w - 1, bottom = l->h - 1;
    hline(f, 0, right, 0, J_TL, J_TR);
    vline(f, 0, 1, bottom - 1);
    vline(f, right, 1, bottom - 1);
    hline(f, 0, right, l->prompt.y - 1, J_LEFT, J_RIGHT);
    if (l->status.y == bottom) {
        hline(f, 0, right, bottom, J_BL, J_BR);
    } else {
        hline(f, 0, right, l->status.y, J_LEFT, J_RIGHT);
        hline(f, 0, right, bottom, J_BL, J_BR);
    }
    title(f, 1, 0, l->transcript.w, STR("transcript"), p->focus == PANE_TRANSCRIPT);
    if (l->side_x >= 0)
        frame_side(f, p, l);
    else
        frame_column(f, p, l);
}

/* Without a frame: a rule above the prompt, titles where something has one. */
static void
frame_tiny(const struct frame *f, const struct panes *p, const struct layout *l)
{
    if (l->h >= 8)
        canvas_fill(f->c, (struct rect){0, l->prompt.y - 1, l->w, 1}, ST_BORDER, joint(f, J_H));
    if (l->approval.h && l->approval.y > 0) {
        canvas_fill(f->c, (struct rect){0, 0, l->w, 1}, ST_BORDER, joint(f, J_H));
        approval_head(f, p, &(struct rect){2, 1, l->w, 1}, l->w - 1);
    }
    if (l->todos.h) {
        canvas_fill(f->c, (struct rect){0, l->todos.y - 1, l->w, 1}, ST_BORDER, joint(f, J_H));
        title(f, 1, l->todos.y - 1, l->w - 1, STR("todos"), false);
    }
}

/* The diff or the chain of a request, over everything. */
static void
draw_full_approval(const struct panes *p, struct canvas *c)
{
    struct rect r = {0, 0, c->w, c->h}, in = r;
    struct buf b;
    canvas_fill(c, r, ST_TEXT, NULL);
    buf_init(&b, 256);
    approval_title(p->approval, p->view, &b);
    if (c->w >= 60 && c->h >= 16) {
        canvas_box(c, r, ST_BORDER_FOCUS, buf_str(&b), p->ascii);
        in = (struct rect){2, 1, c->w - 4, c->h - 2};
    } else if (c->h >= 6) {
        canvas_fill(c, (struct rect){0, 0, c->w, 1}, ST_BORDER, p->ascii ? "-" : "─");
        canvas_textf(c, r, 1, 0, ST_BORDER_FOCUS, " %s ", buf_cstr(&b));
        in = (struct rect){0, 1, c->w, c->h - 1};
    }
    buf_release(&b);
    canvas_cursor(c, -1, -1);
    approval_draw(p->approval, p->view, c, in, true, p->ascii, p->now_ms);
}

void
panes_draw(const struct panes *p, const struct layout *l, struct canvas *c)
{
    struct frame f = {c, p->ascii};
    if (l->w < 1 || l->h < 1)
        return;
    if (p->focus == PANE_APPROVAL && approval_full(p->approval) && p->view->n_asks) {
        draw_full_approval(p, c);
        return;
    }
    if (l->borders)
        frame_draw(&f, p, l);
    else
        frame_tiny(&f, p, l);
    if (l->transcript.h)
        transcript_draw(p->transcript, p->view, c, l->transcript, p->focus == PANE_TRANSCRIPT,
                        p->ascii);
    if (l->activity.h && (!l->tiny || p->focus == PANE_ACTIVITY))
        activity_draw(p->view, c, l->activity, l->strip, p->focus == PANE_ACTIVITY, p->selected,
                      p->ascii, p->now_ms);
    if (l->todos.h)
        todo_draw(p->view, c, l->todos, p->ascii);
    if (l->status.h)
        meters_draw(p->view, c, l->status, l->tiny, p->ascii, p->now_ms);
    if (l->approval.h)
        approval_draw(p->approval, p->view, c, l->approval, p->focus == PANE_APPROVAL, p->ascii,
                      p->now_ms);
}
