#pragma once
/*
 * One run of md_render, between markdown.c (blocks: quotes, lists, headings, tables), markdown_span.c (what runs inside a line)
 * and markdown_code.c (blocks of code). md4c calls the md_enter_, md_leave_ and md_add_ functions; each returns 0, or -1 to stop.
 */
#include <md4c.h>

#include "ui/markdown.h"
#include "ui/markdown_table.h"

#define MD_DEPTH 12 /* deeper nesting is laid out like the last level */

/* A quote, or an item of a list. */
struct md_level {
    bool quote;
    char mark[16]; /* item: its bullet or number with a blank behind */
    bool pending;  /* item: nothing of it was written yet, the mark is still to come */
};
struct md_list {
    bool ordered, tight;
    unsigned next;
};
struct md {
    struct lines *out;
    const struct md_options *o;
    struct str source; /* the copy that is parsed */
    struct flow flow;
    struct md_level levels[MD_DEPTH];
    struct md_list lists[MD_DEPTH];
    size_t n_levels, n_lists; /* may pass MD_DEPTH: what lies deeper shares the last slot */
    size_t start;             /* line at which this piece began */
    bool gap;                 /* a blank line is due before the next block */
    bool heading, head_row;
    unsigned bold, strike, link; /* open spans */
    size_t link_from;            /* flow length at which the link text began */
    struct buf href, code, lang;
    bool in_code;
    struct md_table table;
    bool in_table;
    enum md_side side;
};

/* markdown.c */
/* Appends what stands before a line at the present depth, at most half the width. first: with the mark of an item, which is
 * then used up. */
void md_prefix(struct md *m, struct buf *out, bool first);
/* The blank line that is due, if one is. */
void md_gap(struct md *m);

/* markdown_span.c */
int md_enter_span(MD_SPANTYPE type, void *detail, void *user);
int md_leave_span(MD_SPANTYPE type, void *detail, void *user);
int md_add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user);

/* markdown_code.c: the text between the two is gathered in m->code. */
void md_code_begin(struct md *m, const MD_BLOCK_CODE_DETAIL *d);
void md_code_end(struct md *m);
