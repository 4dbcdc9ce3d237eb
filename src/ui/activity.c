#include <string.h>

#include "base/text.h"
#include "ui/fmt.h"
#include "ui/lines.h"
#include "ui/view.h"

static bool
is_over(enum tool_state s)
{
    return s == TOOL_DONE || s == TOOL_FAILED || s == TOOL_DENIED || s == TOOL_CANCELLED;
}

enum { RANKS = 4, TREE_ROWS = 4, TREE_PANE = 10 };

static bool
is_behind(const struct activity *a)
{
    return a->task && a->state == TOOL_RUNNING;
}

/* Running ones first, then those that wait, then commands in the background, then what is over. */
static int
rank(const struct activity *a)
{
    return is_over(a->state) ? 3 : is_behind(a) ? 2 : a->state == TOOL_RUNNING ? 0 : 1;
}

const struct activity *
activity_at(const struct view *v, int shown)
{
    for (int r = 0; r < RANKS; r++)
        for (size_t i = v->n_acts; i-- > 0;) /* the newest first */
            if (rank(&v->acts[i]) == r && shown-- == 0)
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
    if (a->task && is_over(a->state) && a->summary) {
        visible_add(out, str_from(a->summary)); /* "exit 2", "stopped by the person" */
        return;
    }
    if (a->state == TOOL_FAILED && str_starts(str_from(a->summary), "exit "))
        word = ""; /* the mark says it, and the room is for why */
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
    if (a->task) {
        visible_add(out, str_from(a->task));
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
    /* "&" as the shell has it: told from the others without colour, too */
    struct str mark = is_behind(a) ? STR("&") : str_from(fmt_mark(a->state, ascii));
    int x = canvas_text(c, row, 0, 0, fmt_mark_style(a->state), mark);
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
    canvas_fill(c, (struct rect){r.x - 1, r.y, 1, 1}, ST_TEXT, "");
    if (focus) { /* there is no title to say it */
        canvas_text(c, r, 0, 0, ST_BORDER_FOCUS, ascii ? STR("> ") : STR("▸ "));
        r = (struct rect){r.x + 2, r.y, r.w - 2, 1};
    }
    struct rect row = {r.x, r.y, r.w - 12, 1};
    canvas_fill(c, row, ST_TEXT, "");
    int x = draw_row(a, c, row, ascii, now_ms, false);
    if (running > 1)
        canvas_fill(c, (struct rect){r.x + x, r.y, 2, 1}, ST_TEXT, "");
    if (running > 1)
        x = canvas_textf(c, r, x + 2, 0, ST_DIM, "+%zu more", running - 1);
    if (focus)
        canvas_style(c, (struct rect){r.x, r.y, x, 1}, ST_SELECT);
    if (x < r.w) /* the rule goes on behind a blank */
        canvas_fill(c, (struct rect){r.x + x + 1, r.y, r.w - x - 1, 1}, ST_BORDER,
                    ascii ? "-" : "─");
    canvas_fill(c, (struct rect){r.x + x, r.y, 1, 1}, ST_TEXT, "");
}

/* How many lines of its processes are shown in a pane of this height. */
static int
tree_rows(const struct activity *a, int pane)
{
    int n = 0;
    if (a->state != TOOL_RUNNING || !a->processes || pane < TREE_PANE)
        return 0;
    for (const char *p = a->processes; *p && n < TREE_ROWS; n++) {
        const char *nl = strchr(p, '\n');
        p = nl ? nl + 1 : p + strlen(p);
    }
    return n;
}

static int
line_rows(const struct activity *a)
{
    return a->state == TOOL_RUNNING && a->last_line && *a->last_line;
}

static int
rows_of(const struct activity *a, int pane)
{
    return 1 + line_rows(a) + tree_rows(a, pane);
}

/* The first place to draw so that the selected one is seen. */
static int
first_shown(const struct view *v, int selected, int h)
{
    int first = selected, room = h;
    while (first >= 0) {
        const struct activity *a = activity_at(v, first);
        if (a && rows_of(a, h) > room)
            break;
        room -= a ? rows_of(a, h) : 0;
        first--;
    }
    return first + 1 > selected ? selected : first + 1;
}

static void
draw_tree(const struct activity *a, struct canvas *c, struct rect r, bool ascii)
{
    struct str rest = str_from(a->processes), line;
    struct buf cut;
    buf_init(&cut, 1 << 20);
    for (int y = 0; y < r.h && str_split(&rest, '\n', &line); y++) {
        buf_clear(&cut);
        fold_end(&cut, line, r.w - 4, ascii);
        canvas_text(c, (struct rect){r.x, r.y + y, r.w, 1}, 2, 0, ST_BORDER,
                    ascii ? STR("`") : STR("└"));
        canvas_text(c, (struct rect){r.x, r.y + y, r.w, 1}, 4, 0, ST_DIM, buf_str(&cut));
    }
    buf_release(&cut);
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
        if (line_rows(a) && y < r.h)
            draw_last_line(a, c, (struct rect){r.x, r.y + y++, r.w, 1}, ascii);
        int tree = tree_rows(a, r.h);
        if (tree > r.h - y)
            tree = r.h - y;
        draw_tree(a, c, (struct rect){r.x, r.y + y, r.w, tree}, ascii);
        y += tree;
    }
}

int
activity_place(const struct view *v, struct rect r, bool strip, bool focus, int selected, int y)
{
    if (strip)
        return activity_at(v, focus ? selected : 0) ? (focus ? selected : 0) : -1;
    int i = focus && selected > 0 ? first_shown(v, selected, r.h) : 0;
    for (const struct activity *a; y >= 0 && (a = activity_at(v, i)) != NULL; i++) {
        if (y < rows_of(a, r.h))
            return i;
        y -= rows_of(a, r.h);
    }
    return -1;
}
