#pragma once
/*
 * Bytes of a terminal to keys. Pure: no terminal, no clock of its own, so it can be tested and fuzzed by bytes alone.
 * Knows UTF-8, Alt as an ESC prefix, CSI and SS3 keys of xterm, rxvt, linux and screen, CSI u and modifyOtherKeys,
 * SGR mouse, focus, bracketed paste; answers to queries and unknown sequences are swallowed whole.
 *
 * A key may come in pieces: bytes at most `esc_ms` apart belong together, so a lone ESC is told from the start of an
 * arrow key only after that long. The caller reads what is there before it asks, so a busy program never mistakes one
 * for the other. Belongs to one thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define KEYDEC_ESC_MS 75

enum keydec_background { BACKGROUND_UNKNOWN, BACKGROUND_DARK, BACKGROUND_LIGHT };

struct keydec {
    struct buf in; /* bytes not yet decoded, from `pos` on */
    size_t pos;
    struct buf paste;  /* the paste that is coming in */
    size_t paste_seen; /* how far it was searched for its end */
    bool pasting;
    struct buf given; /* the paste handed out last */
    int esc_ms;
    int64_t last_ms; /* when the last byte came */
    struct {
        char bytes[16];
        int key;
    } own[24]; /* the terminal description's own key strings */
    size_t n_own;
    int mouse_x, mouse_y; /* column and row of the last YK_MOUSE_ key, from 0 */
    /* answers of the terminal */
    bool sync_update; /* it has mode 2026 */
    enum keydec_background background;
    int ambiguous; /* columns of a character of ambiguous width, asked for at the top left corner; 0: not said */
};
void keydec_init(struct keydec *d, int esc_ms); /* 0: KEYDEC_ESC_MS */
void keydec_release(struct keydec *d);
void keydec_clear(struct keydec *d); /* forgets what is pending (after a suspend) */
/* A key string of the terminal description; those that the decoder knows anyway do no harm. */
void keydec_own(struct keydec *d, const char *bytes, int key);
void keydec_feed(struct keydec *d, struct str bytes, int64_t now_ms);
/* The next key (ui/keys.h) or -1. YK_PASTE: the text is in *ret_paste until the next call. *ret_wait_ms: when to ask
 * again though no byte came, -1: not needed. */
int keydec_next(struct keydec *d, int64_t now_ms, struct str *ret_paste, int *ret_wait_ms);
