#pragma once
/*
 * The TUI: one loop over terminal, engine events, signals and the frame timer. It has one client, main.c (and front_*.c for a tour or
 * a recording), which says how the engine is started; everything on the screen is behind this one call.
 *
 * The first frame is painted before the engine is asked for. start_engine runs on a thread of its own; the engine it gives belongs to
 * app_run, which stops and frees it. All else runs on the thread that calls. What cannot be used as a terminal is said on standard
 * error; errors of the engine are lines in the transcript.
 */
#include <stdbool.h>

#include "base/err.h"

struct engine;
struct app_options {
    const char *prompt; /* submitted at once, or NULL */
    bool no_color, no_mouse, no_alt_screen, linear;
    const char *history_file;    /* prompt history, or NULL */
    const char *history_project; /* whose prompts come back; NULL: those of all projects */
    const char *events_file;     /* --events: record the event stream, or NULL */
    /* of a recording: the prompt takes no prompts, its keys are pause, speed and step */
    bool replay;
    bool tour; /* guides through the screen, step by step; ends with it */
    /* the person asked for the tour: app_run ends, and here is the session to come back to ("": none), the caller's; NULL: there is no tour to go to */
    char **ret_tour;
    const char *keys_file; /* the person's keybindings.json, or NULL; read after the first frame */
    int signal_fd;         /* signalfd of INT, TERM, HUP, WINCH, CONT; blocked in all threads */
    /* Starts the engine once the first frame was painted: on a thread of its own, with all signals blocked. It may take its time (a key
     * helper, a slow disk): the screen answers meanwhile, and what is submitted is sent when the engine is there. */
    struct engine *(*start_engine)(void *user, struct err *err);
    /* The person quits before start_engine came back: it shall give up soon. Any thread; NULL: it is always quick. */
    void (*stop_start)(void *user);
    /* At each key, once the engine is there; NULL: nobody wants to know. */
    void (*key_came)(void *user);
    /* Before the engine is freed: nobody may touch it from here on. NULL: nobody does. */
    void (*stop_helpers)(void *user);
    void *user;
};
/* Runs until the person quits; the exit code (0, 1, 130, 143). Leaves the last answer and `yare resume ID` on the normal
 * screen. *ret_left_behind (may be NULL): start_engine did not come back and still uses `user` and the options, which must stay. */
int app_run(const struct app_options *o, bool *ret_left_behind);
