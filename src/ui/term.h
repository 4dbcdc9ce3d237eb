#pragma once
/*
 * The terminal: modes (alternate screen, bracketed paste, mouse, keyboard protocols), colours, keys and the drawing. Only the
 * files term*.c include curses: term.c opens, reads and closes, term_draw.c puts pictures up, term_style.c knows the colours,
 * term_modes.c what curses does not know, term_say.c bell and clipboard. There is one terminal, so there is no handle; while
 * it is not open, what draws or speaks does nothing. Belongs to the UI thread, except term_emergency.
 *
 *     if (!term_open(&(struct term_options){.esc_ms = 75}, &err)) ...
 *     for (;;) { poll(term_fd()); while ((key = term_key(&paste, &wait)) >= 0) ...; term_draw(&canvas); }
 *     term_close();
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "ui/canvas.h"
#include "ui/keys.h"

struct term_options {
    bool no_color, no_mouse, no_alt_screen, ascii;
    int esc_ms; /* how long the bytes of one key may lie apart; 0: 75 */
};
/* False with a clear word when there is no terminal or TERM cannot address the cursor (use -p). */
bool term_open(const struct term_options *o, struct err *err) MUST_CHECK;
/* Is TERM the name of a terminal that can be drawn on? False: err says why not. Not while it is open. */
bool term_usable(struct err *err) MUST_CHECK;
void term_close(void);     /* leaves the terminal as it was found; idempotent */
void term_emergency(void); /* the same from a crash or die(): async-signal-safe writes only */
void term_suspend(void);   /* Ctrl+Z: restore, stop, and come back on SIGCONT with a full repaint */
void
term_continue(void);  /* after a SIGCONT that term_suspend did not see: modes and picture again */
bool term_gone(void); /* the terminal hung up: nothing more will come */
/* Off and on around a program that takes the terminal for a while ($EDITOR). */
void term_leave(void);
void term_enter(void);
int term_fd(void); /* to poll for input */
/* The next key, or -1 when none is complete; YK_PASTE: the pasted text is in *ret_paste (borrowed until the next call). *ret_wait_ms
 * says when to call again for a split escape sequence, -1: not needed. */
int term_key(struct str *ret_paste, int *ret_wait_ms);
/* Where the mouse was at the last YK_MOUSE_ key, from 0. */
void term_mouse(int *ret_x, int *ret_y);
bool term_mouse_toggle(void); /* asks for mouse events or no longer does; true: now it does */
void term_size(int *ret_w, int *ret_h);
bool term_resized(
    void); /* after SIGWINCH: takes the size, the next draw is a whole one; false: it is the same again */
/* Puts the canvas on the screen: only what differs, inside synchronized-update brackets where the terminal has them. */
void term_draw(const struct canvas *c);
void term_redraw(void); /* next draw repaints all */
bool term_stale(void);  /* so it does: the terminal has said how it should look */
void term_bell(void);
/* A desktop notification (OSC 9) with a text of ours, printable ASCII. */
void term_notify(const char *text);
/* Dark (0) or light (1) whatever the terminal says; -1: what COLORFGBG and its background colour say. */
void term_theme(int light);
/* The settings ui.ambiguousWidth (1 or 2 columns; anything else: the terminal is asked) and ui.hyperlinks. The variables
 * YARE_AMBIGUOUS_WIDTH and YARE_HYPERLINKS win. */
void term_ambiguous(int width);
void term_hyperlinks(bool on);
/* Asks the terminal to put text into the clipboard (OSC 52); false: larger than terminals take. */
bool term_copy(struct str text);
bool term_ascii(void); /* borders and marks must be ASCII (no UTF-8 locale) */
