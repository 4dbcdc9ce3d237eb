#include "base/text.h"
#include "ui/fmt.h"
#include "ui/lines.h"
#include "ui/view.h"

static bool
is_over(enum tool_state s)
{
    return s == TOOL_DONE || s == TOOL_FAILED || s == TOOL_DENIED || s == TOOL_CANCELLED;
}

/* Running ones first, then those that wait, then what is over. */
static int
rank(enum tool_state s)
{
    return s == TOOL_RUNNING ? 0 : is_over(s) ? 2 : 1;
}

const struct activity *
activity_at(const struct view *v, int shown)
{
    for (int r = 0; r < 3; r++)
        for (size_t i = v->n_acts; i-- > 0;) /* the newest first */
            if (rank(v->acts[i].state) == r && shown-- == 0)
                return &v->acts[i];
    return NULL;
}

static size_t
count_running(const struct view *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_acts; i++)
        n += !is_over(v->acts[i].state);
    return n;
}

/* "12.4s 1.2MB" while it runs; what came of it, or how long it took, afterwards. */
static void
right_text(const struct activity *a, int64_t now_ms, struct buf *out)
{
    const char *word = fmt_state_word(a->state);
    if (a->state == TOOL_RUNNING) {
        fmt_ms(out, now_ms > a->started_ms ? now_ms - a->started_ms : 0);
        if (a->bytes > 0) {
            buf_addc(out, ' ');
            fmt_bytes(out, a->bytes);
        }
        return;
    }
    buf_adds(out, word);
    if (a->state != TOOL_DONE && !is_over(a->state))
        return;
    if (*word)
        buf_addc(out, ' ');
    struct str summary = str_from(a->summary);
    size_t nl = str_find(summary, '\n', 0);
    if (summary.len && a->state != TOOL_DENIED && a->state != TOOL_CANCELLED)
        visible_add(out, str_sub(summary, 0, nl == (size_t)-1 ? summary.len : nl));
    else
        fmt_ms(out, a->elapsed_ms);
}

static void
what_text(const struct activity *a, struct buf *out)
{
    struct str what = str_from(a->what);
    size_t nl = str_find(what, '\n', 0);
    if (a->agent) {
        visible_add(out, str_from(a->agent));
        buf_adds(out, ": ");
    }
    visible_add(out, str_sub(what, 0, nl == (size_t)-1 ? what.len : nl));
    if (nl != (size_t)-1)
        buf_adds(out, " ..");
}

/* One row: "● Bash  make test     12.4s 1.2MB". Returns the column after what was drawn on the left. */
static int
draw_row(const struct activity *a, struct canvas *c, struct rect row, bool ascii, int64_t now_ms,
         bool stretch)
{
    struct buf right, left, cut;
    buf_init(&right, 1 << 16);
    buf_init(&left, 1 << 20);
    buf_init(&cut, 1 << 20);
    right_text(a, now_ms, &right);
    fold_end(&cut, buf_str(&right), row.w / 2, ascii);
    int rw = text_width(buf_str(&cut));
    int x =
        canvas_text(c, row, 0, 0, fmt_mark_style(a->state), str_from(fmt_mark(a->state, ascii)));
    x = canvas_text(c, row, x + 1, 0, ST_TOOL, str_from(a->name ? a->name : "tool"));
    int pad = x < 6 ? 6 - x : 0;
    what_text(a, &left);
    struct buf what;
    buf_init(&what, 1 << 20);
    fold_end(&what, buf_str(&left), row.w - rw - 2 - (x + pad + 2), ascii);
    struct rect room = row;
    room.w = row.w - rw - 1;
    x = canvas_text(c, room, x + pad + 2, 0, ST_TEXT, buf_str(&what));
    int rx = stretch ? row.w - rw : x + 2;
    x = canvas_text(c, row, rx, 0, ST_DIM, buf_str(&cut));
    buf_release(&right);
    buf_release(&left);
    buf_release(&cut);
    buf_release(&what);
    return x;
}

static void
draw_last_line(const struct activity *a, struct canvas *c, struct rect row, bool ascii)
{
    struct buf b, cut;
    struct str s = str_from(a->last_line);
    size_t nl = str_find(s, '\n', 0);
    buf_init(&b, 1 << 20);
    buf_init(&cut, 1 << 20);
    visible_add(&b, str_sub(s, 0, nl == (size_t)-1 ? s.len : nl));
    fold_end(&cut, buf_str(&b), row.w - 2, ascii);
    canvas_text(c, row, 2, 0, ST_DIM, buf_str(&cut));
    buf_release(&b);
    buf_release(&cut);
}

/* On the rule above the prompt: the newest that runs, and how many more do. */
static void
draw_strip(const struct view *v, struct canvas *c, struct rect r, bool focus, int selected,
           bool ascii, int64_t now_ms)
{
    const struct activity *a = activity_at(v, focus ? selected : 0);
    size_t running = count_running(v);
    if (!a || r.w < 12)
        return;
    struct rect row = {r.x, r.y, r.w - 12, 1};
    canvas_fill(c, (struct rect){r.x - 1, r.y, 1, 1}, ST_TEXT, "");
    canvas_fill(c, row, ST_TEXT, "");
    int x = draw_row(a, c, row, ascii, now_ms, false);
    if (running > 1)
        x = canvas_textf(c, r, x + 2, 0, ST_DIM, "+%zu more", running - 1);
    if (focus)
        canvas_style(c, (struct rect){r.x, r.y, x, 1}, ST_SELECT);
    if (x < r.w) /* the rule goes on behind a blank */
        canvas_fill(c, (struct rect){r.x + x + 1, r.y, r.w - x - 1, 1}, ST_BORDER,
                    ascii ? "-" : "─");
    canvas_fill(c, (struct rect){r.x + x, r.y, 1, 1}, ST_TEXT, "");
}

static int
rows_of(const struct activity *a)
{
    return 1 + (a->state == TOOL_RUNNING && a->last_line && *a->last_line);
}

/* The first place to draw so that the selected one is seen. */
static int
first_shown(const struct view *v, int selected, int h)
{
    int first = selected, room = h;
    while (first >= 0) {
        const struct activity *a = activity_at(v, first);
        if (a && rows_of(a) > room)
            break;
        room -= a ? rows_of(a) : 0;
        first--;
    }
    return first + 1 > selected ? selected : first + 1;
}

void
activity_draw(const struct view *v, struct canvas *c, struct rect r, bool strip, bool focus,
              int selected, bool ascii, int64_t now_ms)
{
    if (r.w < 1 || r.h < 1)
        return;
    if (strip) {
        draw_strip(v, c, r, focus, selected, ascii, now_ms);
        return;
    }
    int y = 0, i = focus && selected > 0 ? first_shown(v, selected, r.h) : 0;
    for (const struct activity *a; y < r.h && (a = activity_at(v, i)) != NULL; i++) {
        struct rect row = {r.x, r.y + y++, r.w, 1};
        draw_row(a, c, row, ascii, now_ms, true);
        if (focus && i == selected)
            canvas_style(c, row, ST_SELECT);
        if (rows_of(a) > 1 && y < r.h)
            draw_last_line(a, c, (struct rect){r.x, r.y + y++, r.w, 1}, ascii);
    }
}
