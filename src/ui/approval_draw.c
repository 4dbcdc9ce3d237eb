#include <string.h>

#include "base/text.h"
#include "ui/approval_parts.h"
#include "ui/approval_sheet.h"
#include "ui/diffview.h"
#include "ui/fmt.h"
#include "ui/keys.h"

#define ROWS_ENOUGH 1000 /* for any foot */

static int
draw_lines(const struct lines *l, struct canvas *c, struct rect r, int y, int from, int rows)
{
    for (int i = from; i < (int)l->n && i - from < rows; i++)
        lines_draw(l, (size_t)i, c, r, 0, y++);
    return y;
}

/* "Bash   main agent        waited 3s" */
static void
draw_head(const struct sheet *s, struct canvas *c, struct rect r)
{
    struct buf b;
    const char *agent = s->ask->ev->agent;
    buf_init(&b, 1 << 16);
    buf_adds(&b, s->w < 24 ? "" : "waited ");
    fmt_seconds(&b, s->now_ms - s->ask->since_ms);
    int right = text_width(buf_str(&b)), room = s->w - right - 1;
    struct rect left = {r.x, r.y, room > 0 ? room : 0, 1};
    if (room > 0)
        canvas_text(c, r, s->w - right, 0, ST_DIM, buf_str(&b));
    buf_clear(&b);
    strict_visible(&b, str_from(s->ask->ev->u.ask.tool), s->ascii);
    int x = canvas_text(c, left, 0, 0, ST_TOOL, buf_str(&b));
    buf_clear(&b);
    strict_visible(&b, str_from(agent ? agent : "main agent"), s->ascii);
    canvas_text(c, left, x < 5 ? 7 : x + 2, 0, agent ? ST_WARN : ST_DIM, buf_str(&b));
    buf_release(&b);
}

static struct str
reason_label(const struct sheet *s)
{
    return s->w >= 24 ? STR("reason (may be empty): ") : STR("reason: ");
}

/* A short reason stands beside its label; a longer one has the whole width, the label above it while there is a row for that. */
static bool
reason_beside(const struct sheet *s)
{
    int room = s->w - text_width(reason_label(s));
    return room >= 16 && field_rows(&s->a->field, room) == 1;
}

static struct rect
draw_label(const struct sheet *s, struct canvas *c, struct rect r)
{
    struct str label = reason_label(s);
    int x = text_width(label);
    bool beside =
        reason_beside(s) || (r.h == 1 && r.w - x > 1 && field_rows(&s->a->field, r.w - x) == 1);
    if (beside || r.h > field_rows(&s->a->field, s->w))
        (void)canvas_text(c, r, 0, 0, ST_DIM, label);
    else
        return r;
    return beside ? (struct rect){r.x + x, r.y, r.w - x, r.h}
                  : (struct rect){r.x, r.y + 1, r.w, r.h - 1};
}

static void
draw_field(struct sheet *s, struct canvas *c, struct rect r)
{
    struct rect in = r;
    if (s->a->typing_reason) {
        in = draw_label(s, c, r);
    } else {
        canvas_text(c, r, 0, 0, ST_DIM, STR("$ "));
        in.x += 2;
        in.w -= 2;
    }
    int cx = c->cursor_x, cy = c->cursor_y;
    field_draw(&s->a->field, c, in, ST_TEXT, s->ascii);
    if (!s->focus)
        canvas_cursor(c, cx, cy);
}

static int
field_height(const struct sheet *s)
{
    if (s->a->editing)
        return field_rows(&s->a->field, s->w - 2);
    if (!s->a->typing_reason)
        return 0;
    return reason_beside(s) ? 1 : 1 + field_rows(&s->a->field, s->w);
}

/* Rows for what is typed: a command has all of them, a reason leaves two to what it is about. */
static int
field_most(const struct sheet *s, int rows)
{
    return s->a->editing ? rows : rows > 4 ? rows - 2 : rows > 3 ? rows / 2 : 1;
}

/* Fills the body. Whether all of the request fits is found out in every mode: the keys that are offered hang on it. */
static void
make_body(struct sheet *s, int rows)
{
    lines_clear(&s->top);
    lines_clear(&s->scroll);
    s->missing = 0;
    sheet_main(s, rows);
    if (!s->a->editing && !s->a->confirm_always && !s->a->diff_open && !s->a->why)
        return;
    lines_clear(&s->top);
    lines_clear(&s->scroll);
    s->missing = 0;
    if (s->a->editing)
        return;
    if (s->a->confirm_always)
        sheet_always(s);
    else if (s->a->diff_open)
        sheet_diff(s, rows);
    else
        sheet_why(s);
}

