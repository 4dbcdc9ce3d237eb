#pragma once
/*
 * A grid of cells that panes draw into and tests read as text; `ui/term` hands it to curses. A cell holds one grapheme
 * cluster (up to CANVAS_BYTES of UTF-8) of one or two columns; the second column of a wide one is a continuation cell. Text is
 * made visible on the way in: a control byte or bidi override never reaches a cell raw. Drawing outside the clip is dropped.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define CANVAS_BYTES 36 /* a kiss of two people with skin tones takes 35 */

/* Roles, not colours: a theme maps them (ui/theme). */
enum style {
    ST_TEXT,
    ST_DIM,
    ST_BOLD,
    ST_TITLE,
    ST_BORDER,
    ST_BORDER_FOCUS,
    ST_PROMPT,
    ST_USER,
    ST_TOOL,
    ST_OK,
    ST_WARN,
    ST_ERROR,
    ST_ADD,
    ST_DEL,
    ST_HUNK,
    ST_CODE,
    ST_HEADING,
    ST_LINK,
    ST_STATUS,
    ST_METER_ON,
    ST_METER_OFF,
    ST_KEY,
    ST_SELECT,
    ST_THINK,
    ST_FOUND,
    ST_SYN_KEYWORD,
    ST_SYN_STRING,
    ST_SYN_COMMENT,
    ST_SYN_FUNCTION,
    ST_SYN_TYPE,
    ST_SYN_NUMBER,
    ST_SYN_CONSTANT,
    ST_SYN_OPERATOR,
    ST_COUNT
};
struct cell {
    /* "" is a blank; NUL to its end, so that cells can be compared as bytes */
    char text[CANVAS_BYTES];
    uint8_t width; /* 1, 2, or 0 for the right half of a wide cluster */
    uint8_t style; /* enum style */
    uint16_t link; /* 0: none; else of canvas_link_url */
};
struct rect {
    int x, y, w, h;
};
struct canvas {
    int w, h;
    struct cell *cells;     /* h rows of w */
    int cursor_x, cursor_y; /* -1: hidden */
    struct canvas_link {
        uint16_t id; /* the same for the same address in every frame */
        char *url;
    } * links;
    size_t n_links, cap_links;
};
void canvas_init(struct canvas *c, int w, int h);
void canvas_release(struct canvas *c);
void canvas_resize(struct canvas *c, int w, int h); /* blank afterwards */
void canvas_clear(struct canvas *c);
/* The part of r that lies on the canvas. */
struct rect canvas_clip(const struct canvas *c, struct rect r);
/* Draws one line of text into `clip` at column x of row y (both relative to clip; x may be negative); returns the column
 * after what was drawn, so at most about clip.w. Tabs run to the next eighth column, a newline is a blank. */
int canvas_text(struct canvas *c, struct rect clip, int x, int y, enum style st, struct str s);
int canvas_textf(struct canvas *c, struct rect clip, int x, int y, enum style st, const char *fmt,
                 ...) __attribute__((format(printf, 6, 7)));
void canvas_fill(struct canvas *c, struct rect r, enum style st, const char *grapheme);
void canvas_box(struct canvas *c, struct rect r, enum style st, struct str title, bool ascii);
void canvas_style(struct canvas *c, struct rect r, enum style st); /* restyles what stands there */
/* What stands there leads to the address: printable ASCII, at most CANVAS_URL bytes; others are left out. */
#define CANVAS_URL 2000
void canvas_link(struct canvas *c, struct rect r, struct str url);
const char *canvas_link_url(const struct canvas *c, uint16_t id); /* NULL: none */
void canvas_cursor(struct canvas *c, int x, int y);
/* The canvas as text, rows joined by newlines, trailing blanks cut: for goldens. */
void canvas_dump(const struct canvas *c, struct buf *out);
