#include "ui/picker.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/keys.h"
#include "ui/page.h"

#define PICKER_WIDEST 120
#define PICKER_ROWS 5000 /* of an answer */

void
picker_init(struct picker *p)
{
    *p = (struct picker){.last_seq = PICKER_SEQ};
    field_init(&p->words);
}

void
picker_close(struct picker *p)
{
    json_free(p->answer);
    free(p->problem);
    free(p->asked);
    free(p->current);
    p->answer = NULL;
    p->problem = p->asked = p->current = NULL;
    p->type = NULL;
    p->seq = 0;
    p->only = false;
    p->n_rows = p->selected = p->top = 0;
    field_clear(&p->words);
}

void
picker_release(struct picker *p)
{
    picker_close(p);
    field_release(&p->words);
    free(p->rows);
    p->rows = NULL;
    p->cap_rows = 0;
}

static struct op *
question(struct picker *p)
{
    struct op *op;
    if (p->type->query < 0)
        return NULL;
    char *words = p->type->engine_sifts ? str_dup(str_trim(buf_str(&p->words.text))) : NULL;
    op = op_new(OP_QUERY, words);
    op->query = (enum query_kind)p->type->query;
    op->seq = p->seq = ++p->last_seq;
    free(p->asked);
    p->asked = words;
    return op;
}

/* ---- sifting ---- */

/* Every word stands somewhere in the row, or the engine says where it found them. */
static bool
row_matches(const struct picker *p, const struct cJSON *row)
{
    struct buf all;
    bool ok = true;
    if (p->type->engine_sifts && json_str(row, "excerpt").len)
        return true;
    buf_init(&all, (size_t)1 << 20);
    for (const struct cJSON *m = json_first(row); m; m = json_next(m)) {
        if (json_is_str(m)) {
            buf_add_str(&all, json_value_str(m));
            buf_addc(&all, '\n');
        }
    }
    struct str words = buf_str(&p->words.text), word;
    while (ok && str_split(&words, ' ', &word))
        ok = !word.len || text_has_fold(buf_str(&all), word);
    buf_release(&all);
    return ok;
}

static void
sift(struct picker *p)
{
    p->n_rows = 0;
    for (const struct cJSON *r = json_first(json_at(p->answer, p->type->list));
         r && p->n_rows < PICKER_ROWS; r = json_next(r)) {
        if (!row_matches(p, r))
            continue;
        ARRAY_GROW(p->rows, p->n_rows, p->cap_rows);
        p->rows[p->n_rows++] = r;
    }
    if (p->selected >= p->n_rows)
        p->selected = p->n_rows ? p->n_rows - 1 : 0;
}

static void
take(struct picker *p, struct cJSON *tree, const char *problem)
{
    free(p->problem);
    p->problem = xstrdup(problem);
    if (tree) {
        json_free(p->answer);
        p->answer = tree;
        sift(p);
    }
}

static bool
is_current(const struct picker *p, const struct cJSON *row)
{
    const char *key = p->type->key;
    return key ? p->current && strcmp(json_cstr(row, key, ""), p->current) == 0
               : json_bool(row, "current", false);
}

/* What is in use now is where the choice begins. */
static void
select_current(struct picker *p)
{
    for (size_t i = 0; i < p->n_rows; i++)
        if (is_current(p, p->rows[i]))
            p->selected = i;
}

void
picker_mark(struct picker *p, const char *current)
{
    free(p->current);
    p->current = xstrdup(current);
    select_current(p);
}

struct op *
picker_open(struct picker *p, const struct picker_type *type)
{
    picker_close(p);
    p->type = type;
    if (type->rows)
        take(p, json_parse(str_from(type->rows), NULL), NULL);
    return question(p);
}

struct op *
picker_open_with(struct picker *p, const struct picker_type *type, struct str words)
{
    picker_close(p);
    p->type = type;
    field_set(&p->words, words);
    p->only = true;
    return question(p);
}

struct op *
picker_refresh(struct picker *p)
{
    return p->type && !p->answer ? question(p) : NULL;
}

/* The words went on while the engine looked. */
static bool
words_changed(const struct picker *p)
{
    return p->type->engine_sifts &&
           !str_is(str_trim(buf_str(&p->words.text)), p->asked ? p->asked : "");
}

void
picker_answer(struct picker *p, const struct event *ev, struct op **ret_op)
{
    *ret_op = NULL;
    if (!p->seq || ev->seq != p->seq)
        return;
    p->seq = 0;
    struct err err = {0};
    bool first = !p->answer;
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), &err);
    take(p, tree, tree ? json_cstr(tree, "error", NULL) : err.text);
    if (first)
        select_current(p);
    if (words_changed(p))
        *ret_op = question(p);
}