/* Where one is in what scrolls, at the end of its last row. */
static void
draw_more(const struct sheet *s, struct canvas *c, struct rect r, int y, int rows)
{
    int left = (int)s->scroll.n - s->a->scroll - rows;
    if (left <= 0 || rows < 1)
        return;
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, " %d more, PgDn ", left);
    int x = s->w - text_width(buf_str(&b));
    canvas_text(c, r, x > 0 ? x : 0, y, ST_SELECT, buf_str(&b));
    buf_release(&b);
}

struct split {
    int head, field, foot, rows,
        top; /* rows of the head, a field, the foot; of the body, and those of it that stay */
};

/* Reasons that are cut are told below them, or at the end of their last row. */
static void
draw_missing(const struct sheet *s, struct canvas *c, struct rect r, const struct split *p)
{
    const char *k = s->focus ? keys_of(ACT_WHY) : NULL;
    if (s->missing < 1 || p->top < 2)
        return;
    bool below = !s->scroll.n && p->top < p->rows;
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, "%s%s %d more line%s%s%s%s", below ? "  " : " ", s->ascii ? ".." : "…", s->missing,
             s->missing > 1 ? "s" : "", k ? ": " : "", k ? keys_shown(k) : "", below ? "" : " ");
    int x = below ? 0 : s->w - text_width(buf_str(&b));
    canvas_text(c, r, x > 0 ? x : 0, p->head + p->top - !below, below ? ST_WARN : ST_SELECT,
                buf_str(&b));
    buf_release(&b);
}

/* One row for all of it: the keys, then what they would answer. */
static void
draw_row_only(struct sheet *s, struct canvas *c, struct rect r)
{
    const char *prefix;
    struct str text = sheet_text(s, &prefix);
    int x = 0;
    const enum key_action acts[] = {s->focus ? ACT_ONCE : ACT_PANE3, ACT_NO};
    for (int i = 0; i <= s->focus; i++) {
        const char *k = keys_of(acts[i]);
        if (k)
            x += canvas_textf(c, (struct rect){r.x + x, r.y, r.w - x, 1}, 0, 0, ST_KEY, "%s ",
                              keys_shown(k));
    }
    s->w = r.w - x;
    if (s->w < 1)
        return;
    s->a->folded = true;
    memset(&s->a->seen, 0, sizeof s->a->seen);
    (void)text_rows(&s->top, text, str_from(prefix), s->w, 1, s->ascii);
    lines_draw(&s->top, 0, c, (struct rect){r.x + x, r.y, s->w, 1}, 0, 0);
}

/* What scrolls has been on the screen as far as it was gone through from its start, without a jump. */
static void
note_seen(struct sheet *s, int room)
{
    struct approval *a = s->a;
    enum {
        MAIN,
        DIFF,
        WHY,
        RULES,
        FIELD
    } view = a->editing          ? FIELD
             : a->confirm_always ? RULES
             : a->diff_open      ? DIFF
             : a->why            ? WHY
                                 : MAIN;
    if (a->seen.view != (int)view || a->seen.w != s->w)
        a->seen.to = 0;
    a->seen.view = (int)view;
    a->seen.w = s->w;
    if (!s->focus || view == FIELD)
        return;
    bool covered = a->scroll < a->max_scroll && room > 1; /* the last row, by draw_more */
    int end = a->scroll + room - covered;
    if (a->scroll <= a->seen.to && end > a->seen.to)
        a->seen.to = end;
    bool all = a->seen.to >= (int)s->scroll.n && !s->shortened;
    a->seen.rules |= all && view == RULES;
    a->seen.diff |= all && view != RULES;
    a->seen.text |= all && view == WHY;
}

