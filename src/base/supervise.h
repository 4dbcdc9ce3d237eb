#pragma once
/*
 * The supervisor process behind base/proc.h. Entered from main before anything else is set up (also before options are
 * read); never returns. Links nothing but libc.
 *
 *     yare --supervise DEATH_FD STATUS_FD [--drain FD] [--cwd DIR] [--setsid] [--tty FD] [-- ARGV...]
 *
 * DEATH_FD is a stream socket to yare. End of file means that yare is gone: every descendant is killed. Requests on it
 * are struct supervise_request. STATUS_FD carries struct supervise_report to yare; it ends when the last descendant is
 * gone and the supervisor with it. Standard input, output and error become the command's and are closed here.
 * --drain is the reading end of the command's output: after SUPERVISE_RELEASE the supervisor reads it to nowhere, so
 * that what was left behind does not die of a closed pipe. --tty guards the terminal (there is no command then): standard
 * input has the struct termios to put back when yare ends without SUPERVISE_QUIT.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum supervise_op {
    SUPERVISE_KILL,    /* TERM to every descendant, KILL after grace_ms, until none is left */
    SUPERVISE_STOP,    /* the same, but INT first and TERM after a third of grace_ms */
    SUPERVISE_RELEASE, /* yare no longer reads the output; descendants may go on while yare lives */
    SUPERVISE_QUIT     /* the terminal guard's work is done */
};
struct supervise_request {
    int32_t op, grace_ms;
};

enum supervise_event {
    SUPERVISE_STARTED, /* value: pid of the command */
    SUPERVISE_NO_CWD,  /* value: errno of chdir */
    SUPERVISE_NO_EXEC, /* value: errno of exec */
    SUPERVISE_NO_FORK, /* value: errno of fork or pipe */
    SUPERVISE_EXITED   /* value: wait status of the command's own process */
};
struct supervise_report {
    int32_t event, value;
};

_Noreturn void supervise_main(int argc, char **argv);

/* supervise_tree.c: sends `sig` to every descendant of this process (found by their parents in /proc); returns how
 * many there are. Zombies do not count. */
int supervise_signal_tree(int sig);

/* supervise_caps.c: can a cgroup for memory and pids be made here? */
bool supervise_has_cgroup(void);
