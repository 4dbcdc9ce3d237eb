#pragma once
/*
 * The view model: what the panes show, built from events alone. Owned by the UI thread. view_apply takes each event of
 * the engine; panes (transcript, activity, approval, meters) read it and draw into a canvas. Nothing here touches a terminal
 * or the engine, so that a list of events and a size give a screen.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/event.h"
#include "ui/canvas.h"
#include "ui/field.h"
#include "ui/keys.h"

enum item_kind { ITEM_USER, ITEM_TEXT, ITEM_THINKING, ITEM_TOOL, ITEM_NOTICE, ITEM_ERROR };

struct item { /* one thing in the transcript */
    enum item_kind kind;
    /* user: the prompt; text: Markdown; notice, error: line; tool: output at its end */
    struct buf text;
    char *tool_use_id, *name, *what, *summary;
    char *last_line; /* tool: of its output while it runs; NULL else */
    /* tool: a line over the batch that begins with it; hidden user: what it is; NULL else */
    char *over;
    /* tool: the classifier let it through in the person's place, and why; NULL: it did not */
    char *judged;
    enum tool_state state;
    bool is_diff, is_error, hidden, open /* fold opened */, done;
    bool aside;                /* the tour's own words: no search finds them */
    int64_t elapsed_ms, bytes; /* bytes: of the tool input that is streaming in */
    int block_index;           /* of the open block that fills it; -1: none */
    uint64_t version;          /* changes whenever what is drawn changes: caches key on it */
    uint64_t no;   /* grows along the transcript; the same when it was let go and read back */
    int64_t place; /* of its message in the conversation, from 1 (event.place); 0: not known */
};
/* An older stretch of the session, read back while somebody looks at it. */
struct past {
    struct item *items;
    size_t n, cap, text_bytes;
    int64_t from, to; /* messages [from, to), from 0 */
    bool joined;      /* it ends where the items in view.items begin */
};
struct activity { /* one running or recent tool */
    char *id, *name, *what, *last_line, *summary, *agent;
    char *task; /* "bash_1": a command that goes on, or went on, in the background; NULL: not */
    char *processes; /* below it, a line each, or NULL */
    enum tool_state state;
    int64_t started_ms, elapsed_ms, bytes; /* started_ms monotonic */
};
struct ask { /* a waiting permission request */
    uint64_t id;
    struct event *ev; /* EV_PERM_ASK, owned */
    int64_t since_ms; /* monotonic */
    uint64_t serial;  /* never used twice, unlike an id that the engine may ask again */
};
enum todo_state { TODO_PENDING, TODO_ACTIVE, TODO_DONE };
struct todo {
    char *text;
    enum todo_state state;
};
struct view {
    /* the newest VIEW_ITEMS at most; the text of a text or thinking item only ever grows */
    struct item *items;
    size_t n_items, cap_items;
    /* items that were let go at the front: items[i] is number dropped + i of the session */
    uint64_t dropped;
    size_t text_bytes; /* held by the items */
    struct past past;
    int64_t at_place; /* of the event that is being applied */
    uint64_t last_no;
    uint64_t shape; /* changes when items come or go */
    /* changes when the history became another one: nothing of before is to be shown */
    uint64_t epoch;
    bool hold;             /* somebody reads in the items: they are let go later than usual */
    struct activity *acts; /* newest last; done ones beyond 50 are dropped */
    size_t n_acts, cap_acts;
    struct ask *asks; /* oldest first */
    size_t n_asks, cap_asks;
    /* meters */
    enum perm_mode mode;
    char *model, *session_id, *cwd, *provider;
    int64_t ctx_used, ctx_window;
    const char *ctx_state;
    int64_t in, out, cache_read, cache_write, turn;
    double cost, budget;
    bool estimated, offline, fast, trusted, bypass_allowed;
    bool running;             /* a submit is being worked on */
    bool compacting;          /* ... or a summary is being written */
    bool compact_alone;       /* running for that alone */
    int64_t running_since_ms; /* monotonic */
    uint64_t attempt_no;      /* newest item when the turn's request went out */
    bool redo;           /* it is asked anew: what came of it goes when the new answer begins */
    char *retry;         /* "retry 2 of 10: overloaded", or NULL */
    int64_t retry_at_ms; /* monotonic: when the next attempt starts */
    char *todos_json;    /* or NULL */
    struct todo *todos;  /* what it says */
    size_t n_todos;
    char *last_answer; /* for the normal screen on exit */
    bool closed;
    bool show_todos, full; /* set by the app: Ctrl+T, Ctrl+O */
    int ask_rows; /* that the request which is shown needs, set by drawing: the pane beside grows to them */
    uint64_t version; /* changes with everything that may change the picture */
};
/* What is kept in memory of a session; all of it stands in the journal. */
#define VIEW_ITEMS 3000
#define VIEW_BYTES ((size_t)12 << 20)
#define VIEW_OUTPUT ((size_t)256 << 10) /* of one tool's output */
#define VIEW_PLACE_BITS 20              /* an item's number has its message's place above these */
#define PAST_ITEMS 2000
#define PAST_BYTES ((size_t)6 << 20)
void view_init(struct view *v);
void view_release(struct view *v);
/* Applies and frees the event. */
void view_apply(struct view *v, struct event *take_ev);
/* The items that can be scrolled through now: the past and, where it reaches up to them, the live ones. */
size_t view_len(const struct view *v);
struct item *view_at(const struct view *v, size_t i);
/* The item with the least number that is not below `no`, or the last one; 0 when there is none. */
size_t view_find(const struct view *v, uint64_t no);
bool view_joined(const struct view *v); /* view_at's last item is the newest there is */
int64_t view_first_message(
    const struct view
        *v); /* index of the first message that view_at has some of; 0: nothing is above */
