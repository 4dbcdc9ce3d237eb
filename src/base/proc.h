#pragma once
/*
 * Running commands. Every command runs under a supervisor: this program re-executed as `yare --supervise` (child
 * subreaper, a death pipe from yare; it kills all descendants until none is left however yare ends, and puts the
 * terminal back if yare died). ARCHITECTURE section 2. The supervisor is spawned with posix_spawn-like care from any
 * thread: it relies on the death pipe, never on PR_SET_PDEATHSIG.
 *
 * A struct proc belongs to the thread that started it. Output is read from `fd`; the reader decides what to keep. The
 * pipe may be held open by a background grandchild: proc_wait looks at the command's own exit, not at end of file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"

struct proc_spec {
    const char *const *argv; /* argv[0] is looked up on PATH of `env` */
    const char *const *env;  /* NULL-terminated "K=V"; the child's whole environment */
    const char *cwd;
    struct str stdin_data;   /* given on standard input, then end of file; empty: /dev/null */
    bool new_session;        /* setsid: always true for tools; no controlling terminal */
};

struct proc {
    pid_t supervisor, child; /* child: the command's own pid as the supervisor told it */
    int fd;                  /* stdout and stderr merged, non-blocking, close-on-exec */
    int status_fd;           /* the supervisor's reports: readable when the command's own process ended */
    int death_fd;            /* closing it makes the supervisor kill everything */
    bool exited;
    int exit_status;         /* wait status of the command's own process; valid when exited */
};

/* Where this program is, for re-execution; set once at start from /proc/self/exe (tests: the yare under test). */
void proc_set_supervisor(const char *path);
bool proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err) MUST_CHECK;
/* Waits until output, exit, `cancel` fired or timeout. True when something is there to look at. */
bool proc_poll(struct proc *p, struct cancel *cancel, int timeout_ms);
/* Reads what is there into out (bounded by out->max). False at end of file. */
bool proc_read(struct proc *p, struct buf *out);
/* TERM to the whole tree, KILL after grace_ms, until no descendant is left; then reaps the supervisor. */
void proc_kill(struct proc *p, int grace_ms);
/* Lets descendants that the command left behind live on under the supervisor (background tasks), detaching. */
void proc_release(struct proc *p);
/* Closes descriptors, reaps; kills what is left. Safe on a zeroed or finished proc. */
void proc_finish(struct proc *p);

/* One call for hooks, key helpers, git: run, collect at most out->max bytes, wait. exit status in *ret_status. */
bool proc_run(const struct proc_spec *spec, struct cancel *cancel, int timeout_ms, struct buf *out,
              int *ret_status, struct err *err) MUST_CHECK;
