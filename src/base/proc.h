#pragma once
/*
 * Running commands. Every command runs under a supervisor: this program re-executed as `yare --supervise` (child
 * subreaper, a death pipe from yare; it kills all descendants until none is left however yare ends). The supervisor is
 * spawned with posix_spawn from any thread: it relies on the death pipe, never on
 * PR_SET_PDEATHSIG.
 *
 * A struct proc belongs to the thread that started it. Output is read from `fd`; the reader decides what to keep. The
 * pipe may be held open by a background grandchild: `exited` speaks of the command's own process, not of end of file.
 *
 *     while (proc_poll(&p, cancel, left_ms)) {
 *         proc_read(&p, &out);
 *         if (p.exited || cancel_fired(cancel))
 *             break;
 *     }
 *     proc_finish(&p); // or proc_kill first, for the output of a dying tree; or proc_release, to let it go on
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"

struct termios;
/* What a command's whole tree may take; past it the tree is killed (memory) or cannot grow (processes), and the note tells. By a
 * cgroup where one can be made, else the supervisor counts. */
struct proc_caps {
    int64_t memory_bytes; /* 0: no cap */
    int processes;        /* 0: no cap */
    const char *note; /* a file to which a line is appended for each cap that was hit; NULL: none */
};
struct proc_spec {
    const char *const *argv; /* argv[0] is looked up on PATH of `env` */
    /* NULL-terminated "K=V"; the child's whole environment; NULL: this program's */
    const char *const *env;
    const char *cwd;              /* NULL: this program's */
    struct str stdin_data;        /* given on standard input, then end of file; empty: /dev/null */
    const struct proc_caps *caps; /* NULL: none */
    bool new_session; /* setsid: always true for tools; no controlling terminal either way */
};

struct proc {
    pid_t supervisor, child; /* child: the command's own pid as the supervisor told it */
    /* stdout and stderr merged, non-blocking, close-on-exec; -1 after its end of file */
    int fd;
    /* the supervisor's reports: readable when the command's own process ended */
    int status_fd;
    int death_fd; /* closing it makes the supervisor kill everything */
    bool exited;
    int exit_status; /* wait status of the command's own process; valid when exited */
    int wake_fd; /* the caller's, -1 at first: readable, it ends the wait in proc_poll as output does */
};

/* Where this program is, for re-execution; the default is /proc/self/exe, which outlives an upgrade on disk (tests: a
 * program that calls supervise_main). Not copied. Before threads start. */
void proc_set_supervisor(const char *path);
/* The text for a command that cannot be started names it: "cannot run 'x': No such file or directory". */
bool proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err) MUST_CHECK;
/* Waits until output (or its end), exit, `cancel` fired or timeout (-1: none). True when something is there to look at.
 * When the exit was seen before, it waits for output, its end, or the end of the whole tree. `cancel` may be NULL. */
bool proc_poll(struct proc *p, struct cancel *cancel, int timeout_ms);
/* Reads what is there into out, without waiting, at most 256 KiB a call; what passes out->max is read and dropped, and
 * out is full. False at end of file. */
bool proc_read(struct proc *p, struct buf *out);
/* TERM to the whole tree, KILL after grace_ms, until no descendant is left; then reaps the supervisor. What the tree
 * wrote can still be read. */
void proc_kill(struct proc *p, int grace_ms);
/* The same without waiting: status_fd ends (proc_poll, then it is -1) when the tree is gone; then proc_finish. politely: INT
 * comes first, as a person's Ctrl+C would, and TERM after a third of grace_ms. */
void proc_ask_kill(struct proc *p, bool politely, int grace_ms);
/* Lets descendants that the command left behind live on under the supervisor (background tasks), detaching. They end
 * with this program at the latest. Nothing of p is left to finish. */
void proc_release(struct proc *p);
/* Closes descriptors, reaps; kills what is left. Safe on a zeroed or finished proc. */
void proc_finish(struct proc *p);

/* One call for hooks, key helpers, git: run, collect at most out->max bytes, wait. exit status in *ret_status (a wait
 * status). Past the time: ERR_TIMEOUT, all killed. What the command left behind in the background goes on. */
bool proc_run(const struct proc_spec *spec, struct cancel *cancel, int timeout_ms, struct buf *out,
              int *ret_status, struct err *err) MUST_CHECK;

/* A guard that puts the terminal behind tty_fd back to `found`, should this program be killed. `found` was read before the
 * modes were changed; the guard starts after that, so it need not delay the first frame: it takes what it sees as this
 * program's modes, and leaves a terminal alone that somebody else has set since (a shell that was faster).
 * proc_unguard_terminal when the modes are back (it stops the guard, which touches nothing). */
bool proc_guard_terminal(int tty_fd, const struct termios *found, struct proc *ret,
                         struct err *err) MUST_CHECK;
void proc_unguard_terminal(struct proc *p);
