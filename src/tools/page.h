#pragma once
/*
 * A page of a file as Read shows it: "cat -n" lines (number right-aligned to 6, tab, text) from `first` on, at most `limit`
 * of them (0: all that fit), within a budget of characters and estimated tokens. Long lines are cut with a marker. Lines are fed in order
 * from line 1; those outside are only counted.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { PAGE_LINE_CHARS = 2000, PAGE_LINE_BYTES = PAGE_LINE_CHARS * 4, PAGE_TOKENS = 25000 };

struct page {
    struct buf *out;   /* numbered lines */
    struct buf *plain; /* the same without numbers */
    int64_t first, limit;
    size_t max_chars, chars, bytes;
    int64_t lines; /* fed so far */
    int64_t shown;
    bool full; /* the budget ended it */
    bool done; /* nothing fed from here on would be shown */
};

/* line: without its newline, at least the first PAGE_LINE_BYTES; whole_len: its full length in bytes. */
void page_line(struct page *p, struct str line, uint64_t whole_len);
/* Splits text into lines and feeds them; a "\r" before a newline is not shown. */
void page_text(struct page *p, struct str text);
