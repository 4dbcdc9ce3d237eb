#pragma once
/*
 * A small text field inside a pane: a reason, a command being edited. Keys in (ui/keys.h), wrapped rows out; a newline in
 * it is shown as a sign and breaks the row, everything unsafe is shown visibly. A paste becomes valid UTF-8 without NUL; one
 * that does not fit is refused whole, and drawing says so until the next key. Belongs to the UI thread.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "ui/canvas.h"

#define FIELD_MAX ((size_t)64 << 10)

struct field {
    struct buf text;
    size_t cursor; /* byte offset, at a grapheme */
    bool refused;  /* the last key brought more than fits */
};
void field_init(struct field *f);
void field_release(struct field *f);
void field_clear(struct field *f);
void field_set(struct field *f, struct str s); /* cursor at its end */
/* True when the key was an editing key; `typed` comes with YK_PASTE. Enter and Esc are the caller's. */
bool field_key(struct field *f, int key, struct str typed);
/* Draws into r, scrolled so that the cursor is seen, and puts the canvas' cursor there. Returns the rows used. */
int field_draw(const struct field *f, struct canvas *c, struct rect r, enum style st, bool ascii);
/* Rows it takes at a width (1 or more). */
int field_rows(const struct field *f, int width);