/* How the answer to QUERY_HISTORY goes with what there is. */
enum view_page { PAGE_ABOVE, PAGE_BELOW, PAGE_ALONE };
/* Takes a page (the answer's JSON) into the past. False: it does not fit there (not adjacent, no page at all); what can be asked for
 * instead is in *ret_before, -1: nothing. */
bool view_take_page(struct view *v, struct str json, enum view_page how, int64_t *ret_before);
void view_past_clear(struct view *v);

enum pane { PANE_PROMPT, PANE_TRANSCRIPT, PANE_APPROVAL, PANE_ACTIVITY };

/* Where the panes stand at a size: what may be drawn on inside the frame. w or h 0: not shown. */
struct layout {
    struct rect transcript, activity, approval, todos, prompt, status;
    int w, h;
    int side_x; /* column of the border left of the side column; -1: none */
    bool strip; /* activity is a one-line strip */
    bool tiny;  /* under 60x16 */
    bool borders;
};
void layout_make(const struct view *v, int w, int h, int prompt_rows, struct layout *ret);

/* Transcript scrolling state and line cache. */
struct transcript;
struct transcript *transcript_new(void);
void transcript_free(struct transcript *t);
void transcript_draw(struct transcript *t, const struct view *v, struct canvas *c, struct rect r,
                     bool focus, bool ascii);
void transcript_scroll(struct transcript *t, struct view *v, int lines); /* negative: up */
void transcript_page(struct transcript *t, struct view *v,
                     int dir); /* a pane's height, one row kept */
void transcript_home(struct transcript *t, struct view *v);
void transcript_end(struct transcript *t);
void transcript_prompt_jump(struct transcript *t, struct view *v, int dir); /* { and } */
/* The cursor stands on an item that has a fold: moves it, scrolling where needed. */
void transcript_move(struct transcript *t, struct view *v, int dir);
bool transcript_toggle(struct transcript *t,
                       struct view *v); /* opens or closes the fold at the cursor line */
/* The item under the cursor, for copy and pager (its `text` is the logical text: no borders, no soft wraps); NULL: none. */
const struct item *transcript_item(struct transcript *t, struct view *v);
/* Puts the next (dir 1) or previous (-1) line that holds the text, without case, on top: at once where it is in memory
 * (FIND_HIT), else when the engine has answered (FIND_WAIT; transcript_query has the question). */
enum find { FIND_NONE, FIND_HIT, FIND_WAIT };
enum find transcript_search(struct transcript *t, struct view *v, struct str needle, int dir);
void transcript_search_end(struct transcript *t); /* nothing is marked any more */
/* After keys, events and answers: what to ask the engine, NULL: nothing. EV_ANSWERs go to transcript_answer; true: it was this
 * pane's. Without an engine that answers, what is in memory is all there is. */
struct op *transcript_query(struct transcript *t, struct view *v);
bool transcript_answer(struct transcript *t, struct view *v, const struct event *ev);
/* Mouse: x and y are inside the pane as last drawn. A press begins a selection, a drag moves its other end. */
void transcript_press(struct transcript *t, struct view *v, int x, int y);
void transcript_drag(struct transcript *t, struct view *v, int x, int y);
/* The release. Where the press was: the item there gets the cursor, its fold opens or closes. True: something is chosen now. */
bool transcript_release(struct transcript *t, struct view *v, int x, int y);
/* The selection as it was written: no borders, no padding, soft breaks joined. False: nothing is selected. */
bool transcript_selection(struct transcript *t, struct view *v, struct buf *out);
/* All that is in memory in that form, for a screen of this width. */
void transcript_print(const struct view *v, int width, bool ascii, struct buf *out);
bool transcript_at_end(const struct transcript *t);

