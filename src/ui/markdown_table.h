#pragma once
/* A table while its cells come in, and its lines at the end. For ui/markdown only. */
#include "ui/lines.h"
#include "ui/markdown.h"

#define MD_TABLE_COLS 32
#define MD_TABLE_ROWS 1000

enum md_side { MD_LEFT, MD_CENTER, MD_RIGHT };
struct md_cell {
    struct flow text;
    enum md_side side;
};
struct md_table {
    struct md_cell *cells; /* rows of n_cols */
    size_t n_cols, n_rows, cap;
    size_t col;      /* the next cell of the last row */
    size_t left_out; /* rows past the cap */
};
void md_table_init(struct md_table *t, size_t n_cols);
void md_table_release(struct md_table *t);
void md_table_row(struct md_table *t);
/* Takes the text of a cell, leaving the flow empty. */
void md_table_cell(struct md_table *t, enum md_side side, struct flow *text);
/* Columns share the width: the widest give way first, their cells are cut with an ellipsis. */
void md_table_lines(struct md_table *t, struct lines *out, struct str prefix,
                    const struct md_options *o);
