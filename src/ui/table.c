#include "ui/table.h"

#include "base/text.h"

#define GAP 2

static int
needed(const struct table_column *cols, const struct table_fit *f)
{
    int sum = 0, shown = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!f->w[i])
            continue;
        sum += cols[i].min;
        shown++;
    }
    return sum + (shown > 1 ? GAP * (shown - 1) : 0);
}

/* The shown column that matters least, or n when only one is left. */
static size_t
least(const struct table_column *cols, const struct table_fit *f)
{
    size_t at = f->n, shown = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!f->w[i])
            continue;
        shown++;
        if (at == f->n || cols[i].keep < cols[at].keep)
            at = i;
    }
    return shown > 1 ? at : f->n;
}

void
table_fit(const struct table_column *cols, size_t n, int width, struct table_fit *ret)
{
    struct table_fit f = {.n = n < TABLE_COLUMNS ? n : TABLE_COLUMNS};
    for (size_t i = 0; i < f.n; i++)
        f.w[i] = cols[i].min;
    size_t out;
    while (needed(cols, &f) > width && (out = least(cols, &f)) < f.n)
        f.w[out] = 0;
    int left = width - needed(cols, &f);
    for (size_t i = 0; i < f.n; i++) {
        if (!f.w[i] || (!cols[i].flex && left >= 0))
            continue;
        f.w[i] = f.w[i] + left > 1 ? f.w[i] + left : 1;
        break;
    }
    *ret = f;
}

static void
add_blanks(struct lines *out, enum style st, int n)
{
    static const char blanks[] = "                                                                ";
    while (n > 0) {
        int part = n < (int)sizeof blanks - 1 ? n : (int)sizeof blanks - 1;
        lines_raw(out, st, str_make(blanks, (size_t)part));
        n -= part;
    }
}

static void
add_cell(struct lines *out, enum style st, struct str s, int width, bool right, bool ascii)
{
    struct buf shown, cut;
    buf_init(&shown, BUF_MAX);
    buf_init(&cut, BUF_MAX);
    size_t end = str_find(s, '\n', 0);
    visible_add(&shown, end == (size_t)-1 ? s : str_sub(s, 0, end));
    fold_end(&cut, buf_str(&shown), width, ascii);
    int pad = width - text_width(buf_str(&cut));
    if (right)
        add_blanks(out, st, pad);
    lines_raw(out, st, buf_str(&cut));
    if (!right)
        add_blanks(out, st, pad);
    buf_release(&cut);
    buf_release(&shown);
}

void
table_row(const struct table_column *cols, const struct table_fit *f, const struct str *cells,
          enum style st, bool ascii, struct lines *out)
{
    bool first = true;
    lines_begin(out, false);
    for (size_t i = 0; i < f->n; i++) {
        if (!f->w[i])
            continue;
        if (!first)
            add_blanks(out, st, GAP);
        first = false;
        add_cell(out, st, cells[i], f->w[i], cols[i].right, ascii);
    }
}

void
table_head(const struct table_column *cols, const struct table_fit *f, bool ascii,
           struct lines *out)
{
    struct str cells[TABLE_COLUMNS];
    for (size_t i = 0; i < f->n; i++)
        cells[i] = str_from(cols[i].title);
    table_row(cols, f, cells, ST_DIM, ascii, out);
}
