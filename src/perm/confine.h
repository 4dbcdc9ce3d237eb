#pragma once
/*
 * The process between the supervisor and a confined command (perm/sandbox.h). Entered from main before anything else is set up; never
 * returns. One thread; what it executes is the command, or bubblewrap with this program as the sandbox's first process.
 *
 *     yare --confine PLAN -- ARGV...          PLAN: a file of records, made by sandbox_command_init
 *     yare --confine init FD WORDS -- ARGV... the first process inside bubblewrap; FD takes struct confine_report
 *     yare --confine try                      applies Landlock and seccomp to itself and ends: can it be had?
 *
 * PLAN is "key=value" records, each ended by NUL; "bwrap-args" ends them, and what follows are bwrap's own arguments in the same form:
 *     kind=bwrap|landlock  bwrap=PATH  tmp=DIR  note=FILE  file=BYTES  cpu=SECONDS  net=0|1  proxy=SOCKET (inside)  abi=N
 *     s=PATH a socket to be hidden, should it still be there (bwrap)
 *     w=PATH may be written, x=PATH must not be read, r=PATH a hole in those (Landlock only)
 *
 * Fails closed: a step that fails writes "setup TEXT" to the note, says so on standard error and ends with CONFINE_FAILED.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

enum { CONFINE_FAILED = 125 };

/* Called first in main. With --confine it never returns. Else it notes that this program can be executed so: one whose main does not
 * call it would begin anew in place of the sandbox, so none is probed and none is made (confine_is_possible). */
void confine_entry(int argc, char **argv);
bool confine_is_possible(void);

/* ---- between the files of this mechanism ---- */

struct confine {
    bool bwrap_kind, network;
    int abi;
    int plan_fd;
    int64_t args_at; /* where bwrap's arguments begin in it */
    const char *bwrap, *tmp, *note, *proxy;
    int64_t file_bytes, cpu_seconds;
    const char **write, **hidden, **shown; /* Landlock's */
    size_t n_write, n_hidden, n_shown;
    const char **sockets; /* bwrap's: to be hidden where they are still there */
    size_t n_sockets;
    char *text; /* what the strings borrow from */
};

struct confine_report {
    int32_t event, value;
};
enum confine_event {
    CONFINE_STARTED, /* value: 0. The sandbox stands */
    CONFINE_EXITED,  /* value: wait status of the command's own process */
    CONFINE_BROKEN   /* value: errno; the text went to standard error */
};

/* Says which step failed and ends. */
_Noreturn void confine_fail(const struct confine *c, const char *step, int errnum);
_Noreturn void confine_exec(char **argv); /* as a shell would: 127, 126 */

/* confine_bwrap.c */
_Noreturn void confine_bwrap(const struct confine *c, char **argv);
_Noreturn void confine_init(int argc, char **argv);

/* confine_landlock.c: restricts this process and what it executes. False with errno and *ret_step. */
bool confine_landlock(const struct confine *c, const char **ret_step);
int confine_landlock_abi(void); /* 0: none */
/* Only the scopes (signals and abstract sockets to outside), where the ABI has them. */
bool confine_landlock_scopes(void);

/* confine_seccomp.c: the filter for this process and all it executes. Needs no_new_privs. False with errno. */
struct confine_sockets {
    bool unix_, internet;
};
bool confine_seccomp(struct confine_sockets allowed);

/* confine_bridge.c: serves 127.0.0.1:SANDBOX_PROXY_PORT, each connection passed on to the socket at `path`, in a process of its own, whose
 * pid it gives. -1 with errno when it cannot listen. */
pid_t confine_bridge(const char *path);

/* Empties every capability set; a no-op without any. False with errno. */
bool confine_drop_caps(void);
