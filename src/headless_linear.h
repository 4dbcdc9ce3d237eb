#pragma once
/*
 * The linear front end: plain lines instead of panes, for screen readers, dumb terminals and --linear. One more client of the engine's
 * seam. Nothing but text, newlines and tabs is ever written: no escape sequence; without a UTF-8 locale ASCII alone. Lines are edited by
 * the terminal itself (its erase and kill keys), which stays in the state it was found in.
 *
 * A permission request is a line that is answered with a line: y once, a always (the rule is shown first), n no with a reason for the
 * model, w the whole chain. What was typed before the request was on the screen never answers it.
 */
#include <stdbool.h>

#include "engine/engine.h"

struct linear_options {
    const char *prompt;      /* submitted at once, or NULL */
    const char *events_file; /* --events, or NULL */
    const char *notice;      /* said first: why there are no panes; NULL */
    bool replay;             /* of a recording: nothing is read, it ends where the recording ends */
    int signal_fd;           /* INT, TERM, HUP, WINCH, CONT */
};
/* Runs until the person ends it; the exit code. The engine stays the caller's. */
int headless_linear_run(struct engine *e, const struct linear_options *o);