static struct split
lay_out(struct sheet *s)
{
    struct split p = {.head = s->h >= 4};
    s->a->folded = false; /* the longest foot first: making it again below never needs more rows */
    approval_foot(&s->foot, s->a, s->v, s->w, s->h);
    p.foot = (int)s->foot.n < s->h - p.head ? (int)s->foot.n : s->h - p.head;
    p.field = field_height(s);
    if (p.field && s->h == 1) /* what is typed comes before the keys */
        p.foot = 0;
    p.rows = s->h - p.head - p.foot;
    int most = field_most(s, p.rows);
    p.field = p.field > most ? most : p.field;
    p.rows -= p.field;
    make_body(s, p.rows);
    if (s->a->folded) {
        lines_clear(&s->foot);
        approval_foot(&s->foot, s->a, s->v, s->w, s->h);
        int spare = p.foot - (int)s->foot.n;
        if (spare > 0) { /* without "always" there is a row more */
            p.foot -= spare;
            p.rows += spare;
            make_body(s, p.rows);
            s->a->folded = true;
        }
    }
    p.top = (int)s->top.n < p.rows ? (int)s->top.n : p.rows;
    return p;
}

static void
draw_sheet(struct sheet *s, struct canvas *c, struct rect r)
{
    struct split p = lay_out(s);
    int room = p.rows - p.top;
    s->a->max_scroll = (int)s->scroll.n > room ? (int)s->scroll.n - room : 0;
    s->a->page = room;
    if (s->a->scroll > s->a->max_scroll)
        s->a->scroll = s->a->max_scroll;
    bool was_folded = s->a->folded;
    note_seen(s, room);
    s->a->folded &= !s->a->seen.text || !s->a->seen.diff;
    if (was_folded &&
        !s->a->folded) { /* the last of it came into view just now: "always" has to be among the keys */
        lines_clear(&s->foot);
        p = lay_out(s);
        room = p.rows - p.top;
    }
    if (p.head)
        draw_head(s, c, r);
    draw_lines(&s->top, c, r, p.head, 0, p.top);
    draw_lines(&s->scroll, c, r, p.head + p.top, s->a->scroll, room);
    draw_missing(s, c, r, &p);
    draw_more(s, c, r, p.head + p.rows - 1, room);
    if (p.field > 0)
        draw_field(s, c,
                   (struct rect){r.x, r.y + p.head + (s->a->editing ? 0 : p.rows), r.w, p.field});
    draw_lines(&s->foot, c, r, s->h - p.foot, 0, p.foot);
}

static void
sheet_init(struct sheet *s)
{
    const char *prefix;
    lines_init(&s->odd);
    lines_init(&s->top);
    lines_init(&s->scroll);
    lines_init(&s->foot);
    buf_init(&s->words, BUF_MAX);
    odd_lines(&s->odd, sheet_text(s, &prefix), false, s->w, s->ascii);
    odd_lines(&s->odd, str_from(s->ask->ev->u.ask.diff), true, s->w, s->ascii);
}

static void
sheet_release(struct sheet *s)
{
    lines_release(&s->odd);
    lines_release(&s->top);
    lines_release(&s->scroll);
    lines_release(&s->foot);
    buf_release(&s->words);
}

int
approval_rows(struct approval *a, const struct view *v, int w, bool ascii)
{
    struct sheet s = {.a = a, .v = v, .ask = approval_ask(a, v), .w = w, .ascii = ascii};
    if (!s.ask || w < 1)
        return 0;
    sheet_init(&s);
    approval_foot(&s.foot, a, v, w, ROWS_ENOUGH);
    int rows = 1 + sheet_rows(&s) + (int)s.foot.n;
    sheet_release(&s);
    return rows;
}

void
approval_draw(struct approval *a, const struct view *v, struct canvas *c, struct rect r, bool focus,
              bool ascii, int64_t now_ms)
{
    struct sheet s = {.a = a,
                      .v = v,
                      .ask = approval_ask(a, v),
                      .w = r.w,
                      .h = r.h,
                      .focus = focus,
                      .ascii = ascii,
                      .now_ms = now_ms};
    /* who types into the prompt while the focus moves here must not answer by that */
    if ((focus && !a->focused) || a->drawn != a->serial)
        a->shown_since_ms = now_ms;
    a->focused = focus;
    if (r.w > 0 && r.h > 0)
        a->drawn = a->serial; /* also beside the prompt: who then goes there by a key saw it */
    if (r.w < 1 || r.h < 1)
        return;
    if (!s.ask) {
        canvas_text(c, r, 0, 0, ST_DIM,
                    v->n_asks ? STR("answered, the engine has it") : STR("nothing waits"));
        return;
    }
    sheet_init(&s);
    if (r.h == 1 && !a->typing_reason && !a->editing && !a->confirm_always)
        draw_row_only(&s, c, r);
    else
        draw_sheet(&s, c, r);
    sheet_release(&s);
}
