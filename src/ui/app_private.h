#pragma once
/* The state of the TUI, between the files app*.c. One struct, owned by the UI thread. */
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/complete.h"
#include "ui/history.h"
#include "ui/input.h"
#include "ui/keys.h"
#include "ui/log_view.h"
#include "ui/page.h"
#include "ui/picker.h"
#include "ui/trust_box.h"
#include "ui/view.h"

/* What the line of the prompt asks for in place of a prompt. */
enum line_mode { LINE_PROMPT, LINE_SEARCH, LINE_HISTORY };

/* How a person who looks elsewhere is called (the setting `notify`). */
enum notify { NOTIFY_BELL, NOTIFY_OSC9, NOTIFY_OFF };

/* What became of something typed that is not in the conversation yet. */
enum queue_state {
    QUEUE_WAITING, /* the engine does not know of it */
    QUEUE_STEERED, /* it joins the running turn, or follows it: the engine has it */
    QUEUE_KEPT     /* an interrupt came first: it is not sent, Up takes it back */
};
struct queued {
    char *text;
    enum queue_state state;
};

#define OFFERS_MAX 8
struct offer { /* EV_OFFER; the oldest is shown */
    char *text, *command;
};

#define FRAME_MS 33         /* between two frames of streamed output; a key is never kept waiting */
#define FOCUS_QUIET_MS 1000 /* a request takes the focus when no key came for this long */
#define TWICE_MS 1000       /* Ctrl+C twice, Esc twice */
#define KEY_HOLD_MS                                                                                \
    300 /* the same for any letter where the permission pane took the focus by itself */
#define TRUST_HOLD_MS 400  /* a letter that another follows this soon is the start of a word */
#define TRUST_GUARD_MS 300 /* a letter this soon behind the box was typed before it was seen */
#define NOTE_MS 4000
#define EXIT_LINES 40               /* of the last answer that stay on the normal screen */
#define INTERRUPTING "interrupting" /* the note until the turn has ended */

struct app {
    const struct app_options *o;
    struct engine *engine;   /* NULL until started, or when that failed */
    struct app_start *start; /* the engine is on its way; NULL: it is there, or it will not come */
    bool engine_closed;
    struct view view;
    struct transcript *transcript;
    struct approval approval;
    struct input input;
    struct complete complete;
    struct history history;
    struct commands commands;
    struct page page; /* at most one of page and picker is open */
    struct picker picker;
    struct trust_box trust;
    struct offer offers[OFFERS_MAX];
    size_t n_offers;
    enum notify notify;
    int64_t exit_lines; /* of the last answer that stay on the normal screen */
    bool greeted;       /* the engine was asked what the screen needs to know of it */
    struct log_view log;
    char *selected_id; /* of the tool that is selected in the activity pane; NULL: none yet */
    uint64_t tree_seq, last_tree_seq; /* the question for the processes under way; 0: none */
    char *tree_id;                    /* the tool it is about */
    struct canvas canvas;
    enum pane focus;
    int selected; /* in the activity pane */
    enum line_mode line;
    struct field field; /* what is searched for */
    size_t history_at;  /* hit of the history search */
    int chord;          /* first key of a chord, or 0 */
    int held_key; /* the first letter, not yet believed, where the permission pane took the focus by itself; 0: none */
    bool edit_sent;   /* from the permission pane, whose next request is what came of it */
    bool focus_taken; /* the permission pane has the focus because nothing was typed for a while */
    struct err start_err; /* the engine never came: said once the screen is left */
    char held;            /* 'y' or 'n' to the trust question, not yet believed; 0: none */
    int64_t held_ms;
    bool trust_done;       /* answered, or nothing to ask */
    bool trust_open;       /* by /trust, whatever stands in the transcript */
    bool trust_seen;       /* the last frame showed the box with its answer */
    int64_t trust_seen_ms; /* since when */
    /* serial of the newest request when the person left the pane: older ones do not take the focus */
    uint64_t asks_left;
    int64_t last_key_ms, ctrl_c_ms, esc_ms, paint_ms, tick_ms;
    bool dirty;     /* something changed: paint within the frame cap */
    bool urgent;    /* a key did it: paint at once */
    bool submitted; /* posted, and no event of it yet */
    bool said;      /* something was submitted in this run */
    bool talked;    /* the session has something to come back to */
    bool away;      /* the terminal has not the focus */
    bool quit;
    int exit_code;
    enum perm_mode mode_before; /* AFK was switched on */
    bool afk_set;
    struct queued *queued; /* in the order it was typed */
    size_t n_queued, cap_queued;
    bool interrupting; /* until the turn's end nothing is sent */
    bool shell_runs;   /* a `!` line has a turn of its own, which nothing joins */
    char *taking_back; /* the queued text that the engine is asked to give back; NULL: none */
    char note[256];
    int64_t note_until_ms;       /* 0: none */
    struct recording *recording; /* --events; NULL: not recorded */
    bool ascii;                  /* borders and marks must be ASCII */
    uint64_t seen_version;
    struct {
        size_t at;     /* step */
        char *session; /* the first one; NULL: it has not begun */
        char *filled;  /* what the step wrote into the prompt; NULL: nothing yet */
        bool unsaid;   /* the step's words are still to come */
        bool resumed;
        int ends_to_skip; /* results of turns that were skipped */
    } tour;
    struct {
        double speed; /* 0: at once */
        bool paused, over;
    } replay;
};

