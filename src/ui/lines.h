#pragma once
/*
 * Laid-out text: lines of styled spans over one text buffer, and `flow`, a paragraph that is being collected and then
 * wrapped into lines. All text becomes visible text on the way in (text_visible) and tabs become blanks, so columns
 * can be counted. Plain data of one thread.
 *
 *     struct flow f;
 *     flow_init(&f);
 *     flow_add(&f, ST_TEXT, str_from("hello ")); flow_add(&f, ST_BOLD, str_from("world"));
 *     flow_wrap(&f, &lines, &(struct indent){.width = 40});
 *     flow_release(&f);
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "ui/canvas.h"

struct span {
    uint32_t off, len; /* in lines.text */
    uint8_t style;
};
struct line {
    uint32_t span, n_spans;
    bool soft; /* goes on from the line before: no newline between them in the source */
    /* nothing of the source stands on it: the label of a code block, the rule in a table */
    bool drawn;
    uint8_t joint; /* soft: blanks of the source that were dropped at the break */
    uint16_t lead; /* bytes in front that are not of the source: indent, marks, borders */
};
struct lines {
    struct buf text;
    struct span *spans;
    size_t n_spans, cap_spans;
    struct line *line;
    size_t n, cap;
};
struct lines_mark {
    size_t text, spans, n;
};
void lines_init(struct lines *l);
void lines_release(struct lines *l);
void lines_clear(struct lines *l);
struct lines_mark lines_mark(const struct lines *l);
void lines_back(struct lines *l, struct lines_mark m); /* forgets what came after the mark */
void lines_begin(struct lines *l, bool soft);          /* a new, empty line */
void lines_drawn(struct lines *l);                     /* the last line is of ours alone */
/* Adds to the last line; s must be visible text already (flow and lines_add make it so). */
void lines_raw(struct lines *l, enum style st, struct str s);
void lines_add(struct lines *l, enum style st, struct str s);
void lines_addf(struct lines *l, enum style st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int lines_width(const struct lines *l, size_t i);
struct str lines_text(const struct lines *l,
                      size_t i); /* the text of a line; its spans lie side by side */
void lines_draw(const struct lines *l, size_t i, struct canvas *c, struct rect r, int x, int y);
/* Appends line i of `from` with its spans. */
void lines_copy(struct lines *l, const struct lines *from, size_t i);

/* Appends what stands between two places (line, and byte of lines_text; `to` exclusive) as it was written: soft breaks joined, leads,
 * drawn lines and trailing blanks left out. */
struct lines_place {
    size_t line, off;
};
void lines_logical(const struct lines *l, struct lines_place from, struct lines_place to,
                   struct buf *out);
/* Byte of lines_text at column x, at most its length. */
size_t lines_off(const struct lines *l, size_t i, int x);

/* What stands before the lines of a paragraph. Texts are at most a few columns, visible, borrowed. */
struct indent {
    int width; /* of the whole line, 1 or more */
    struct str first, rest;
    enum style style;
    bool soft; /* the first line goes on from the line before */
    bool drop; /* flow_break: a blank at the break is not shown, as in prose; it is copied */
    bool keep; /* `first` belongs to the text: the mark of a list's item */
};
struct flow {
    struct buf text;
    struct run {
        size_t end;
        enum style style;
    } * runs;
    size_t n, cap;
};
void flow_init(struct flow *f);
void flow_release(struct flow *f);
void flow_clear(struct flow *f);
void flow_add(struct flow *f, enum style st, struct str s);
int flow_width(const struct flow *f);
/* Wraps at blanks into lines and empties the flow; nothing when it is empty. */
void flow_wrap(struct flow *f, struct lines *out, const struct indent *in);
/* The same for code, diffs and commands: no blank is lost, and a word is broken only where none stands in the second half of the row. */
void flow_break(struct flow *f, struct lines *out, const struct indent *in);
/* The first `columns` of it onto the last line, cut with an ellipsis when longer, and empties the flow. Returns the width. */
int flow_cut(struct flow *f, struct lines *out, int columns, bool ascii);

/* Appends s as visible text with tabs as blanks to the next fourth column (column 0 at the start of s) and \r\n as \n. */
void visible_add(struct buf *out, struct str s);
/* Appends s in at most `columns`: "head … tail" when longer, cut between words or path parts where one ends nearby, or "head…". s is visible text of one line. True: it was cut. */
bool fold_middle(struct buf *out, struct str s, int columns, bool ascii);
bool fold_end(struct buf *out, struct str s, int columns, bool ascii);
