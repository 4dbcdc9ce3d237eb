/* The log over the whole screen: a head, the text, the processes, and the keys at the bottom. */
#include "base/text.h"
#include "ui/fmt.h"
#include "ui/lines.h"
#include "ui/log_view.h"

/* "● Bash  make test" with state, bytes and place at the right. */
static void
draw_head(const struct log_view *l, struct canvas *c, struct rect row, bool ascii)
{
    struct buf right, left, cut;
    buf_init(&right, 4096);
    buf_init(&left, BUF_MAX);
    buf_init(&cut, BUF_MAX);
    const char *word = l->state == TOOL_DONE ? "done" : fmt_state_word(l->state);
    buf_addf(&right, "%s ", word);
    fmt_bytes(&right, l->bytes);
    int rw = text_width(buf_str(&right));
    struct str what = str_from(l->what);
    size_t nl = str_find(what, '\n', 0);
    visible_add(&left, str_sub(what, 0, nl == (size_t)-1 ? what.len : nl));
    canvas_fill(c, row, ST_STATUS, " ");
    int x = canvas_text(c, row, 0, 0, ST_STATUS, str_from(fmt_mark(l->state, ascii)));
    x = canvas_text(c, row, x + 1, 0, ST_STATUS, str_from(l->name ? l->name : "tool"));
    fold_end(&cut, buf_str(&left), row.w - rw - 2 - (x + 2), ascii);
    canvas_text(c, row, x + 2, 0, ST_STATUS, buf_str(&cut));
    if (row.w > rw + x)
        canvas_text(c, row, row.w - rw, 0, ST_STATUS, buf_str(&right));
    buf_release(&right);
    buf_release(&left);
    buf_release(&cut);
}

static void
draw_text(struct log_view *l, struct canvas *c, struct rect r)
{
    if (l->problem && *l->problem) {
        canvas_text(c, r, 0, 0, ST_WARN, str_from(l->problem));
        return;
    }
    if (!l->lines.n) {
        bool asked = l->name != NULL;
        canvas_text(c, r, 0, 0, ST_DIM, asked ? STR("(no output)") : STR("..."));
    }
    for (int y = 0; y < r.h && (size_t)(l->scroll + y) < l->lines.n; y++) {
        size_t i = (size_t)(l->scroll + y);
        lines_draw(&l->lines, i, c, r, 0, y);
        if (i == l->hit)
            canvas_style(c, (struct rect){r.x, r.y + y, r.w, 1}, ST_SELECT);
    }
}

static void
draw_processes(const struct log_view *l, struct canvas *c, struct rect r, bool ascii)
{
    if (r.h < 2)
        return;
    canvas_fill(c, (struct rect){r.x, r.y, r.w, 1}, ST_BORDER, ascii ? "-" : "─");
    canvas_text(c, r, 1, 0, ST_TITLE, STR(" processes "));
    for (int y = 1; y < r.h; y++)
        canvas_text(c, r, 1, y, ST_DIM, str_from(l->processes[y - 1]));
}

static void
draw_foot(struct log_view *l, struct canvas *c, struct rect row, bool ascii, struct str word)
{
    if (l->finding) {
        int x = canvas_text(c, row, 0, 0, ST_PROMPT, STR("/"));
        (void)field_draw(&l->find, c,
                         (struct rect){row.x + x, row.y, row.w - x > 1 ? row.w - x : 1, 1}, ST_TEXT,
                         ascii);
        return;
    }
    struct buf b, cut;
    struct str quit = STR("q close");
    buf_init(&b, 4096);
    buf_init(&cut, 4096);
    int last = l->scroll + l->seen < (int)l->lines.n ? l->scroll + l->seen : (int)l->lines.n;
    if (word.len)
        buf_addf(&b, "%.*s  ", (int)word.len, word.ptr);
    if (l->note)
        buf_addf(&b, "%s  ", l->note);
    buf_addf(&b, "%d/%zu%s  ", last, l->lines.n,
             l->follow && l->state == TOOL_RUNNING ? " following" : "");
    buf_adds(&b, row.w >= 70 ? "/ find  n N next  g G ends" : "/ find  G end");
    if (l->state == TOOL_RUNNING)
        buf_adds(&b, row.w >= 70 ? "  x stop  b background" : "  x stop");
    int room = row.w - (int)quit.len - 2; /* how to leave is always said */
    fold_end(&cut, buf_str(&b), room > 0 ? room : 0, ascii);
    canvas_text(c, row, 0, 0, word.len || l->note ? ST_WARN : ST_DIM, buf_str(&cut));
    canvas_text(c, row, room > 0 ? room + 2 : 0, 0, ST_DIM, quit);
    buf_release(&b);
    buf_release(&cut);
}

void
log_view_draw(struct log_view *l, struct canvas *c, bool ascii, struct str word)
{
    int tree = (int)l->n_processes ? (int)l->n_processes + 1 : 0;
    if (tree > c->h / 4)
        tree = c->h / 4 < 2 ? 0 : c->h / 4;
    struct rect all = {0, 0, c->w, c->h};
    canvas_fill(c, all, ST_TEXT, NULL);
    canvas_cursor(c, -1, -1);
    if (c->w < 1 || c->h < 1)
        return;
    int head = c->h >= 3, foot = c->h >= 2;
    struct rect text = {0, head, c->w, c->h - head - foot - tree};
    log_view_lay_out(l, text.w, text.h);
    draw_text(l, c, text);
    if (head)
        draw_head(l, c, (struct rect){0, 0, c->w, 1}, ascii);
    draw_processes(l, c, (struct rect){0, text.y + text.h, c->w, tree}, ascii);
    if (foot)
        draw_foot(l, c, (struct rect){0, c->h - 1, c->w, 1}, ascii, word);
}
