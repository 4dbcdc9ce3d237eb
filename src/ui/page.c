#include "ui/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/keys.h"

#define PAGE_WIDEST 140
#define NO_HIT ((size_t)-1)

void
page_init(struct page *p)
{
    *p = (struct page){.hit = NO_HIT, .last_seq = PAGE_SEQ};
    lines_init(&p->lines);
    field_init(&p->find);
}

void
page_release(struct page *p)
{
    page_close(p);
    lines_release(&p->lines);
    field_release(&p->find);
    free(p->rows);
    p->rows = NULL;
    p->cap_rows = 0;
}

void
page_close(struct page *p)
{
    json_free(p->answer);
    free(p->problem);
    p->answer = NULL;
    p->problem = NULL;
    p->type = NULL;
    p->seq = 0;
    p->laid = 0;
    p->scroll = 0;
    p->n_rows = p->selected = 0;
    p->again = p->confirm = p->finding = false;
    p->note = NULL;
    p->hit = NO_HIT;
    lines_release(&p->lines);
    field_clear(&p->find);
}

static struct op *
question(struct page *p)
{
    if (p->type->query < 0)
        return NULL;
    struct op *op = op_new(OP_QUERY, NULL);
    op->query = (enum query_kind)p->type->query;
    op->seq = p->seq = ++p->last_seq;
    p->again = false;
    return op;
}

struct op *
page_open(struct page *p, const struct page_type *type)
{
    page_close(p);
    p->type = type;
    return question(p);
}

struct op *
page_refresh(struct page *p, bool always)
{
    if (!p->type || (!p->type->live && !always))
        return NULL;
    if (p->seq) { /* one at a time: what is under way may be from before */
        p->again = true;
        return NULL;
    }
    return question(p);
}

void
page_answer(struct page *p, const struct event *ev)
{
    if (!p->seq || ev->seq != p->seq)
        return;
    p->seq = 0;
    p->laid = 0;
    if (p->confirm) { /* the row that was meant may be another one now */
        p->confirm = false;
        p->note = NULL;
    }
    free(p->problem);
    p->problem = NULL;
    struct err err = {0};
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), &err);
    const char *bad = tree ? json_cstr(tree, "error", NULL) : err.text;
    p->problem = xstrdup(bad);
    if (tree) {
        json_free(p->answer);
        p->answer = tree;
    }
}

/* ---- for writers ---- */

void
page_mark_row(struct page *p, size_t line)
{
    ARRAY_GROW(p->rows, p->n_rows, p->cap_rows);
    p->rows[p->n_rows++] = line;
}

void
page_heading(struct lines *out, const char *text)
{
    if (out->n)
        lines_begin(out, false);
    lines_begin(out, false);
    lines_add(out, ST_HEADING, str_from(text));
}

void
page_para(struct lines *out, enum style st, struct str text, int width)
{
    struct str line;
    while (str_split(&text, '\n', &line)) {
        struct flow f;
        flow_init(&f);
        if (!line.len)
            lines_begin(out, false);
        flow_add(&f, st, line);
        flow_wrap(&f, out, &(struct indent){.width = width < 1 ? 1 : width, .rest = STR("")});
        flow_release(&f);
    }
}

/* ---- search ---- */

static void
show_line(struct page *p, size_t at)
{
    int row = (int)at, seen = p->seen > 0 ? p->seen : 1;
    if (row < p->scroll || row >= p->scroll + seen)
        p->scroll = row - seen / 3;
}

static void
find_next(struct page *p, int dir)
{
    struct str want = buf_str(&p->find.text);
    size_t n = p->lines.n;
    if (!want.len || !n)
        return;
    size_t at = p->hit < n ? p->hit : dir > 0 ? n - 1 : 0;
    for (size_t k = 0; k < n; k++) {
        at = dir > 0 ? (at + 1) % n : (at + n - 1) % n;
        if (!text_has_fold(lines_text(&p->lines, at), want))
            continue;
        p->hit = at;
        show_line(p, at);
        return;
    }
    p->hit = NO_HIT;
    p->note = "not found";
}

