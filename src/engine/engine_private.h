#pragma once
/*
 * The engine's own struct, for engine.c, ops.c, submit.c and the loop. Which thread may touch what stands at each part.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/core.h"
#include "engine/engine.h"
#include "engine/loop.h"

/* Ops that wait to be looked at; what comes past it is dropped and told. */
#define INBOX_MAX 4096
/* Prompts that wait for the running one. */
#define WORK_MAX 256

struct replay;

enum work_kind { WORK_PROMPT, WORK_SHELL, WORK_COMMAND };
struct work {
    enum work_kind kind;
    char *text;
    bool wants_result; /* it came as a submit: EV_RESULT follows */
    struct work *next;
};

struct engine {
    /* Any thread. */
    struct queue *out;
    struct waker wake;
    struct cancel *cancel;    /* the session's token */
    _Atomic(const char *) id; /* of the session, one of ids[] */
    char *notice;             /* said once the engine runs, or NULL */
    struct replay *replay;    /* a recording is played, there is no session; NULL else */

    pthread_mutex_t lock; /* guards up to the next part */
    struct op **inbox;
    size_t n_inbox, cap_inbox;
    bool overflow, closed;
    size_t n_refused;    /* submits that came past it: each still gets its result */
    bool busy;           /* ops were taken up, or work waits, and no turn has begun for it yet */
    bool cancel_next;    /* a cancel came between a submit and its turn */
    struct cancel *turn; /* of the running submit; NULL: none */

    /* Engine thread. */
    struct core core;
    struct work *work, **work_end;
    size_t n_work;
    char **steer; /* typed while the turn runs; join after the running tool batch */
    size_t n_steer, cap_steer;
    bool quit, running;
    struct file_query *files; /* the walk that goes on, or NULL */
    char **ids;               /* every id this engine had: a reader may still hold one */
    size_t n_ids, cap_ids;
    pthread_t thread;
};

/* engine.c */
/* An engine without a session whose thread is `run`; takes the replay, also on failure. */
struct engine *engine_start_replay(struct replay *take_r, void *(*run)(void *), struct err *err);
/* EV_RESULT of a submit that is never run: each gets its end. err: why, or NULL. */
void engine_emit_not_run(struct engine *e, enum loop_exit why, const struct err *err);
void engine_publish_id(struct engine *e);
struct cancel *engine_begin_turn(struct engine *e); /* the token, yours too */
void engine_end_turn(struct engine *e);

/* ops.c: looks at what is in the inbox; prompts are queued, the rest is done. */
void ops_drain(struct engine *e);
void ops_queue_work(struct engine *e, enum work_kind kind, const char *text, bool wants_result,
                    bool in_front);
struct work *ops_next_work(struct engine *e); /* yours; NULL: none */
/* The person trusts the folder; false: it could not be kept, which was told. */
bool ops_trust(struct engine *e);
void work_free(struct work *w);

/* command.c: a slash command; may it run beside a turn? */
bool command_is_known(struct str line);
bool command_is_immediate(struct str line); /* also an unknown one: it is answered at once */
bool command_takes_time(struct str line);   /* it runs as a turn, so that it can be interrupted */
/* False: it did not do what it was asked, which it has told; err (NULL is fine) says why. answer: what it says beside its notices, for
 * who prints it; NULL: nobody. */
bool command_run(struct engine *e, const char *line, struct buf *answer, struct err *err);

/* connect.c: "/connect [WHERE [MODEL]] [--save]" */
void connect_run(struct engine *e, struct str arg);

/* query.c */
void query_answer(struct engine *e, const struct op *op);
/* query_files.c: answers from a thread of its own; a walk that still goes on answers with what it has. */
void query_files(struct engine *e, const struct op *op);
void query_files_stop(struct engine *e);

/* submit.c */
void submit_run(struct engine *e, struct work *take_w);
char *submit_errors(const struct err *err); /* result.errors of it; yours */
/* The files that a person's words name with '@', as blocks behind them; says what was attached and what was not. */
void submit_attach_files(struct core *c, struct message_builder *b, const char *text);

/* resume.c: the history as events, so that panes show it. */
void resume_replay(struct core *c);
