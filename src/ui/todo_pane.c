#include "ui/lines.h"
#include "ui/view.h"

static void
draw_todo(const struct todo *t, struct canvas *c, struct rect row, bool ascii)
{
    static const struct {
        const char *mark, *ascii;
        enum style style;
    } looks[] = {[TODO_PENDING] = {"[ ] ", "[ ] ", ST_TEXT},
                 [TODO_ACTIVE] = {"[▸] ", "[>] ", ST_BOLD},
                 [TODO_DONE] = {"[✓] ", "[x] ", ST_DIM}};
    struct buf b, cut;
    struct str s = str_from(t->text);
    size_t nl = str_find(s, '\n', 0);
    buf_init(&b, 1 << 16);
    buf_init(&cut, 1 << 16);
    visible_add(&b, str_sub(s, 0, nl == (size_t)-1 ? s.len : nl));
    fold_end(&cut, buf_str(&b), row.w - 4, ascii);
    enum style st = looks[t->state].style;
    canvas_text(c, row, 0, 0, st, str_from(ascii ? looks[t->state].ascii : looks[t->state].mark));
    canvas_text(c, row, 4, 0, st, buf_str(&cut));
    buf_release(&b);
    buf_release(&cut);
}

void
todo_draw(const struct view *v, struct canvas *c, struct rect r, bool ascii)
{
    if (r.h < 1)
        return;
    if (!v->n_todos) {
        canvas_text(c, r, 0, 0, ST_DIM, STR("nothing on the list"));
        return;
    }
    /* what is being done stays in sight; what is done scrolls off first */
    size_t first = 0, active = 0, n = v->n_todos, h = (size_t)r.h;
    while (active < n && v->todos[active].state != TODO_ACTIVE)
        active++;
    if (n > h && active < n && active > 0) {
        size_t want = h > 2 ? active - 1 : active;
        first = want < n - h ? want : n - h;
    }
    bool more = h > 1 && first + h < n; /* the last row says so */
    for (size_t i = 0; i < h - more && first + i < n; i++)
        draw_todo(&v->todos[first + i], c, (struct rect){r.x, r.y + (int)i, r.w, 1}, ascii);
    if (more)
        canvas_textf(c, (struct rect){r.x, r.y + r.h - 1, r.w, 1}, 0, 0, ST_DIM, "%s %zu more",
                     ascii ? ".." : "…", n - first - h + 1);
}
