#pragma once
/*
 * Columns of a table at any width: those that matter least are left out where it is narrow, and one takes what is left over.
 * Pickers and pages lay their rows out with it. Pure.
 *
 *     static const struct table_column cols[] = {{"title", .min = 10, .flex = true, .keep = 9}, {"size", 6, .right = true, .keep = 1}};
 *     struct table_fit f;
 *     table_fit(cols, 2, width, &f);
 *     table_row(cols, &f, cells, ST_TEXT, ascii, &lines);
 */
#include <stdbool.h>
#include <stddef.h>

#include "ui/lines.h"

#define TABLE_COLUMNS 10

struct table_column {
    const char *title;
    int min;    /* columns it needs; a flexible one may get more */
    bool right; /* numbers */
    bool flex;
    int keep; /* the least goes first */
};
struct table_fit {
    size_t n;
    int w[TABLE_COLUMNS]; /* 0: left out */
};
void table_fit(const struct table_column *cols, size_t n, int width, struct table_fit *ret);
/* One line; cells[i] belongs to column i and may be empty. What is too long ends in an ellipsis. */
void table_row(const struct table_column *cols, const struct table_fit *f, const struct str *cells,
               enum style st, bool ascii, struct lines *out);
void table_head(const struct table_column *cols, const struct table_fit *f, bool ascii,
                struct lines *out);
