#pragma once
/* Cells to curses: the theme as colour pairs, and a cell's text as what curses and the locale can hold. Included by term*.c
 * only. */
#include <curses.h>

#include "base/buf.h"
#include "ui/canvas.h"

/* Learns what colours there are; call once after newterm. */
void term_style_start(bool no_color);
void term_style_set(bool light); /* (re)makes the pairs */
/* Characters of ambiguous width take two columns here: those that have an ASCII look (borders, marks, quotes) are shown by it. */
void term_style_wide(bool wide);
/* What selects a role's look (SGR), for text that does not go through curses. */
void term_style_sgr(enum style st, struct buf *out);
/* Draws one cell at (y, x) of stdscr; the cell is not a continuation. */
void term_style_cell(int y, int x, const struct cell *cell, bool ascii);
/* Appends what the cell looks like as text. Curses holds one spacing character in a cell, and an emoji family, a flag or a vowel beside
 * its letter are more: of those, all of the cluster, and returned is how many columns a terminal uses that does not join it.
 * 0: curses has all of it. */
int term_style_text(const struct cell *cell, bool ascii, struct buf *out);
