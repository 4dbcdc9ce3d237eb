#pragma once
/* Inside of the transcript pane, between the files transcript*.c. UI thread. */
#include "ui/transcript_cache.h"
#include "ui/view.h"

/* A place: a line of an item, its gap above included. Items by their number. */
struct place {
    uint64_t no;
    int line;
};
/* What is waited for from the session's past, and what then goes on. */
enum want {
    WANT_NONE,
    WANT_ABOVE,  /* the page above */
    WANT_BELOW,  /* the page below */
    WANT_HOME,   /* the first page */
    WANT_MESSAGE /* the page with a message */
};
enum then { THEN_NOTHING, THEN_SCROLL, THEN_PROMPT, THEN_FIND };
struct search {
    struct buf needle;
    struct place found;
    bool some; /* `found` is a hit */
    /* another search brought the person here: this one begins at the end, not with what is seen */
    bool from_end;
    bool ask;      /* the engine is still to be asked */
    uint64_t seq;  /* of that query while it is under way */
    int64_t *hits; /* messages that hold it, in order */
    size_t n_hits;
    bool known, complete; /* the answer is there; it has all */
};
struct spot {
    struct place at;
    int x;
};
struct transcript {
    struct cache cache;
    int w, h;             /* as last drawn */
    bool follow;          /* the tail is shown */
    bool go_to_tail;      /* End: the past is let go */
    struct place top;     /* first line shown; kept up to date while following */
    uint64_t first, last; /* items seen at the last drawing */
    uint64_t cursor;      /* item + 1; 0: none chosen */
    uint64_t seen;        /* the newest item when the tail was left ... */
    int seen_height;      /* ... and its height then */
    uint64_t epoch;       /* of the view */
    struct search search;
    struct spot pressed, dragged;
    bool pressing, selected; /* the button is down; the two differ */
    enum want want;
    /* WANT_MESSAGE: of the message; else before what the page shall end, -1: as usual */
    int64_t want_index;
    enum then then;
    int then_arg;           /* lines, or a direction */
    uint64_t seq, last_seq; /* of the page under way, 0: none */
    int64_t barren;         /* what was asked above this message gave nothing */
};

/* transcript.c */
void transcript_let_past_go(struct transcript *t, struct view *v);
bool transcript_ready(struct transcript *t, struct view *v);
int transcript_height(struct transcript *t, const struct view *v, size_t i);
void transcript_leave_tail(struct transcript *t, struct view *v);
void transcript_settle(struct transcript *t, const struct view *v);
/* Puts a line of item i on top, or as near as it gets, and the cursor on the item. */
void transcript_show(struct transcript *t, struct view *v, size_t i, int line);
/* transcript_select.c */
void select_draw(const struct transcript *t, struct place at, const struct lines *l, int line,
                 struct canvas *c, struct rect r, int y);
/* transcript_link.c: what looks like an address in the line becomes a link */
void link_draw(const struct lines *l, int line, struct canvas *c, struct rect r, int y);
/* transcript_past.c: asks for a page; `then` is done when it is there. */
void transcript_want(struct transcript *t, enum want want, int64_t index, enum then then, int arg);
/* What the line below the transcript says of a search or of what is being read; nothing: "". Two blanks: what follows may be left
 * out where there is no room. */
void transcript_note(const struct transcript *t, const struct view *v, struct buf *out);
/* transcript_search.c */
void search_init(struct search *s);
void search_release(struct search *s);
void search_forget(struct search *s); /* no search any more */
void search_take_hits(struct search *s, struct str json);
/* The lines around line k that soft breaks join, as one text in `out`. (*from)[i], yours: where the text of line *ret_first + i
 * begins in it; one more at the end. */
struct str joined_line(const struct lines *l, size_t k, struct buf *out, size_t *ret_first,
                       size_t **from);
void search_draw(const struct search *s, const struct lines *l, int line, struct canvas *c,
                 struct rect r, int y);
