#pragma once
/*
 * Finding old_string in a text. "\n" in it stands for "\r\n" too. Past the exact reading there are tolerant ones (curly and straight
 * quotes alike, blanks at line ends not counted); they count only when nothing matches exactly and they give
 * exactly one place. Pure; the work is bounded, past the bound a tolerant reading is given up.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum edit_tolerance { EDIT_EXACT = 0, EDIT_QUOTES = 1, EDIT_BLANKS = 2 };

struct edit_place {
    size_t at, len; /* in the text */
};
struct edit_matches {
    struct edit_place *places;
    size_t n, cap;
    bool bytes;         /* old holds "\r" and stands there byte for byte */
    bool more;          /* stopped at EDIT_MAX_PLACES */
    unsigned tolerance; /* what had to be tolerated */
};
enum { EDIT_MAX_PLACES = 100000 };

/* The places of old in text; n 0: none, or a tolerant reading that fits several places. Release with free(places). */
void edit_match(struct str text, struct str old, struct edit_matches *ret);
/* Where byte `old_at` of old falls inside the place: an offset in text. */
size_t edit_match_offset(struct str text, struct edit_place place, struct str old, size_t old_at,
                         unsigned tolerance);

/* The line of text most like old's first line that says something, for the failure message: its number from 1 and extent;
 * false when nothing is alike. *ret_old_line is old's line. */
bool edit_nearest_line(struct str text, struct str old, size_t *ret_number, struct str *ret_line,
                       struct str *ret_old_line);
/* Shows blanks and odd characters: tabs as →, spaces at ends as ·, unsafe ones by name; at most 160 characters. */
void edit_show_line(struct buf *out, struct str line);
/* "a", "3 and 4", ... line number of an offset. */
size_t edit_line_number(struct str text, size_t at);
