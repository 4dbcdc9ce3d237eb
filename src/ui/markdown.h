#pragma once
/*
 * Markdown to styled lines (CommonMark with GitHub's tables, strike-through and task lists; md4c underneath), whole or as it
 * streams in.
 *
 * Streaming: `struct mdstream` remembers up to where the text can no longer change its look (a blank line before an unindented
 * one, a line of fenced code) and lays out only what follows, so the cost of an update does not grow with the text. Where it cuts
 * depends on the text alone, never on how it was chunked: the result is always that of laying out the whole text at once.
 * Reference definitions therefore reach no farther than their own block.
 */
#include <stdbool.h>
#include <stddef.h>

#include "ui/lines.h"

struct md_options {
    int width; /* 1 or more */
    bool ascii;
    enum style base; /* ST_TEXT, or ST_THINK */
    /* more of the text may come: code in its last block has its colours only when that is final */
    bool open;
};
/* Appends the lines of one piece of Markdown. */
void md_render(struct lines *out, struct str text, const struct md_options *o);

struct highlight;
struct mdstream {
    size_t done;            /* bytes whose lines are final */
    struct lines_mark mark; /* where those lines end */
    bool fence;             /* `done` lies inside a top-level fence */
    char fence_char;
    size_t fence_len, fence_indent;
    bool joined;               /* the next block goes on without a blank line: a long one was cut */
    struct highlight *colours; /* of the fence's code; NULL: plain */
    size_t code_bytes;         /* of visible code that they were given */
    size_t code_from;          /* where the fence's code begins ... */
    struct lines_mark code_mark; /* ... and its lines */
};
void mdstream_init(struct mdstream *m);
void mdstream_release(struct mdstream *m); /* as after mdstream_init */
/* Brings `lines` (empty at first, then this stream's own) up to date with the text, which may only have grown since. While a
 * top-level fence is open its lines have the colours that the code up to each of them gives; when it closes, those of the whole. */
void mdstream_update(struct mdstream *m, struct lines *lines, struct str text,
                     const struct md_options *o);

/* Shared with mdstream.c (in markdown_code.c). One line of a code block: kept as it is, broken at the width; visible text already. styles:
 * of its bytes, NULL: all plain. */
void md_code_line(struct lines *out, struct str first, struct str rest, struct str line,
                  const uint8_t *styles, const struct md_options *o);
void md_code_label(struct lines *out, struct str prefix, struct str lang,
                   const struct md_options *o);
