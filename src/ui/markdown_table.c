#include "ui/markdown_table.h"

#include <stdlib.h>

#include "base/text.h"

void
md_table_init(struct md_table *t, size_t n_cols)
{
    *t = (struct md_table){.n_cols = n_cols < MD_TABLE_COLS ? n_cols : MD_TABLE_COLS};
}

void
md_table_release(struct md_table *t)
{
    for (size_t i = 0; i < t->n_rows * t->n_cols; i++)
        flow_release(&t->cells[i].text);
    free(t->cells);
    *t = (struct md_table){0};
}

void
md_table_row(struct md_table *t)
{
    t->col = t->n_cols;
    if (t->n_rows >= MD_TABLE_ROWS) {
        t->left_out++;
        return;
    }
    if (!t->n_cols)
        return;
    ARRAY_GROW(t->cells, (t->n_rows + 1) * t->n_cols, t->cap);
    for (size_t i = 0; i < t->n_cols; i++) {
        struct md_cell *c = &t->cells[t->n_rows * t->n_cols + i];
        *c = (struct md_cell){0};
        flow_init(&c->text);
    }
    t->n_rows++;
    t->col = 0;
}

void
md_table_cell(struct md_table *t, enum md_side side, struct flow *text)
{
    if (!t->n_rows || t->col >= t->n_cols) {
        flow_clear(text);
        return;
    }
    struct md_cell *c = &t->cells[(t->n_rows - 1) * t->n_cols + t->col++];
    struct flow empty = c->text;
    c->side = side;
    c->text = *text;
    *text = empty;
}

/* Widths that fit in `room`: as wide as the content, and while that is too much the widest column gives one. */
static void
fit_columns(const struct md_table *t, int room, int *widths)
{
    int sum = 0;
    for (size_t i = 0; i < t->n_cols; i++) {
        widths[i] = 1;
        for (size_t r = 0; r < t->n_rows; r++) {
            int w = flow_width(&t->cells[r * t->n_cols + i].text);
            if (w > widths[i])
                widths[i] = w < 1000 ? w : 1000;
        }
        sum += widths[i];
    }
    while (sum > room) {
        size_t widest = 0;
        for (size_t i = 1; i < t->n_cols; i++)
            if (widths[i] > widths[widest])
                widest = i;
        if (widths[widest] <= 1)
            break;
        widths[widest]--;
        sum--;
    }
}

static void
blanks(struct lines *out, int n)
{
    for (; n > 0; n--)
        lines_raw(out, ST_TEXT, STR(" "));
}

static void
put_cell(struct md_cell *c, struct lines *out, int width, bool last, bool ascii)
{
    int used = flow_width(&c->text);
    int pad = used < width ? width - used : 0;
    int left = c->side == MD_RIGHT ? pad : c->side == MD_CENTER ? pad / 2 : 0;
    blanks(out, left);
    int drawn = flow_cut(&c->text, out, width, ascii);
    if (!last)
        blanks(out, width - left - drawn);
}

static void
put_rule(const struct md_table *t, struct lines *out, const int *widths, bool ascii)
{
    for (size_t i = 0; i < t->n_cols; i++) {
        if (i)
            lines_raw(out, ST_DIM, ascii ? STR("-+-") : STR("─┼─"));
        for (int k = 0; k < widths[i]; k++)
            lines_raw(out, ST_DIM, ascii ? STR("-") : STR("─"));
    }
}

void
md_table_lines(struct md_table *t, struct lines *out, struct str prefix, const struct md_options *o)
{
    int widths[MD_TABLE_COLS];
    if (!t->n_cols)
        return;
    fit_columns(t, o->width - text_width(prefix) - 3 * ((int)t->n_cols - 1), widths);
    for (size_t r = 0; r < t->n_rows; r++) {
        lines_begin(out, false);
        lines_raw(out, ST_DIM, prefix);
        for (size_t i = 0; i < t->n_cols; i++) {
            if (i)
                lines_raw(out, ST_DIM, o->ascii ? STR(" | ") : STR(" │ "));
            put_cell(&t->cells[r * t->n_cols + i], out, widths[i], i + 1 == t->n_cols, o->ascii);
        }
        if (r == 0) {
            lines_begin(out, false);
            lines_drawn(out);
            lines_raw(out, ST_DIM, prefix);
            put_rule(t, out, widths, o->ascii);
        }
    }
    if (t->left_out) {
        lines_begin(out, false);
        lines_raw(out, ST_DIM, prefix);
        lines_addf(out, ST_DIM, "(%zu more rows)", t->left_out);
    }
}
