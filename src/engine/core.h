#pragma once
/*
 * What one engine knows of its session, shared by the engine's own files (nothing outside src/engine includes this).
 * It belongs to the engine thread; workers see only what a job carries. Strings are owned unless said otherwise.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/config.h"
#include "base/queue.h"
#include "engine/engine.h"
#include "engine/fallback.h"
#include "engine/fast.h"
#include "engine/judged.h"
#include "engine/latches.h"
#include "engine/outgoing.h"
#include "engine/pins.h"
#include "engine/prompt.h"
#include "engine/repeat.h"
#include "engine/session_was.h"
#include "engine/spend.h"
#include "engine/state.h"
#include "engine/usage.h"
#include "engine/waker.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "store/conversation.h"
#include "store/journal.h"
#include "store/session.h"
#include "store/store.h"
#include "tools/filestate.h"
#include "tools/tool.h"

struct attach_told;
struct permit;
struct permit_sandbox;
struct pool;
struct executor;
struct side_call;
struct tool_logs;
struct toolsum;

/* What the command line said: it wins over settings and over what a resumed session had. */
struct core_given {
    char *settings, *sandbox; /* of --settings, --sandbox; NULL: not given */
    char *system_prompt, *append_system_prompt;
    char **allowed_tools, **disallowed_tools, **add_dirs; /* NULL-terminated */
    bool model, mode;                                     /* one was named */
    int max_turns, max_retries, max_tokens;
};

struct core {
    struct queue *out;     /* events; borrowed */
    struct waker *wake;    /* borrowed */
    struct cancel *cancel; /* the session's token; borrowed */

    /* Settled at start. */
    struct engine_seams seams; /* every function set */
    struct tool_host own_host;
    struct store *store; /* borrowed; may be NULL */
    char *root, *home, *config_dir, *data_dir, *original_cwd;
    char **child_env;
    struct core_given given;
    bool interactive, print_mode, bypass_allowed, partial_raw;

    /* Who answers. */
    struct model_provider *provider;
    struct {
        struct model_provider **list;
        size_t n, cap;
    } retired; /* that /connect replaced; somebody may still use one */
    char *model;
    const struct model_info *info; /* NULL: not in the catalogue */
    struct {
        int64_t tokens; /* the model takes in, by its server or the catalogue; 0: unknown */
        int64_t guess;  /* of a model that its server has not loaded yet; 0: nothing is guessed */
        int64_t limit;  /* engine_config.context_window */
    } window;
    struct fallback fallback;
    struct fast fast;
    bool plain_requests; /* the server does not know an option: they are left out */

    /* The session. */
    char session_id[37];
    struct session_paths paths;
    struct journal *journal;   /* NULL: opened with the first message */
    struct conversation *conv; /* where its messages stand; NULL: none yet */
    bool loaded;               /* state holds the messages (core_need_messages) */
    struct {
        struct message *list[4];
        size_t n;
    } unsaved;   /* in State, but the disk had no room for them yet */
    char *title; /* the person's name for the session; NULL: none */
    char *cwd;
    bool trusted, resumed;
    struct session_was was; /* of the one that was resumed */
    struct passport passport;
    struct buf saved_passport; /* the bytes in the store: only what changed is written */
    bool passport_foreign;     /* the store's is a newer yare's: not written over */
    char *todos_due;           /* a list that goes into the journal behind the next message; NULL */
    enum perm_mode mode, told_mode; /* told_mode: what the model was last told */
    enum scope mode_scope;

    /* What the model is sent. */
    struct prompt prompt;
    struct state state;
    struct outgoing outgoing;
    struct latches latches;
    struct pins pins;
    struct attach_told *told; /* engine/attach.h */
    struct file_state *files; /* seen by the model */
    int64_t counted_turn; /* one past the turn in which the server was asked for a count; 0: none */

    /* What it costs, and where it goes round. */
    struct usage_meter usage;
    struct spend spend;
    double max_budget_usd; /* in force, of the session (engine/spend.h) */
    struct repeat repeat;
    char *repeat_told; /* a circle that the model was stopped in and has not been told of */

    struct err refused; /* why the slash command that runs did not do what it was asked */
    struct buf *answer; /* what that command says is written here too; NULL: nobody reads it */

    /* Services. */
    struct permit *permit;
    struct judged_list judged;
    struct permit_sandbox *sandbox; /* engine/permit_sandbox.h */
    struct pool *pool;
    struct executor *executor;
    struct task_table *tasks; /* commands that run, in front and behind */
    struct side_call *sides;  /* engine/side.h: those that run */
    struct toolsum *toolsum;  /* engine/toolsum.h: of the newest batch, on its way; NULL */
    struct tool_logs *logs;   /* engine/query_log.h */
};

