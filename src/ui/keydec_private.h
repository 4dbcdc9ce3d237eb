#pragma once
/*
 * Between keydec.c, which finds where a key ends among the bytes, and keydec_csi.c, which knows what a whole sequence means.
 * Keys are those of ui/keys.h, -1: the sequence is no key (an answer, a key let go, nothing known).
 */
#include "ui/keydec.h"

/* body: what stands between ESC [ and the final byte. Mouse place and answers are left in *d. */
int keydec_csi(struct keydec *d, struct str body, char final);
/* The final byte of a cursor, function or keypad key, without modifiers. */
int keydec_letter(char final);
/* The KM_ bits of a modifier parameter: one more than the sum of 1 shift, 2 alt, 4 ctrl, 8 super, 32 meta; 0: none. */
int keydec_modifiers(int param);
/* An OSC string: the terminal's background colour is left in *d, everything else is passed over. */
void keydec_string(struct keydec *d, struct str body);