/* Permission pane: which request is shown, chain unfolded, diff, the always preview, the reason being typed. */
struct approval {
    uint64_t shown;   /* ask id; never changes under the person */
    uint64_t serial;  /* of the ask that is shown; 0: none */
    uint64_t offer;   /* of it: what "always" answers */
    int64_t taken_ms; /* when the request took the pane */
    /* keys within 300 ms of this are ignored: since it is on the screen in a pane that has the focus */
    int64_t shown_since_ms;
    bool focused; /* it was drawn with the focus */
    bool why, confirm_always, typing_reason, diff_open, editing;
    /* set by drawing: something of it was never on the screen, "always" is not offered */
    bool folded;
    struct {                    /* what of it was on the screen, also set by drawing */
        bool text, diff, rules; /* all of it */
        int view, w,
            to; /* of what scrolls now: its kind and width, and how many rows from its start on were seen */
    } seen;
    uint64_t drawn; /* serial that was last drawn with the focus: no key answers another */
    /* what was written about went away: until the person pauses, keys are meant for that */
    bool typed_on;
    int answer_key; /* that gave the last answer, and when it came last: while it is held down it gives no other */
    int64_t answer_ms;
    bool chosen;        /* the person went to this one: they can go on looking at once */
    struct field field; /* the reason, or the command being edited */
    const char *note;   /* why the last key did nothing; static */
    int scroll, max_scroll;
    int page;              /* rows that scroll, at the last drawing */
    uint64_t answered[16]; /* serials answered, the engine's word still to come */
    unsigned n_answered;
    /* a changed command went out, and may come back as a request of its own; 0: none did */
    int64_t edited_ms;
};
void approval_init(struct approval *a);
void approval_release(struct approval *a);
/* Follows the queue: when nothing is shown the oldest takes the pane. */
void approval_sync(struct approval *a, const struct view *v, int64_t now_ms);
/* Rows in which all of the request that is shown can be read at a width, its diff aside. */
int approval_rows(struct approval *a, const struct view *v, int w, bool ascii);
/* Draws inside r, and puts the canvas' cursor into a field that is open when the pane has the focus. */
void approval_draw(struct approval *a, const struct view *v, struct canvas *c, struct rect r,
                   bool focus, bool ascii, int64_t now_ms);
/* "permission 1 of 2" */
void approval_title(const struct approval *a, const struct view *v, struct buf *out);
/* the diff or the whole chain is open: it takes the whole screen while it has the focus */
bool approval_full(const struct approval *a);
bool approval_waiting(const struct approval *a,
                      const struct view *v); /* a request is shown and not yet answered */
/* Until when an empty pane keeps the focus, because a changed command is being judged again; -1: nothing is on its way. */
int64_t approval_holds_until(const struct approval *a);
void approval_let_go(struct approval *a); /* the changed command runs, or the turn is over */
/* A key (see ui/keys.h) for the pane; `typed`: the text of a paste. Returns an op to post, or NULL; *ret_used says whether
 * the key was taken (Esc is, only while it closes something inside the pane). */
struct op *approval_key(struct approval *a, const struct view *v, int key, struct str typed,
                        int64_t now_ms, bool *ret_used);
/* The same for an action that a chord gave; false: it is none of the pane's, or not now. */
bool approval_action(struct approval *a, const struct view *v, enum key_action act, int64_t now_ms,
                     struct op **ret_op);
/* A key of that time was not meant for the request that is shown. */
bool approval_guarded(const struct approval *a, int64_t now_ms);
/* The request that is shown has no such key: a letter begins a sentence. */
bool approval_means_nothing(const struct approval *a, const struct view *v, int key,
                            int64_t now_ms);
bool approval_typing(const struct approval *a);   /* a reason or a command is being written */
void approval_wheel(struct approval *a, int key); /* scrolls what is shown of the request */

/* What runs below a tool, a line each, as its log says. True: that is news. */
bool view_set_processes(struct view *v, const char *id, const char *lines);
void activity_draw(const struct view *v, struct canvas *c, struct rect r, bool strip, bool focus,
                   int selected, bool ascii, int64_t now_ms);
/* The tool in place `shown` of the pane (running ones first, then those that wait, commands in the background, and what is over;
 * the newest first); NULL past the end. */
const struct activity *activity_at(const struct view *v, int shown);
/* The place of the tool that activity_draw shows in row y of r; -1: none. */
int activity_place(const struct view *v, struct rect r, bool strip, bool focus, int selected,
                   int y);
void meters_draw(const struct view *v, struct canvas *c, struct rect r, bool tiny, bool ascii,
                 int64_t now_ms);
void todo_draw(const struct view *v, struct canvas *c, struct rect r, bool ascii);

/* Everything but the prompt: the frame with its titles and all panes. The caller draws the prompt into l->prompt and sets
 * the canvas' cursor there first; panes with an open field move it. */
struct panes {
    const struct view *view;
    struct transcript *transcript;
    struct approval *approval;
    enum pane focus;
    int selected; /* place in the activity pane */
    bool ascii;
    int64_t now_ms;
};
void panes_draw(const struct panes *p, const struct layout *l, struct canvas *c);