static void
find_key(struct page *p, int key, struct str typed)
{
    if (key == YK_ENTER) {
        p->finding = false;
        p->hit = NO_HIT;
        find_next(p, 1);
    } else if (key == YK_ESC || key == ('c' | KM_CTRL)) {
        p->finding = false;
    } else {
        (void)field_key(&p->find, key, typed);
    }
}

/* ---- keys ---- */

static void
select_row(struct page *p, int by)
{
    size_t last = p->n_rows - 1;
    if (by < 0)
        p->selected = p->selected < (size_t)-by ? 0 : p->selected - (size_t)-by;
    else
        p->selected = p->selected + (size_t)by > last ? last : p->selected + (size_t)by;
    show_line(p, p->rows[p->selected]);
}

/* How far a key moves; 0: it is no such key. */
static int
step_of(const struct page *p, int key)
{
    switch (key) {
    case YK_UP:
    case 'k':
        return -1;
    case YK_DOWN:
    case 'j':
        return 1;
    case YK_WHEEL_UP:
        return -3;
    case YK_WHEEL_DOWN:
        return 3;
    case YK_PGUP:
        return -(p->seen > 1 ? p->seen - 1 : 1);
    case YK_PGDN:
    case ' ':
        return p->seen > 1 ? p->seen - 1 : 1;
    case YK_HOME:
    case 'g':
        return -(1 << 20);
    case YK_END:
    case 'G':
        return 1 << 20;
    default:
        return 0;
    }
}

static void
common_key(struct page *p, int key, struct op **ret_op)
{
    int by = step_of(p, key);
    if (by && p->n_rows) {
        select_row(p, by);
    } else if (by) {
        p->scroll += by;
    } else if (key == '/') {
        p->finding = true;
        field_clear(&p->find);
    } else if (key == 'n' || key == 'N') {
        find_next(p, key == 'n' ? 1 : -1);
    } else if (key == 'r') {
        *ret_op = page_refresh(p, true);
    } else if (key == YK_ESC || key == 'q' || key == YK_F1 || key == ('c' | KM_CTRL)) {
        page_close(p);
    }
}

void
page_key(struct page *p, int key, struct str typed, struct op **ret_op)
{
    *ret_op = NULL;
    p->note = NULL;
    if (p->finding)
        find_key(p, key, typed);
    else if (!p->type->key || p->type->key(p, key, ret_op) == PAGE_KEY_NONE)
        common_key(p, key, ret_op);
}

/* ---- drawing ---- */

static void
lay_out(struct page *p, const struct view *v, int width, bool ascii)
{
    if (p->laid == width && p->laid_ascii == ascii)
        return;
    lines_clear(&p->lines);
    p->n_rows = 0;
    p->hit = NO_HIT;
    if (p->problem)
        page_para(&p->lines, ST_ERROR, str_from(p->problem), width);
    if (p->type->query >= 0 && !p->answer) {
        if (!p->problem)
            page_para(&p->lines, ST_DIM, STR("asking the engine ..."), width);
    } else {
        p->type->write(p, v, &p->lines, width, ascii);
    }
    p->laid = width;
    p->laid_ascii = ascii;
    if (p->selected >= p->n_rows)
        p->selected = p->n_rows ? p->n_rows - 1 : 0;
}

static void
keep_in_range(struct page *p, int rows)
{
    p->seen = rows > 0 ? rows : 1;
    int last = (int)p->lines.n - p->seen;
    if (p->scroll > last)
        p->scroll = last;
    if (p->scroll < 0)
        p->scroll = 0;
}

