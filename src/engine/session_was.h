#pragma once
/*
 * What a resumed session was besides its messages: what its journal says and is not settled yet. core_restore_choices (core.h) takes
 * up the model and the mode, the rest is told to the model once. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "engine/engine.h"

struct core;

struct was_task {
    char *id, *what;
};
struct session_was {
    char *model, *provider; /* chosen last; NULL: not said */
    bool answered;          /* model is the one that answered last, for want of a better word */
    bool has_mode;
    enum perm_mode mode; /* chosen last */
    char *todos;         /* JSON array; NULL: none */
    struct was_task
        tasks[16]; /* background commands whose end the model has not been told; the newest */
    size_t n_tasks;
};
/* Takes in one record of the journal that is no message, in their order. */
void session_was_note(struct session_was *w, struct str type, struct str record);
void session_was_release(struct session_was *w);
/* How full the context is, by the newest usage record that still counts. */
void session_was_usage(struct core *c, struct str records);
/* The model hears once of background commands that ended with an earlier run, or run on in the session this is a copy of. */
void session_was_add_reminder(struct core *c, struct buf *out);
