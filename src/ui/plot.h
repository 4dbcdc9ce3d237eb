#pragma once
/* Bars and plots of cells: a column a value, eighths of a cell high where the terminal has the signs for it. Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "ui/lines.h"

/* A bar of `width` cells, shared by values of `total`; what is over is empty. Each value has a sign of its own, so that no
 * colour is needed to tell them apart. */
struct plot_part {
    double value;
    const char *sign, *sign_ascii; /* one column each */
    enum style style;
};
void plot_bar(const struct plot_part *parts, size_t n, double total, int width, bool ascii,
              struct lines *out);

/* `height` lines, the newest values that fit into `width`, the last at the right end of what is used. values below 0 are not
 * known: a '?' on the lowest line. max: what a full column is (more than 0). */
struct plot {
    const double *values;
    size_t n;
    double max;
    int width, height;
    enum style style;
    int mark_row; /* a line drawn across the empty cells of this row, from the top; -1: none */
};
/* Row `row` (0: the top one) of the plot, added to the last line. */
void plot_row(const struct plot *p, int row, bool ascii, struct lines *out);
/* How many of the newest values are drawn. */
size_t plot_shown(const struct plot *p);
