#pragma once
/*
 * What a permission request is about, as lines: the command and the findings of the chain, made from the bytes that were
 * checked. Stricter than other panes: every character without a column of its own is shown as its code, a carriage
 * return is never a newline. What is cut is cut in the middle, with head and tail, and said so. Pure.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/verdict.h"
#include "ui/lines.h"

/* Before the rows that a text goes on in: no text can imitate it. */
#define PARTS_BAR(ascii) ((ascii) ? STR("| ") : STR("│ "))

/* Appends s with everything that could hide, reorder or pass for other text as its code (<U+0430>, ^M, ^I); newlines stay, and
 * tabs that indent a line as blanks. ascii: and everything that this terminal would show as a question mark. */
void strict_visible(struct buf *out, struct str s, bool ascii);

void strict_add(struct flow *f, enum style st, struct str s, bool ascii); /* the same, as a run */

/* What of that there is in a text, a line for each kind: "! looks like others: U+0430". `file`: it is the content of a file, where
 * tabs and carriage returns mean no harm. */
void odd_lines(struct lines *out, struct str s, bool file, int width, bool ascii);

/* The lines of a long text, at most `rows` (1 or more): its first and last ones, and how much lies between. True: it was cut.
 * `prefix` ("$ ") stands before the first. */
bool text_rows(struct lines *out, struct str text, struct str prefix, int width, int rows,
               bool ascii);

/* Appends the input of a search (Grep, Glob), "key   value" on a line each. False: it is none, or not so short and plain that
 * lines could not be taken for others; nothing was appended. */
bool search_lines(struct buf *out, struct str tool, struct str input);

/* How much of the findings is said, from everything to one line for each part that asks. */
enum detail { DETAIL_ALL, DETAIL_NO_OK, DETAIL_FIRST, DETAIL_LINE, DETAIL_COUNT };
/* Findings by sub-command or path, those that ask or deny first. `command`: not repeated when it is the only part; NULL.
 * rows: DETAIL_COUNT: at most so many; DETAIL_FIRST: so many to spare for what would be cut, then for further reasons; 0: no limit, none. True: something that asks is not, or not wholly, on these lines. */
bool parts_lines(struct lines *out, const struct decision *d, struct str command,
                 enum detail detail, int width, int rows, bool ascii);
/* The whole chain: every finding with layer, rule, file:line, reason, confidence. */
void chain_lines(struct lines *out, const struct decision *d, int width, bool ascii);