static void
draw_lines(const struct page *p, struct canvas *c, struct rect in)
{
    for (int y = 0; y < in.h && (size_t)(y + p->scroll) < p->lines.n; y++) {
        size_t at = (size_t)(y + p->scroll);
        lines_draw(&p->lines, at, c, in, 0, y);
        bool chosen = p->n_rows && p->rows[p->selected] == at;
        if (chosen || at == p->hit)
            canvas_style(c, (struct rect){in.x, in.y + y, in.w, 1}, ST_SELECT);
    }
}

/* " 1 to 20 of 64 " */
static void
place_text(const struct page *p, struct buf *out)
{
    if ((int)p->lines.n > p->seen)
        buf_addf(out, " %d-%d of %zu ", p->scroll + 1,
                 p->scroll + p->seen < (int)p->lines.n ? p->scroll + p->seen : (int)p->lines.n,
                 p->lines.n);
}

/* As many of them as have room whole. */
static void
foot_keys(const struct page *p, int room, struct buf *out)
{
    const char *const keys[] = {"Esc closes", p->type->foot, "/ find", "r refresh"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!keys[i])
            continue;
        if (i && (int)(out->len + strlen(keys[i])) + 3 > room)
            break;
        buf_addf(out, "%s%s", i ? "  " : " ", keys[i]);
    }
    buf_addc(out, ' ');
}

/* The lower line: words to find, what the last key said, or the keys. */
static void
draw_foot(const struct page *p, struct canvas *c, struct rect line, bool ascii)
{
    struct buf place, keys;
    buf_init(&place, 128);
    buf_init(&keys, 512);
    place_text(p, &place);
    int right = text_width(buf_str(&place));
    if (p->note && text_width(str_from(p->note)) + 2 + right > line.w)
        right = 0; /* what is said now counts more than the place */
    if (right && right < line.w)
        canvas_text(c, line, line.w - right, 0, ST_DIM, buf_str(&place));
    struct rect left = {line.x, line.y, line.w - right, 1};
    if (p->finding) {
        int x = canvas_text(c, left, 0, 0, ST_PROMPT, STR(" find: "));
        (void)field_draw(&p->find, c, (struct rect){left.x + x, left.y, left.w - x, 1}, ST_TEXT,
                         ascii);
    } else if (p->note) {
        canvas_textf(c, left, 0, 0, ST_WARN, " %s ", p->note);
    } else {
        foot_keys(p, left.w, &keys);
        canvas_text(c, left, 0, 0, ST_DIM, buf_str(&keys));
    }
    buf_release(&keys);
    buf_release(&place);
}

void
page_draw(struct page *p, const struct view *v, struct canvas *c, bool ascii)
{
    int w = c->w > PAGE_WIDEST ? PAGE_WIDEST : c->w;
    struct rect r = {(c->w - w) / 2, 0, w, c->h}, in = r, foot = r;
    bool framed = w >= 60 && c->h >= 16, lined = !framed && c->h >= 4;
    canvas_cursor(c, -1, -1);
    canvas_fill(c, (struct rect){0, 0, c->w, c->h}, ST_TEXT, NULL);
    if (framed) {
        canvas_box(c, r, ST_BORDER_FOCUS, str_from(p->type->title), ascii);
        in = (struct rect){r.x + 2, r.y + 1, r.w - 4, r.h - 2};
        foot = (struct rect){r.x + 2, r.y + r.h - 1, r.w - 4, 1};
    } else if (lined) {
        canvas_fill(c, (struct rect){0, 0, w, 1}, ST_BORDER, ascii ? "-" : "─");
        canvas_textf(c, r, 1, 0, ST_BORDER_FOCUS, " %s ", p->type->title);
        in = (struct rect){0, 1, w, c->h - 2};
        foot = (struct rect){0, c->h - 1, w, 1};
    }
    lay_out(p, v, in.w < 1 ? 1 : in.w, ascii);
    keep_in_range(p, in.h);
    draw_lines(p, c, in);
    if (framed || lined)
        draw_foot(p, c, foot, ascii);
}