/* Everything but the session (core_session_new, core_session_resume). */
bool core_init(struct core *c, const struct engine_config *cfg, struct queue *out,
               struct waker *wake, struct cancel *cancel, struct err *err) MUST_CHECK;
/* False: a tool thread did not come back and still borrows the core and its queue; they must stay where they are. */
bool core_release(struct core *c);

/* Lets go of the session: journal, messages, passport, files seen. What is left can be released or filled anew. */
void core_session_close(struct core *c);
/* Makes the history legal for the API (engine/validator.h); `when` ends the notice: "", " before it was sent". */
void core_mend(struct core *c, const char *when);
/* A fresh session under `id` (NULL: made). Its journal is made with the first message. */
void core_session_new(struct core *c, const char *id);
/* Goes on with session `id`: opens the journal, reads and mends the messages. fork: its messages under a new id. */
bool core_session_resume(struct core *c, const char *id, bool fork, struct err *err) MUST_CHECK;

/* After core_session_resume: the model and the mode that the session had, as far as they may come back. keep_mode: the mode stays. */
void core_restore_choices(struct core *c, bool keep_mode);
/* Could this provider be asked for the model? *ret_why (static) says why not. */
bool core_has_model(struct core *c, const char *id_or_alias, const char **ret_why);
void core_note_model(struct core *c); /* the person's choice, for the journal */
void core_note_mode(struct core *c);

/* Names the session; the journal says so ("custom-title"). */
bool core_rename(struct core *c, const char *title, struct err *err) MUST_CHECK;

void core_emit(struct core *c, struct event *take_e);
/* `text` joins the answer of the slash command that runs; false: none does, or nobody reads it. */
bool core_answer(struct core *c, struct str text);
void core_notice(struct core *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void core_error(struct core *c, const struct err *err, const char *request_id);
/* A slash command did not do what it was asked: a notice says why, and so does the result of the prompt that it was. The second
 * form after an error that is no notice, the third where it was told already. */
void core_refuse(struct core *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void core_refuse_err(struct core *c, const struct err *err);
void core_refused(struct core *c, const struct err *err);
void core_emit_session(struct core *c, bool cleared);
void core_set_mode(struct core *c, enum perm_mode mode);
void core_set_model(struct core *c, const char *id_or_alias);
/* connect.c: how much the model takes in. Asks its server (1.5 s at most). */
void core_learn_window(struct core *c);
void core_say_window(struct core *c);     /* a notice when it is small */
void core_recheck_window(struct core *c); /* after a turn: a model that was not loaded yet is now */

/* Journals and appends a message; on failure nothing is appended and the message is freed. */
bool core_append(struct core *c, const struct message *take_m, struct err *err) MUST_CHECK;
/* The same for what has happened already, an answer and results: on a full disk it stays in memory and is written before the
 * next message, or by core_sync, which fails until then: nothing further leaves or runs (c->unsaved). */
bool core_append_done(struct core *c, const struct message *take_m, struct err *err) MUST_CHECK;
/* Reads a resumed conversation into State, if that was not done yet. Resuming itself needs only the last page, so this comes
 * before whatever looks at State's messages: a request, a compaction. core_append does not need it. */
void core_need_messages(struct core *c);
/* In place of the conversation: a boundary in the journal and this message behind it. False: everything is as it was. */
bool core_compact(struct core *c, const struct message *take_m, struct str members_json,
                  struct err *err) MUST_CHECK;
/* event.place of the message that is appended next, from 1. */
int64_t core_next_place(const struct core *c);
/* Makes what was journalled durable; before a request leaves. */
bool core_sync(struct core *c, struct err *err) MUST_CHECK;
/* EV_USER for a user message, EV_MESSAGE for the stream of whole messages. */
void core_emit_user(struct core *c, const struct message *m, const char *text, bool replayed);
void core_emit_message(struct core *c, const struct message *m, const char *tool_results_json);
/* A note in the journal; a failure is logged, it costs no turn. */
void core_note(struct core *c, const char *type, const char *subtype, struct str members_json);
/* The same for what must not be lost: it is not done when it cannot be written. True without a journal: there is nothing yet to lose. */
bool core_note_kept(struct core *c, const char *type, struct str members_json,
                    struct err *err) MUST_CHECK;
/* Writes the passport to the store when it changed. */
void core_save_passport(struct core *c, enum session_status status, const char *last_error);

void strv_free(char **v); /* a NULL-terminated list */
