#pragma once
/*
 * The supervisor process behind base/proc.h. Entered from main before anything else is set up (also before options are
 * read); never returns. Links nothing but libc.
 *
 *     yare --supervise DEATH_FD STATUS_FD [--drain FD] [--cwd DIR] [--setsid] [--tty FD]
 *                    [--memory BYTES] [--processes N] [--note FILE] [-- ARGV...]
 *
 * DEATH_FD is a stream socket to yare. End of file means that yare is gone: every descendant is killed. Requests on it
 * are struct supervise_request. STATUS_FD carries struct supervise_report to yare; it ends when the last descendant is
 * gone and the supervisor with it. Standard input, output and error become the command's and are closed here.
 * --drain is the reading end of the command's output: after SUPERVISE_RELEASE the supervisor reads it to nowhere, so
 * that what was left behind does not die of a closed pipe. --tty guards the terminal (there is no command then): standard
 * input has the struct termios to put back when yare ends without SUPERVISE_QUIT. --memory, --processes and --note are struct
 * proc_caps.
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

struct supervise_usage {
    int processes;
    int64_t memory_bytes; /* not shared with others */
};
/* Every descendant, zombies left out; memory only when asked for. */
void supervise_count_tree(struct supervise_usage *ret, bool memory);
/* Processes and threads of this account, as RLIMIT_NPROC counts them. */
int supervise_count_account(void);

/* supervise_caps.c. Caps of the whole tree, and what was hit of them. */
struct supervise_group {
    char dir[2048]; /* "": none could be made */
    bool v2;
};
struct supervise_caps {
    int64_t memory_bytes; /* 0: no cap */
    int processes;        /* 0: no cap */
    const char *note;     /* a line is added for each cap that was hit: "memory", "processes" */
    struct supervise_group memory, pids;
    bool noted_memory, noted_processes;
    long long next_ms, refused;
    int refused_rounds; /* counts in a row in which the kernel refused processes */
};
/* Can a cgroup for memory and pids be made here? Tried. */
bool supervise_has_cgroup(void);
void supervise_caps_begin(struct supervise_caps *c);
bool supervise_caps_enter(
    const struct supervise_caps *c);                /* the command's process, before it executes */
void supervise_caps_note(struct supervise_caps *c); /* what the kernel's counters say */
/* For caps without a cgroup, and for what runs against one without end: milliseconds until the next count is due, -1: none is. *ret_over: the tree has to end. */
int supervise_caps_count(struct supervise_caps *c, bool *ret_over);
void supervise_caps_end(struct supervise_caps *c); /* when no process is left */
