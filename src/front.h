#pragma once
/*
 * Front ends besides the plain full screen and print mode: plain lines, the tour, and a recording in either. Each sets up, runs to
 * its end on the calling thread, says on standard error what went wrong, and returns the exit code (0, 1, 2 for wrong usage, 130 or
 * 143 after a signal). The options stay the caller's.
 */
#include <stdbool.h>

#include "base/err.h"
#include "cli.h"

struct engine;
struct front_watch;
struct setup;

/* INT, TERM, HUP, WINCH, CONT as a descriptor. Blocked before the first thread starts, so that every thread inherits the mask and only
 * the descriptor tells; a broken pipe, or a file past the limit on its size, is an error of its write alone. */
int front_signals(void);
/* Can the full screen be shown here? False: ret_why says why not, and that plain lines come instead. Only asked with a terminal there. */
bool front_has_screen(struct err *ret_why);
/* setup_start, given up when a signal asks for the end. NULL: it was told why, *ret_code is the exit code. */
struct engine *front_start(struct setup *s, struct front_watch *w, int *ret_code);
int front_linear(const struct options *o, const char *notice);
/* `yare tour`: through every pane in a scratch folder, by the offline pilot. */
int front_tour(const struct options *o, bool goes_back);
/* There has been no session yet, in any project. */
bool front_is_newcomer(const char *data_dir);
/* `yare replay FILE [--speed N|max] [--linear]`: argv behind the command's name. */
int front_replay(int argc, char **argv, const struct options *o);
