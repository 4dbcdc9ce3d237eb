#pragma once
/* Finding and showing the lines of one text, which may come in windows cut at line ends. */
#include "tools/grep_file.h"

struct grep_text {
    struct grep_worker *w;
    const struct grep_options *o;
    struct grep_hits *hits;
    const struct grep_target *target;
    const char *shown;
    struct str s; /* the window */
    bool ascii;
    size_t next_at; /* the first line not yet passed, and its number */
    int64_t next_no;
    size_t after_left;
    bool any, done;
};
/* Is it certain, by looking at bytes alone, that there is no match in s? */
bool grep_text_has_none(const struct grep_text *f, struct str s);
/* Searches a window of valid UTF-8. last: none follows. */
void grep_text_search(struct grep_text *f, struct str s, bool ascii, bool last);
/* Steps over a window in which there is none. */
void grep_text_pass(struct grep_text *f, struct str s);
