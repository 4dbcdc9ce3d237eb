#pragma once
/*
 * The modes of the terminal that curses knows nothing of, and the way back: the line settings as they were found and
 * one string that undoes everything, so that a crash can write it from a signal handler. One terminal at a time; UI
 * thread, except modes_emergency.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct modes_wish {
    bool mouse, alt_screen;
    bool ansi; /* understands CSI sequences */
    bool ask;  /* answers queries: background colour, synchronized updates */
    const char *exit_alt, *show_cursor,
        *plain; /* of the terminal description; borrowed for the call */
};
bool modes_save(int in_fd, int out_fd,
                struct err *err) MUST_CHECK;  /* the line settings, before curses */
void modes_arm(const struct modes_wish *w);   /* prepares the way back */
void modes_enter(const struct modes_wish *w); /* bracketed paste, focus, mouse, keyboard; asks */
void modes_mouse(const struct modes_wish *w); /* after modes_enter: its `mouse` has changed */
void modes_leave(
    void); /* the same back; curses puts back the screen, then modes_line_restore the line */
void modes_line_restore(void);
void
modes_emergency(void); /* all of it; async-signal-safe; only the first call after modes_arm acts */
void
modes_catch_crashes(void); /* SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE: restore, then die of it */
void modes_uncatch_crashes(void);
void modes_write(struct str bytes); /* to the terminal at once, through short writes */