/* ---- keys ---- */

static void
move(struct picker *p, int by)
{
    size_t last = p->n_rows ? p->n_rows - 1 : 0;
    if (by < 0)
        p->selected = p->selected < (size_t)-by ? 0 : p->selected - (size_t)-by;
    else
        p->selected = p->selected + (size_t)by > last ? last : p->selected + (size_t)by;
}

static bool
move_key(struct picker *p, int key)
{
    int page = p->seen > 1 ? p->seen - 1 : 1;
    switch (key) {
    case YK_UP:
    case YK_WHEEL_UP:
    case 'p' | KM_CTRL:
        move(p, -1);
        return true;
    case YK_DOWN:
    case YK_WHEEL_DOWN:
    case 'n' | KM_CTRL:
        move(p, 1);
        return true;
    case YK_PGUP:
        move(p, -page);
        return true;
    case YK_PGDN:
        move(p, page);
        return true;
    default:
        return false;
    }
}

static void
choose(struct picker *p, char **ret_command)
{
    struct buf b;
    if (p->selected >= p->n_rows)
        return;
    buf_init(&b, (size_t)1 << 16);
    p->type->command(p->rows[p->selected], &b);
    *ret_command = buf_take(&b);
    picker_close(p);
}

static bool
begins_with(const struct cJSON *row, struct str words)
{
    size_t len;
    return text_find_fold(json_str(row, "title"), words, 0, &len) == 0 ||
           text_find_fold(json_str(row, "first"), words, 0, &len) == 0;
}

char *
picker_only(struct picker *p)
{
    char *command = NULL;
    struct str words = str_trim(buf_str(&p->words.text));
    size_t begun = 0, at = 0;
    if (!p->only || p->seq || !p->answer || p->problem)
        return NULL;
    p->only = false;
    while (at < p->n_rows && !text_equal_fold(json_str(p->rows[at], "title"), words))
        at++; /* of two with one title the newer */
    bool same = at < p->n_rows;
    for (size_t i = p->n_rows; !same && i-- > 0;)
        if (begins_with(p->rows[i], words)) {
            at = i;
            begun++;
        }
    p->selected = at < p->n_rows ? at : 0;
    if (same || begun == 1)
        choose(p, &command);
    return command;
}

void
picker_key(struct picker *p, int key, struct str typed, struct op **ret_op, char **ret_command)
{
    *ret_op = NULL;
    *ret_command = NULL;
    p->only = false;
    if (move_key(p, key))
        return;
    if (key == YK_ENTER) {
        choose(p, ret_command);
    } else if (key == YK_ESC || key == ('c' | KM_CTRL)) {
        picker_close(p);
    } else if (field_key(&p->words, key, typed)) {
        p->selected = p->top = 0;
        sift(p);
        if (!p->seq && words_changed(p))
            *ret_op = question(p);
    }
}

/* ---- drawing ---- */

static void
row_line(const struct picker *p, const struct cJSON *row, const struct table_fit *f, int64_t now,
         bool ascii, enum style st, struct lines *out)
{
    struct buf b[TABLE_COLUMNS];
    struct str cells[TABLE_COLUMNS];
    for (size_t i = 0; i < p->type->n_cols; i++)
        buf_init(&b[i], (size_t)1 << 16);
    p->type->cells(row, now, b);
    if (p->type->key && is_current(p, row))
        buf_addc(&b[0], '*');
    for (size_t i = 0; i < p->type->n_cols; i++)
        cells[i] = buf_str(&b[i]);
    table_row(p->type->cols, f, cells, st, ascii, out);
    for (size_t i = 0; i < p->type->n_cols; i++)
        buf_release(&b[i]);
}

static const char *
nothing(const struct picker *p)
{
    if (p->problem)
        return p->problem;
    if (p->seq && !p->answer)
        return "asking the engine ...";
    if (p->words.text.len)
        return p->seq ? "looking ..." : "nothing has these words";
    return p->type->empty;
}

