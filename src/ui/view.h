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

enum item_kind { ITEM_USER, ITEM_TEXT, ITEM_THINKING, ITEM_TOOL, ITEM_NOTICE, ITEM_ERROR };

struct item { /* one thing in the transcript */
    enum item_kind kind;
    struct buf text;        /* user: the prompt; text: Markdown; notice, error: line; tool: output at its end */
    char *tool_use_id, *name, *what, *summary;
    enum tool_state state;
    bool is_diff, is_error, hidden, open /* fold opened */, done;
    int64_t elapsed_ms;
    uint64_t version;       /* changes whenever what is drawn changes: caches key on it */
};
struct activity { /* one running or recent tool */
    char *id, *name, *what, *last_line, *summary, *agent;
    enum tool_state state;
    int64_t started_ms, elapsed_ms, bytes; /* started_ms monotonic */
};
struct ask { /* a waiting permission request */
    uint64_t id;
    struct event *ev;       /* EV_PERM_ASK, owned */
    int64_t since_ms;       /* monotonic */
};
struct view {
    struct item *items;
    size_t n_items, cap_items;
    struct activity *acts;  /* newest last; done ones beyond 50 are dropped */
    size_t n_acts, cap_acts;
    struct ask *asks;       /* oldest first */
    size_t n_asks, cap_asks;
    /* meters */
    enum perm_mode mode;
    char *model, *session_id, *cwd, *provider;
    int64_t ctx_used, ctx_window;
    const char *ctx_state;
    int64_t in, out, cache_read, cache_write, turn;
    double cost, budget;
    bool estimated, offline, trusted, bypass_allowed;
    bool running;           /* a submit is being worked on */
    int64_t running_since_ms; /* monotonic */
    char *retry;            /* "retry 2 of 10 in 3 s: overloaded", or NULL */
    char *todos_json;       /* or NULL */
    char *last_answer;      /* for the normal screen on exit */
    bool closed;
    uint64_t version;
};
void view_init(struct view *v);
void view_release(struct view *v);
/* Applies and frees the event. */
void view_apply(struct view *v, struct event *take_ev);

/* Where the panes stand at a size. h 0: not shown. UI.md "Panes". */
struct layout {
    struct rect transcript, activity, approval, prompt, status;
    bool strip;   /* activity is a one-line strip */
    bool tiny;    /* under 60x16 */
    bool borders;
};
void layout_make(const struct view *v, int w, int h, int prompt_rows, struct layout *ret);

enum pane { PANE_PROMPT, PANE_TRANSCRIPT, PANE_APPROVAL, PANE_ACTIVITY };

/* Transcript scrolling state and line cache. */
struct transcript;
struct transcript *transcript_new(void);
void transcript_free(struct transcript *t);
void transcript_draw(struct transcript *t, const struct view *v, struct canvas *c, struct rect r, bool focus, bool ascii);
void transcript_scroll(struct transcript *t, const struct view *v, int lines); /* negative: up */
void transcript_home(struct transcript *t, const struct view *v);
void transcript_end(struct transcript *t);
void transcript_prompt_jump(struct transcript *t, const struct view *v, int dir); /* { and } */
bool transcript_toggle(struct transcript *t, struct view *v); /* opens or closes the fold at the cursor line */

/* Permission pane: which request is shown, chain unfolded, diff, the always preview, the reason being typed. */
struct approval {
    uint64_t shown;          /* ask id; never changes under the person */
    int64_t shown_since_ms;  /* keys within 300 ms of this are ignored */
    bool why, confirm_always, typing_reason, diff_open;
    struct buf reason;
    int scroll;
};
void approval_init(struct approval *a);
void approval_release(struct approval *a);
/* Follows the queue: when nothing is shown the oldest takes the pane. */
void approval_sync(struct approval *a, const struct view *v, int64_t now_ms);
void approval_draw(const struct approval *a, const struct view *v, struct canvas *c, struct rect r, bool focus, bool ascii,
                   int64_t now_ms);
/* A key (see ui/keys.h) for the pane; returns an op to post, or NULL; *ret_used says whether the key was taken. */
struct op *approval_key(struct approval *a, const struct view *v, int key, struct str typed, int64_t now_ms,
                        bool *ret_used);

void activity_draw(const struct view *v, struct canvas *c, struct rect r, bool strip, bool focus, int selected, bool ascii,
                   int64_t now_ms);
void meters_draw(const struct view *v, struct canvas *c, struct rect r, bool tiny, bool ascii, int64_t now_ms);
