#pragma once
/* The insides of tasks, for tools/task*.c alone. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/cancel.h"
#include "tools/task.h"

struct task {
    atomic_int refs;
    struct task_table *table; /* NULL: none; outlives the task's running */
    char *tool_use_id, *session_id, *command, *cwd_file;
    pid_t pid, supervisor;
    int64_t start_ms;
    struct cancel *ended;      /* fired when it is over */
    struct confined *confined; /* NULL: it runs outside a sandbox; of the thread that reads it */
    struct proc proc;          /* of the thread that reads it: the call's, then the keeper's */
    struct buf chunk;          /* what the call's thread reads into */

    pthread_mutex_t lock; /* guards the rest */
    struct bash_output output;
    char id[24]; /* "": in front */
    enum task_state state;
    int exit_status;
    char *sandbox_why; /* why it failed, by the sandbox's word; NULL */
    bool was_confined;
    int64_t end_ms, timeout_ms;
    uint64_t read_at;                    /* task_read_new */
    bool stop, stop_politely, by_person; /* stop: somebody wants its end */
    bool announced, given, told;

    /* The keeper's alone. */
    enum task_state ending; /* why it was killed; TASK_RUNNING: it was not */
    int64_t give_up_ms;     /* it was told to end; past this it is no longer waited for */
    int64_t progress_ms;
    uint64_t progress_bytes;
};

#define TASKS_KEPT 64   /* that ended in the background and can be asked for */
#define OUTPUTS_KEPT 16 /* of those, whose output is held in memory */
#define TASKS_MAX 64    /* in the background at once */

struct task_table {
    struct task_host host;
    pthread_t keeper;
    int wake_fd;

    pthread_mutex_t lock; /* guards the rest */
    /* running in front, running behind, ended behind: in order of their start; holds a reference each */
    struct task **list;
    size_t n, cap;
    struct confined **left; /* of commands that are over, but not all that they started */
    size_t n_left, cap_left;
    unsigned last_id;
    bool has_keeper, closing;
};

struct task *task_ref(struct task *t);
#define TASK_CHUNK ((size_t)512 << 10)
/* Takes in what is there, at most a pipe's worth, by way of chunk. True: its own process is over. */
bool task_take(struct task *t, struct buf *chunk);
void task_drain(struct task *t, struct buf *chunk); /* what may still be in the pipe */
void task_set_over(struct task *t, enum task_state state);
/* Its own process is over: what the sandbox says to that. Before the state says so. */
void task_leave_sandbox(struct task *t);
void task_wake_keeper(struct task_table *tt);
/* keeper's thread */
void *task_keep(void *table);
