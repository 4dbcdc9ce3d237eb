#pragma once
/*
 * The engine: a session on a thread of its own, answering ops with events. The only seam between front ends (TUI, print
 * mode, tests, a parent agent) and the machine.
 *
 *     struct engine *e = engine_start(&cfg, &err);
 *     engine_post(e, op_new(OP_SUBMIT, "list the files"));
 *     while ((ev = engine_next_event(e, -1)) != NULL) { ...; event_free(ev); }   // EV_CLOSED, then NULL
 *     engine_free(e);
 *
 * Threads: engine_post, engine_cancel and engine_stop from any thread and never blocking; engine_next_event from one.
 */
#include <stdbool.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/verdict.h"
#include "engine/event.h"

struct model_provider;
struct store;
struct config;
struct tool;
struct tool_host;
struct perm_request;
struct decision;

/* What was piped in beside a prompt stands behind it between these lines: it is no person's word and names no files. */
#define PIPED_BEGIN "<piped-input>"
#define PIPED_END "</piped-input>"

/* What a Stop hook says when the model has no more to do. */
enum stop_hook_answer {
    STOP_HOOK_PASS,    /* stop */
    STOP_HOOK_GO_ON,   /* *ret_reason becomes a hidden user message and the loop goes on */
    STOP_HOOK_PREVENT, /* end at once, no further calls */
};

/* Function pointers handed down by the floor above, or by a test in place of the real thing. A NULL member is the
 * built-in one. Called on the engine
 * thread, but for tool_host, whose functions the tools call from theirs. */
struct engine_seams {
    void *user; /* first argument of stop_hook, connect and what goes with it */
    /* active: a Stop hook already made this turn go on. ret_reason is the engine's to free. */
    enum stop_hook_answer (*stop_hook)(void *user, const char *last_text, bool active,
                                       char **ret_reason);
    const struct tool *(*tool_find)(struct str name);
    void (*tools_schema)(const char *const *denied, struct buf *out);
    void (*perm_check)(const struct perm_request *req, struct decision *ret);
    bool (*bash_read_only)(const struct perm_request *req);
    size_t (*perm_suggest)(const struct perm_request *req, char *ret_rules[5],
                           const char **ret_why);
    /* Another provider while the session runs: where is a URL or a name ("ollama"), model may be NULL. Gives the provider
     * and the model to use (both the engine's). May wait for the network, a few seconds at most. NULL: there is no other. */
    bool (*connect)(void *user, const char *where, const char *model, struct model_provider **ret,
                    char **ret_model, struct err *err);
    /* What answers as a model server on this machine, for people to read; yours. Waits as connect does. */
    char *(*servers)(void *user);
    /* Writes what connect gave last into the person's settings; *ret_file says where and is the engine's. */
    bool (*save_connection)(void *user, char **ret_file, struct err *err);
    const struct tool_host *tool_host; /* TodoWrite's todos become EV_TASK when this is NULL */
    int retry_base_ms;                 /* first back-off; 0: 500; tests use 1 */
    int fallback_ms; /* how long another model is kept; 0: ten minutes, negative: no longer than its prompt */
    int stall_ms;     /* api.stall; 0: the setting; tests use less */
    int kill_wait_ms; /* how long an interrupted turn waits for its tools; 0: 5,000 */
};

/* All borrowed for engine_start, which copies what it keeps, except where said. */
struct engine_config {
    struct model_provider *take_provider;
    const char *model;          /* id or alias */
    const char *fallback_model; /* "a,b": tried in that order (engine/fallback.h); NULL: none */
    const char *cwd, *root, *home, *config_dir, *data_dir;
    struct store *store;      /* must outlive the engine */
    const char *cli_settings; /* --settings; NULL */
    const char *sandbox;      /* --sandbox: auto, bwrap, landlock, off; NULL: as the settings say */
    const char *session_id;   /* a fresh one to use; NULL: made */
    const char *resume_id;    /* session to go on with; NULL: a new one */
    bool fork;                /* with resume_id: copy it under a new id */
    enum perm_mode mode;
    int mode_scope; /* enum scope: where the mode came from */
    bool model_given,
        mode_given; /* on the command line: they win over what a resumed session had */
    bool bypass_allowed;
    bool interactive; /* someone can answer asks */
    bool print_mode;
    bool trusted;
    const char *const *allowed_tools,
        *const *disallowed_tools; /* rules from the command line; NULL-terminated */
    const char *const *add_dirs;
    const char *system_prompt, *append_system_prompt; /* NULL: the assets' */
    int max_turns;                                    /* 0: no cap */
    double max_budget_usd;                            /* 0: none */
    bool partial_raw;            /* pass DELTA_RAW on (--include-partial-messages) as EV_RAW */
    const char *const *environ;  /* the program's own environment; children get a whitelist of it */
    const char *const *pass_env; /* further names for that list (setting bash.passEnv), or NULL */
    int max_retries;             /* of one request; -1: 10 */
    int max_tokens;              /* 0: the catalogue's */
    /* tokens a request may hold, where that is less than the model takes in; 0: no limit */
    int64_t context_window;
    const char *notice; /* the first EV_NOTICE, such as what is wrong with settings; NULL */
    const struct engine_seams
        *seams; /* what floors above and tests put in; NULL: the built-in ones */
};

struct engine;
struct engine *engine_start(const struct engine_config *cfg, struct err *err);
/* A recording (--events FILE) in place of a session, behind the same seam: its events come as they came then, at `speed` times
 * the pace (1: as recorded, 0: at once). Errors: no such file, a file whose first line is no recording's. A later line that cannot be
 * read is left out, and a notice names it. EV_TASK {"replay":{"speed","paused","over"}} comes first and whenever that changes; over:
 * everything was played, and the engine waits for its end. The commands /pause, /next (the next event now), /faster, /slower, /speed N
 * and /speed max are done; history and search are answered from what was played, other queries by an error, other ops by a notice. */
struct engine *engine_replay(const char *path, double speed, struct err *err);
void engine_post(struct engine *e, struct op *take_op);
/* Interrupts the running turn (CANCEL_USER), or everything (CANCEL_TERM). Works when every queue is full. */
void engine_cancel(struct engine *e, enum cancel_reason reason);
/* The next event, waiting at most timeout_ms (-1: for ever); NULL: none in time, or the engine closed and all are read. */
struct event *engine_next_event(struct engine *e, int timeout_ms);
int engine_event_fd(struct engine *e); /* polls readable while an event waits */
/* Says EV_OFFER to the front end: what a start-up helper found. Any thread, before engine_free. kind, text, command: see event.h. */
void engine_offer(struct engine *e, const char *kind, const char *text, const char *command);
const char *engine_session_id(const struct engine *e);
/* Asks the engine to end: cancels what runs, answers what is open, syncs. EV_CLOSED follows. */
void engine_stop(struct engine *e);
void engine_free(struct engine *e); /* stops, drains, joins; NULL is fine */
