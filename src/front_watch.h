#pragma once
/*
 * Signals of the fronts without panes (print mode, plain lines, replay). A thread of its own reads them and hands them on through a pipe, so
 * that a signal counts also while the program cannot look: while it starts (a key helper that never ends, a server that is slow with its
 * list), reads its prompt, or writes to somebody who does not read. A program that has not taken a signal that asks for its end after
 * 5 seconds, or is still there 20 seconds after one, is ended by the thread, with the exit code that belongs to the signal.
 */
#include <stdbool.h>

struct front_watch;

/* Blocks the signals (front_signals) and begins. Before any other thread. int_ends: INT ends the program, as TERM and HUP always do. Never NULL. */
struct front_watch *front_watch_start(bool int_ends);
/* Reads as a signalfd does: struct signalfd_siginfo. */
int front_watch_fd(const struct front_watch *w);
/* 130 or 143 once a signal asked for the end, 0 before. */
int front_watch_code(const struct front_watch *w);
/* Takes what waits; the code of the last signal that asks for the end, or 0. */
int front_watch_take(struct front_watch *w);
/* From here on such a signal calls `stop` at once, in the watch's thread; NULL: no more. A signal that came before counts too. */
void front_watch_busy(struct front_watch *w, void (*stop)(void *user), void *user);
void front_watch_free(struct front_watch *w);
