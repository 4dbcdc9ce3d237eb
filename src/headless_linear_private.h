#pragma once
/* Between headless_linear.c (the loop and what is typed) and headless_linear_show.c (what is said). One thread. */
#include "base/buf.h"
#include "headless_linear.h"

/* What a typed line answers. */
enum linear_ask { ASK_PROMPT, ASK_PERMISSION, ASK_ALWAYS, ASK_REASON };

#define LINEAR_ASKS_MAX 1000
#define LINEAR_STEERS_MAX 64 /* as many as the engine takes: it would drop the next one */

#define LINEAR_CALLS                                                                               \
    64 /* more than run at once; the end of one past that does not say which it was */

struct linear_call {
    char id[80], what[256]; /* the beginnings */
};

struct linear {
    struct engine *engine;
    const struct linear_options *o;
    struct recording *recording;
    struct buf in; /* typed, not yet a line */
    bool in_open;
    struct buf out;       /* to be written */
    struct buf part;      /* bytes of a character that is not complete yet */
    bool ascii, mid_line; /* mid_line: the cursor is not at the start of a line */
    bool prompted;        /* a question or the prompt stands there */
    int open_submits;
    char *submitted; /* the newest prompt, until it is in the conversation */
    /* sent while a turn runs and not yet in the conversation, oldest first */
    char **steered;
    size_t n_steered, cap_steered;
    uint64_t query, answered; /* the last question that marks a command's end, and its answer */
    struct event **asks;      /* EV_PERM_ASK, waiting, oldest first */
    size_t n_asks, cap_asks;
    bool ask_shown; /* asks[0] stands on the screen */
    enum linear_ask line;
    enum perm_mode mode;
    char *session_id;
    int64_t ctx_used, ctx_window;
    double cost;
    struct linear_call calls[LINEAR_CALLS]; /* of tools, those that run, oldest first */
    size_t n_calls;
    bool call_said; /* the last line said of any tool is the beginning of the newest */
    bool greeted, talked, closed, quit, failed;
    int code;
    int64_t interrupt_ms; /* of the Ctrl+C before; 0: none */
};

/* headless_linear_show.c */
void linear_text(struct linear *l, struct str text); /* as it comes, made visible */
void linear_line(struct linear *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* max: lines shown, 0: all */
void linear_lines(struct linear *l, const char *indent, struct str text, size_t max);
void linear_fresh_line(struct linear *l);
void linear_flush(struct linear *l);
void linear_show(struct linear *l, const struct event *ev); /* all but permission requests */
void linear_show_ask(struct linear *l, bool whole_chain);
void linear_show_rules(struct linear *l);
void linear_prompt(struct linear *l);