/* The sign of the chosen row stands before it: no colour is needed to see it. */
static void
draw_rows(struct picker *p, struct canvas *c, struct rect r, bool ascii, int64_t now)
{
    struct table_fit f;
    struct lines l;
    int w = r.w - 2;
    if (r.h < 1 || w < 1)
        return;
    lines_init(&l);
    table_fit(p->type->cols, p->type->n_cols, w, &f);
    int head = r.h >= 5;
    if (head) {
        table_head(p->type->cols, &f, ascii, &l);
        lines_draw(&l, 0, c, r, 2, 0);
    }
    p->seen = r.h - head;
    if (p->selected < p->top)
        p->top = p->selected;
    if (p->selected >= p->top + (size_t)p->seen)
        p->top = p->selected - (size_t)p->seen + 1;
    for (int y = 0; y < p->seen && p->top + (size_t)y < p->n_rows; y++) {
        size_t at = p->top + (size_t)y;
        bool chosen = at == p->selected;
        lines_clear(&l);
        row_line(p, p->rows[at], &f, now, ascii, chosen ? ST_SELECT : ST_TEXT, &l);
        if (chosen)
            canvas_fill(c, (struct rect){r.x, r.y + y + head, r.w, 1}, ST_SELECT, NULL);
        if (chosen)
            canvas_text(c, r, 0, y + head, ST_SELECT, ascii ? STR("> ") : STR("▸ "));
        lines_draw(&l, 0, c, r, 2, y + head);
    }
    lines_clear(&l);
    if (!p->n_rows)
        page_para(&l, p->problem ? ST_ERROR : ST_DIM, str_from(nothing(p)), w);
    for (size_t i = 0; i < l.n && (int)i < p->seen; i++)
        lines_draw(&l, i, c, r, 2, head + (int)i);
    lines_release(&l);
}

/* Where the engine found the words in the chosen row. */
static bool
draw_excerpt(const struct picker *p, struct canvas *c, struct rect line, bool ascii)
{
    struct str s = p->selected < p->n_rows ? json_str(p->rows[p->selected], "excerpt") : STR("");
    struct buf shown, cut;
    if (!s.len)
        return false;
    buf_init(&shown, (size_t)1 << 16);
    buf_init(&cut, (size_t)1 << 16);
    visible_add(&shown, s);
    for (size_t i = 0; i < shown.len; i++)
        if (shown.data[i] == '\n')
            shown.data[i] = ' ';
    fold_end(&cut, buf_str(&shown), line.w - 2, ascii);
    canvas_text(c, line, 2, 0, ST_DIM, buf_str(&cut));
    buf_release(&cut);
    buf_release(&shown);
    return true;
}

static void
draw_foot(const struct picker *p, struct canvas *c, struct rect line)
{
    struct buf b;
    buf_init(&b, 256);
    if (p->n_rows)
        buf_addf(&b, " %zu of %zu%s ", p->selected + 1, p->n_rows, p->seq ? " ..." : "");
    int right = text_width(buf_str(&b));
    canvas_text(c, line, line.w - right, 0, ST_DIM, buf_str(&b));
    canvas_textf(c, (struct rect){line.x, line.y, line.w - right, 1}, 0, 0, ST_DIM,
                 line.w > 50 ? " Enter %s  Esc closes  Up Down PgUp PgDn " : " Enter %s  Esc ",
                 p->type->verb);
    buf_release(&b);
}

void
picker_draw(struct picker *p, struct canvas *c, bool ascii, int64_t wall_ms)
{
    int w = c->w > PICKER_WIDEST ? PICKER_WIDEST : c->w;
    struct rect r = {(c->w - w) / 2, 0, w, c->h}, in = r, foot = {r.x, c->h - 1, w, 1};
    bool framed = w >= 60 && c->h >= 16;
    canvas_fill(c, (struct rect){0, 0, c->w, c->h}, ST_TEXT, NULL);
    if (framed) {
        canvas_box(c, r, ST_BORDER_FOCUS, str_from(p->type->title), ascii);
        in = (struct rect){r.x + 2, r.y + 1, w - 4, r.h - 2};
        foot = (struct rect){r.x + 2, c->h - 1, w - 4, 1};
    } else {
        in.h -= c->h >= 3;
    }
    int x = canvas_text(c, in, 0, 0, ST_PROMPT, STR("> "));
    struct rect field = {in.x + x, in.y, in.w - x, 1};
    if (!framed && !p->words.text.len)
        canvas_text(c, field, 2, 0, ST_DIM, str_from(p->type->title));
    (void)field_draw(&p->words, c, field, ST_TEXT, ascii);
    struct rect rows = {in.x, in.y + 1 + framed, in.w, in.h - 1 - framed};
    if (rows.h >= 4 &&
        draw_excerpt(p, c, (struct rect){rows.x, rows.y + rows.h - 1, rows.w, 1}, ascii))
        rows.h--;
    draw_rows(p, c, rows, ascii, wall_ms);
    if (framed || c->h >= 3)
        draw_foot(p, c, foot);
}
