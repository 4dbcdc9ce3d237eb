#pragma once
/* How one item of the transcript looks, folds included. Text of the model is laid out by ui/markdown. Pure. */
#include <stdbool.h>

#include "ui/lines.h"
#include "ui/view.h"

#define ITEM_DIFF_LINES 12   /* of a diff shown without opening it */
#define ITEM_OUTPUT_LINES 5  /* of Bash output and errors */
#define ITEM_OPEN_LINES 2000 /* of an opened fold */

/* Laid out as Markdown, incrementally: text, and thinking that was opened. */
bool item_is_markdown(const struct item *it);
/* Appends its lines (for Markdown items only what stands above the text: nothing, or the fold's own line). */
void item_lines(const struct item *it, struct lines *out, int width, bool ascii);
/* Something of it can be opened or closed. */
bool item_has_fold(const struct item *it);
/* It takes no line at all (a text block nothing came for). */
bool item_is_empty(const struct item *it);
/* A blank line stands between the two. */
bool item_gap(const struct item *before, const struct item *it);
