#pragma once
/*
 * What engine/session*.c share: session.c begins, resumes and closes; session_journal.c writes; session_passport.c keeps the passport.
 * Engine thread. Others use core.h.
 */
#include "engine/core.h"

/* Opens the journal and writes its first line, if that was not done yet: a session without a message leaves no file. */
bool session_need_journal(struct core *c, struct err *err) MUST_CHECK;
/* Writes what a full disk kept back, in its order. */
bool session_write_unsaved(struct core *c, struct err *err) MUST_CHECK;

/* Writes c->todos_due, if there is a list. */
void session_note_todos(struct core *c);

/* What the journal says beside its messages. */
struct session_notes {
    struct buf usage;   /* the records, a line each */
    struct buf latches; /* the newest record of them */
    char *title;
    struct session_was *was;
    struct pins *pins;
    struct core *core; /* NULL: nobody asks for the edits of the context */
};
/* For conversation_open: user is a struct session_notes. */
void session_take_note(void *user, struct str type, struct str record);
void session_passport_begin(struct core *c); /* of a session that is new here */
/* From the store, or rebuilt from the usage records of the journal. */
void session_passport_load(struct core *c, const struct session_notes *notes);
