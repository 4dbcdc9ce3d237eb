#pragma once
/*
 * Completion above the prompt: "/" commands at its start with their arguments, "@" files anywhere (@"a name" where it has blanks). Follows the text as it is typed; files are asked of the
 * engine, one question at a time, and sifted here while the answer still holds. Enter never completes unless a row was
 * chosen, so what was typed is what is sent. UI thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "engine/event.h"
#include "ui/canvas.h"
#include "ui/commands.h"
#include "ui/input.h"

enum complete_kind {
    COMPLETE_NONE,
    COMPLETE_COMMAND,
    COMPLETE_HINT /* the arguments of a command */,
    COMPLETE_FILE
};

#define COMPLETE_ROWS 8     /* on the screen at a time */
#define COMPLETE_MAX 200    /* that can be gone through */
#define COMPLETE_FILES 2000 /* an answer of this many may not be all */

struct complete {
    enum complete_kind kind;
    size_t start;                    /* of the word in the text, after its sign */
    char *word;                      /* what is being completed; NULL: nothing */
    char *closed;                    /* the word at which the person closed the list; NULL */
    const struct commands *commands; /* borrowed, set once; NULL: none complete */
    const char *rows[COMPLETE_MAX];  /* borrowed from files or commands */
    const char *args[COMPLETE_MAX];
    const char *helps[COMPLETE_MAX];
    size_t n_rows;
    size_t selected;
    size_t top;   /* the first of those on the screen */
    bool chosen;  /* with Up or Down */
    char **files; /* the last answer */
    size_t n_files, cap_files;
    char *asked;  /* what it was asked for */
    uint64_t seq; /* of the question under way; 0: none */
    uint64_t last_seq;
};
void complete_init(struct complete *c);
void complete_release(struct complete *c);
/* After every change of the text. A question for the engine, or NULL. */
struct op *complete_follow(struct complete *c, const struct input *in);
void complete_answer(struct complete *c,
                     const struct event *ev); /* EV_ANSWER; others' answers are passed over */
/* The text was not typed but recalled: no list over it until it changes, Up and Down go on to the next. */
void complete_hush(struct complete *c, const struct input *in);
/* Up, Down, Tab, Enter once a row was chosen, Esc: true when taken. */
bool complete_key(struct complete *c, struct input *in, int key);
/* Above the row `bottom`, as wide as r. */
void complete_draw(const struct complete *c, struct canvas *canvas, struct rect r, int bottom,
                   bool ascii);
