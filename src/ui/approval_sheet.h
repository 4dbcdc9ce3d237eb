#pragma once
/*
 * The permission pane while it is drawn, between approval_draw.c (where things stand) and approval_body.c (what they say). UI thread;
 * lives as long as one drawing.
 */
#include "ui/approval.h"

/* A pane being drawn: a head and a foot that stay, and in between what stays and what scrolls. */
struct sheet {
    struct approval *a;
    const struct view *v;
    const struct ask *ask;
    int w, h;
    bool focus, ascii;
    int64_t now_ms;
    struct lines odd, top, scroll, foot;
    struct buf words; /* of a search, for sheet_text */
    bool shortened;   /* even what scrolls is not all of it */
    int missing;      /* rows of reasons that are cut, and nothing on the rows says so */
};

/* The command, path or search that is asked about; *ret_prefix stands before it. Borrowed until the next call. */
struct str sheet_text(struct sheet *s, const char **ret_prefix);
/* Fills top and scroll: the request and its findings in so many rows, what asks comes first, the text gets what is left. */
void sheet_main(struct sheet *s, int rows);
/* Rows that sheet_main would need to say all but the diff. */
int sheet_rows(struct sheet *s);
/* ... the diff, below the file that it changes. */
void sheet_diff(struct sheet *s, int rows);
/* ... the text, the chain and the diff, all of it. */
void sheet_why(struct sheet *s);
/* ... what "always" would save, and where, before it is saved. */
void sheet_always(struct sheet *s);
