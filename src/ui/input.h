#pragma once
/*
 * The prompt: several lines of text with a cursor by grapheme, undo, one cut buffer, and large pastes shown as a chip that
 * expands when the text is taken. Knows nothing of terminal, engine or history. UI thread.
 *
 * The text is valid UTF-8 without NUL, but for chips: CHIP_MARK and a byte 0x80 + index stand for chips[index], which
 * no text can hold since whatever comes in is repaired first. Chips live until input_clear.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "ui/canvas.h"
#include "ui/keys.h"

#define INPUT_MAX ((size_t)32 << 20)
#define INPUT_CHIPS 100
#define CHIP_MARK '\xFF'
#define CHIP_LINES 10   /* a paste of more lines than this ... */
#define CHIP_BYTES 1000 /* ... or more bytes becomes a chip */
#define INPUT_PREFIX 2  /* columns of "> " */

struct chip {
    char *text;
    size_t len, lines;
};
struct input_state { /* for undo */
    char *text;
    size_t len, cursor;
};
struct input {
    struct buf text;
    size_t cursor; /* byte offset at a grapheme */
    struct chip chips[INPUT_CHIPS];
    size_t n_chips;
    struct buf cut;
    bool cutting; /* the last key cut: the next cut joins it */
    bool typing;  /* the last change was a typed character: one undo step with the next */
    struct input_state *undo;
    size_t n_undo, cap_undo;
    int goal;  /* column that up and down keep to, -1: none */
    int top;   /* first row drawn */
    int width; /* columns of text, of the last layout */
};
void input_init(struct input *in);
void input_release(struct input *in);
void input_clear(struct input *in); /* also undo and chips */
void
input_set(struct input *in,
          struct str s); /* as a whole, undoable; large text becomes a chip; cursor at the end */
void input_insert(struct input *in, struct str s); /* at the cursor */
void input_paste(struct input *in, struct str s);  /* the same, or as a chip */
bool input_empty(const struct input *in);
bool input_is_shell(const struct input *in); /* it begins with '!': the mark before it says so */
/* The text with chips expanded, bytes as they were pasted (NUL left out). */
void input_expand(const struct input *in, struct buf *out);
/* An editing key (ui/keys.h): true when it was one. Up and Down are not when the cursor is in the first or last row. */
bool input_key(struct input *in, int key);
bool input_action(struct input *in,
                  enum key_action a); /* the same for an action that a chord gave */
/* Enter: true when the text is to be sent, false when it became a newline ("\" before the cursor). */
bool input_enter(struct input *in);

/* Grapheme steps that take a chip as one. */
size_t input_next(const struct input *in, size_t off);
size_t input_before(const struct input *in, size_t off);

/* Rows it takes in a rect of this width. */
int input_rows(struct input *in, int width);
/* Draws into r ("> " first), scrolled so that the cursor is seen, and puts the canvas' cursor there. */
void input_draw(struct input *in, struct canvas *c, struct rect r);
/* Moves the cursor a row; false at the edge. */
bool input_move_row(struct input *in, int dir);
