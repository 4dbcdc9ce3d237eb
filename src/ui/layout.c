#include "ui/view.h"

#define WIDE 100 /* from here on there is a side column */
#define TINY_W 60
#define TINY_H 16
#define TALL 30 /* from here on the meters have a border row below them */
#define SIDE_PERCENT 36
#define SIDE_MIN 32

static int
at_least(int v, int least)
{
    return v < least ? least : v;
}

static int
at_most(int v, int most)
{
    return v > most ? most : v;
}

static struct rect
rect_make(int x, int y, int w, int h)
{
    if (w < 1 || h < 1)
        return (struct rect){x, y, 0, 0};
    return (struct rect){x, y, w, h};
}

/* Rows the todo list takes of `room`, its title row not counted; 0: not shown. */
static int
todo_rows(const struct view *v, int room)
{
    if (!v->show_todos || room < 6)
        return 0;
    int want = v->n_todos ? (int)at_most((int)v->n_todos, 100) : 1;
    return at_least(at_most(want, room / 3), 1);
}

/* No frame: a rule above the prompt while there is room for it. */
static void
make_tiny(const struct view *v, int prompt_rows, struct layout *l)
{
    int prompt = at_least(at_most(prompt_rows, l->h / 3), 1);
    int status = l->h >= 2, rule = l->h >= 8;
    int body = at_least(l->h - prompt - status - rule, 0);
    l->tiny = true;
    l->prompt = rect_make(0, body + rule, l->w, prompt);
    l->status = rect_make(0, l->h - 1, l->w, status);
    l->activity = rect_make(0, body, l->w, rule); /* on the rule, while it has the focus */
    l->strip = true;
    if (v->n_asks) {
        int title = body >= 4;
        l->approval = rect_make(0, title, l->w, body - title);
        return;
    }
    int todos = todo_rows(v, body);
    l->transcript = rect_make(0, 0, l->w, body - (todos ? todos + 1 : 0));
    if (todos)
        l->todos = rect_make(0, body - todos, l->w, todos);
}

/* Activity above, permission below: each in its place whatever the other holds. */
static void
make_side(const struct view *v, int x, int w, int body, struct layout *l)
{
    int y = 1, left = body;
    if (v->n_asks) {
        int ask = left - at_least(left * 2 / 5, 3) - 1;
        ask = at_least(ask, at_most(v->ask_rows, left - 4)); /* what is asked comes first */
        l->approval = rect_make(x, y + left - ask, w, ask);
        left -= ask + 1;
    }
    int todos = todo_rows(v, left);
    if (todos) {
        l->todos = rect_make(x, y + left - todos, w, todos);
        left -= todos + 1;
    }
    l->activity = rect_make(x, y, w, left);
}

/* One column: the permission pane takes the lower half while something waits, activity is a strip on the rule above the prompt. */
static void
make_column(const struct view *v, int body, int rule_y, struct layout *l)
{
    int left = body;
    if (v->n_asks) {
        int ask = body / 2;
        l->approval = rect_make(2, 1 + body - ask, l->w - 4, ask);
        left -= ask + 1;
    }
    int todos = todo_rows(v, left);
    if (todos) {
        l->todos = rect_make(2, 1 + left - todos, l->w - 4, todos);
        left -= todos + 1;
    }
    l->transcript = rect_make(2, 1, l->w - 4, left);
    l->activity = rect_make(2, rule_y, l->w - 4, 1);
    l->strip = true;
}

void
layout_make(const struct view *v, int w, int h, int prompt_rows, struct layout *ret)
{
    *ret = (struct layout){.w = w, .h = h, .side_x = -1};
    if (w < 1 || h < 1)
        return;
    if (w < TINY_W || h < TINY_H) {
        make_tiny(v, prompt_rows, ret);
        return;
    }
    int bottom = h >= TALL, prompt = at_least(at_most(prompt_rows, h / 3), 1);
    int meters_y = h - 1 - bottom, rule_y = meters_y - prompt - 1, body = rule_y - 1;
    ret->borders = true;
    ret->prompt = rect_make(2, rule_y + 1, w - 4, prompt);
    ret->status = rect_make(2, meters_y, w - 4, 1);
    if (w < WIDE || v->full) {
        make_column(v, body, rule_y, ret);
        return;
    }
    int side = at_least(w * SIDE_PERCENT / 100, SIDE_MIN);
    ret->side_x = w - 2 - side;
    ret->transcript = rect_make(2, 1, ret->side_x - 3, body);
    make_side(v, ret->side_x + 2, side - 2, body, ret);
}
