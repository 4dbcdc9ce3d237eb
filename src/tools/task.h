#pragma once
/*
 * Commands while they run. Each one that Bash starts is a task in the engine's table: first in front, where the thread of its call
 * reads what it puts out, then perhaps in the background, where the table's own thread (the keeper) does that until it ends, meets its
 * deadline, is stopped, or floods. What it put out so far can be looked at from any thread at any time.
 *
 * A task is counted: whoever got one lets go of it with task_unref. One lock a task guards its output and state, one the table's
 * list; no call goes out while either is held. The host's functions are called from the keeper.
 *
 *     struct task *t = task_start(ctx->tasks, ctx, &spec, command, &err);
 *     while (...) { task_poll(t, cancel, left_ms); }                       // in front
 *     task_to_background(t, deadline_ms)                                   // or task_finish(t)
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc.h"
#include "tools/bash_output.h"

struct confined;
struct tool_ctx;
struct task;
struct task_table;

enum task_state {
    TASK_RUNNING,
    TASK_EXITED,    /* by itself */
    TASK_TIMED_OUT, /* killed at its deadline */
    TASK_STOPPED,   /* killed because somebody said so */
    TASK_FLOODED,   /* killed because it put out more than it may */
};

#define TASK_FLOOD_BYTES ((uint64_t)5 << 30)
#define TASK_GRACE_MS 1000 /* from the first signal to KILL */

struct task_host {
    void *user;
    void (*ended)(void *user); /* some task ended: task_table_next_ended */
    /* it put something out; at most a few times a second */
    void (*progress)(void *user, struct task *t);
    bool front_only;      /* nothing may go to the background */
    uint64_t flood_bytes; /* 0: TASK_FLOOD_BYTES */
};

/* A copy of what is known of a task; strings are owned. */
struct task_info {
    char *id; /* "bash_1"; NULL while in front */
    char *tool_use_id, *session_id, *command, *last_line;
    char *spill_path; /* NULL while nothing is kept on disk */
    pid_t pid, supervisor;
    enum task_state state;
    int exit_status;                /* a wait status */
    int64_t elapsed_ms, timeout_ms; /* timeout_ms 0: no deadline */
    uint64_t bytes;
    bool confined;     /* it runs inside a sandbox */
    char *sandbox_why; /* it failed, and the sandbox is the likely cause: in words; NULL */
    bool by_person;    /* TASK_STOPPED: the person, not the model */
};
void task_info_release(struct task_info *i);
void task_get(struct task *t, struct task_info *ret);
/* "exit 0", "killed by signal 9", "killed at its timeout of 5000 ms", "stopped by the person": how it ended; "running". Appends. */
void task_say_state(const struct task_info *i, struct buf *out);
bool task_failed(const struct task_info *i); /* it ended, and not with exit status 0 */

/* ---- the table ---- */

struct task_table *task_table_new(const struct task_host *host);
/* Ends every background task with all it started and takes no more; waits for them a few seconds at most. */
void task_table_close(struct task_table *tt);
bool task_table_takes_background(const struct task_table *tt); /* NULL: no */
/* Closes; no call may be running any more. NULL is fine. */
void task_table_free(struct task_table *tt);

/* By its id or by the call that started it; running ones before those that ended. NULL: none. Yours to unref. */
struct task *task_find(struct task_table *tt, struct str id);
/* The i-th of the background tasks that run; NULL past the end. */
struct task *task_running(struct task_table *tt, size_t i);
size_t task_count_running(struct task_table *tt); /* in the background */
/* A background task that ended, was announced, and was not given here before; NULL: none. */
struct task *task_table_next_ended(struct task_table *tt);
/* The engine said that it runs; only now its end is given out. */
void task_announce(struct task *t);
/* Asks for its end: INT, TERM, then KILL. False: it is over, or not in the background. */
bool task_stop(struct task *t, bool by_person);
/* The oldest that ended in this session without the model having been told, which it counts as from here on; NULL: none. */
struct task *task_table_next_untold(struct task_table *tt, const char *session_id);
void task_forget(struct task *t); /* the model is not told of it any more */

/* ---- one task ---- */

/* Starts a command, in front. tt may be NULL: then it cannot go to the background. cwd_file: removed at its end, may be NULL. confined: what
 * spec starts it inside of; NULL: nothing. */
struct task *task_start(struct task_table *tt, const struct tool_ctx *ctx,
                        const struct proc_spec *spec, struct str command, const char *cwd_file,
                        struct confined *take_confined, struct err *err);
void task_unref(struct task *t); /* NULL is fine */

/* Only the thread that started it, while it is in front: waits for something and takes it in. True: the command is over. */
bool task_poll(struct task *t, struct cancel *cancel, int wake_fd, int timeout_ms);
bool task_flooded(const struct task *t);
/* Ends what is to end and takes the rest of the output: the task is over. kill: with all that it started. */
void task_finish(struct task *t, bool kill, bool politely);
const struct proc *task_proc(const struct task *t); /* after task_finish */
struct bash_output *task_output(struct task *t);    /* after task_finish */
/* Hands it to the keeper. timeout_ms: from its start; 0: none. False: the table is closed or there is none, it stays in front. */
bool task_to_background(struct task *t, int64_t timeout_ms);

/* The last bytes of its output, at most `max`, as valid UTF-8, and how many came before them. replaced may be NULL. */
void task_read_tail(struct task *t, size_t max, struct buf *out, uint64_t *ret_from,
                    size_t *ret_replaced);
/* What came since the last call of this, the last `max` of it; *ret_skipped: bytes of it that were left out. */
void task_read_new(struct task *t, size_t max, struct buf *out, uint64_t *ret_skipped);
int task_ended_fd(struct task *t); /* polls readable once it is over */
