#pragma once
/*
 * The one terminal, between term.c (opens, closes, reads it, learns what it is) and term_draw.c (puts pictures on it). UI
 * thread; term_emergency does not look here.
 */
#include <stdbool.h>

#include "ui/canvas.h"
#include "ui/keydec.h"
#include "ui/term_modes.h"
#include "ui/term_style.h"

struct ui_term {
    bool open, entered, gone, ascii;
    bool light, found_light; /* the theme in use, and what the terminal said of itself */
    int wanted;              /* by the person: 0 neither, 1 dark, 2 light */
    SCREEN *screen;
    struct modes_wish wish;
    struct keydec dec;
    bool wide;           /* characters of ambiguous width take two columns */
    bool wide_said;      /* by the person: the terminal is not believed */
    bool links;          /* it knows hyperlinks */
    struct canvas shown; /* what stands on the screen */
    unsigned char *over; /* of its cells: to be written over what curses draws in this frame */
    bool some_over;
    bool all;         /* the next draw repaints */
    int cursor_shown; /* -1: unknown */
    int w, h;
};
extern struct ui_term term;