/* app.c */
void app_init(struct app *a, const struct app_options *o, int width, int height);
void app_release(struct app *a);
bool app_running(const struct app *a);
void app_note(struct app *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void app_tick(struct app *a,
              int64_t now_ms); /* what comes by time alone; also takes up new requests */
void app_post(struct app *a, enum op_kind kind, const char *text);
void app_quit(struct app *a, int code);
void app_error(struct app *a, const struct err *err); /* a line in the transcript */
/* app_start.c: how the engine arrives */
void app_start_begin(struct app *a);
int app_start_fd(const struct app *a); /* readable: app_start_take; -1: nothing is on its way */
void app_start_take(struct app *a);
int64_t app_start_due(const struct app *a); /* when app_start_tick has something to say, or -1 */
void app_start_tick(struct app *a, int64_t now_ms);
/* Keeps what was submitted for the engine that is on its way; false: none is. */
bool app_start_keep(struct app *a, const char *text);
void app_start_question(struct app *a,
                        struct op *take_op); /* what completion asks: the newest counts */
/* At the end of the program; false: the start did not come back and keeps what it was given. */
bool app_start_stop(struct app *a);
/* app_events.c: engine to view */
void app_drain(struct app *a, int budget);
void app_take(struct app *a, struct event *take_ev); /* one of them */
void app_record_size(struct app *a);
/* app_queue.c: what was typed and waits */
void app_queue_add(struct app *a, const char *text, enum queue_state state);
void app_queue_clear(struct app *a);
size_t app_queue_count(const struct app *a, enum queue_state state);
void app_queue_pump(struct app *a);                       /* sends what can go now */
void app_queue_joined(struct app *a, const char *prompt); /* a prompt stands in the conversation */
void app_queue_interrupt(struct app *a);
void app_queue_turn_ended(struct app *a, bool aborted);
void app_queue_give_back(struct app *a); /* there is nobody to send it to */
bool app_queue_take_back(struct app *a); /* the newest one; false: nothing is queued */
void app_queue_answer(struct app *a, const struct event *ev);
bool app_queue_words(const struct app *a, struct buf *out); /* false: nothing is queued */
/* app_replay.c: a recording is played (app_options.replay) */
bool app_replay_key(
    struct app *a,
    int key); /* of the prompt; true: it was one of the replay's, or is taken by nobody */
void app_replay_event(struct app *a, const struct event *ev);
void app_replay_draw(struct app *a, struct rect r);
/* app_tour.c: the guide (app_options.tour), and the way to it */
struct app_before { /* how things stood before a key */
    enum pane focus;
    enum line_mode line;
    bool empty, box; /* the prompt; box: something lay over the panes */
    size_t tour_at;
};
void app_tour_event(struct app *a, const struct event *ev);
void app_tour_key(struct app *a, int key, const struct app_before *before);
void app_tour_speak(struct app *a);
bool app_tour_wrote_it(const struct app *a); /* the prompt holds what the step put there, no more */
bool app_tour_skip(struct app *a); /* Esc with nothing left to leave; false: there is no tour */
bool app_tour_words(const struct app *a, struct buf *out); /* what to press now */
bool app_tour_takes(struct app *a, enum op_kind kind,
                    const char *text); /* what is posted is for the tour, not the engine */
/* app_draw.c */
void app_paint(struct app *a);                /* on the terminal */
void app_draw(struct app *a, int64_t now_ms); /* on the app's canvas, as large as that is */
/* app_keys.c: a key to whom it belongs */
void app_key(struct app *a, int key, struct str paste, int64_t now_ms);
/* app_actions.c: what holds wherever the focus is */
bool app_action(struct app *a, enum key_action act,
                int64_t now_ms); /* false: it is none of these */
bool
app_action_steady(enum key_action act); /* it holds over pages, pickers, logs and fields as well */
void app_interrupt(struct app *a);
void app_focus(struct app *a, enum pane pane);
void app_leave_asks(
    struct app
        *a); /* the person leaves the permission pane: only a new request takes the focus again */
void app_line_open(struct app *a, enum line_mode mode); /* the prompt's line asks for a search */
/* app_prompt.c: the prompt and its line */
void app_prompt_key(struct app *a, int key, int64_t now_ms);
bool app_prompt_action(
    struct app *a,
    enum key_action act); /* what a chord gave; false: it is none of the prompt's own */
void app_line_key(struct app *a, int key, struct str paste,
                  int64_t now_ms);                  /* while a->line is not LINE_PROMPT */
void app_follow(struct app *a);                     /* completion looks at the prompt again */
void app_held_key_acts(struct app *a, int64_t now); /* the same in the permission pane */
/* app_trust.c: the question whether the folder is trusted */
bool app_shows_trust_box(
    const struct app *a); /* the whole question stands over the transcript, and has the keys */
bool app_trust_hint(
    const struct app *a,
    struct buf *out); /* where it does not: how to get there; false: nothing to look at */
bool app_trust_open(struct app *a); /* /trust; false: there is no question */
void app_trust_drawn(struct app *a, bool shown, bool fits, int64_t now_ms);
int64_t app_trust_due(const struct app *a); /* the held letter is believed then; -1: not by time */
bool app_trust_key(struct app *a, int key, int64_t now_ms); /* true: it belongs to the question */
void app_held_is_answer(struct app *a); /* no letter followed: the y or n was meant */
/* app_submit.c */
bool app_is_command(const struct app *a, struct str text); /* "/name ..." or "!line" */
bool app_is_shell(struct str text);
bool app_waits(const struct app *a, struct str command); /* it cannot run beside a turn */
void app_submit(struct app *a);
void app_submit_text(struct app *a, struct str text);
/* app_pages.c: pages, pickers, offers, and what the screen asks by itself */
void app_open_page(struct app *a, const struct page_type *type);
void app_open_picker(struct app *a, const struct picker_type *type);
void app_open_sessions(struct app *a, struct str words); /* goes on with the only one at once */
bool app_box_open(const struct app *a);                  /* a page or picker has the screen */
bool app_covered(
    const struct app *a); /* the panes cannot be seen: a box, a log, or a request over everything */
bool app_box_key(struct app *a, int key, struct str typed);
void app_take_answer(struct app *a, const struct event *ev);
void app_greet(struct app *a, bool trusted); /* EV_SESSION came */
void app_pages_turn_ended(struct app *a);
void app_offer(struct app *a, const struct event *ev);
bool app_offer_answer(struct app *a, bool take); /* false: there is none */
void app_offer_outdated(struct app *a); /* the tour for a newcomer, once something was said */
void app_offers_release(struct app *a);
/* app_activity.c: the activity pane's keys, the log, and what they ask the engine */
void app_activity_init(struct app *a);
void app_activity_release(struct app *a);
bool app_activity_key(struct app *a, int key);
bool app_activity_action(struct app *a, enum key_action act);
bool app_activity_press(
    struct app *a); /* the mouse: selects what it points at; false: not in the pane */
void app_activity_leave(struct app *a);  /* another pane has the focus: nothing is selected */
void app_activity_follow(struct app *a); /* the selection stays with its tool */
void app_log_key(struct app *a, int key, struct str typed);
void app_activity_event(struct app *a,
                        const struct event *ev); /* every event, before the view has it */
int64_t app_activity_due(const struct app *a);   /* -1: nothing is due */
void app_activity_time(struct app *a, int64_t now_ms);
void app_ask_processes(struct app *a); /* with each tick of a running turn */
void app_background(struct app *a);
/* app_external.c: programs that take the terminal for a while */
void app_edit_prompt(struct app *a);
void app_page(struct app *a, struct str text);
