#pragma once
/*
 * What was typed before: a file of JSON lines {"t":wall_ms,"text":..,"project":root}, appended to, shared by sessions; those of
 * other projects are passed over, those without one belong to all. Read on first use, never at
 * start-up; the newest HISTORY_MAX count. A line that cannot be read is passed over. UI thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define HISTORY_MAX 1000
#define HISTORY_BYTES ((size_t)4 << 20)   /* of the file's end that are read */
#define HISTORY_ENTRY ((size_t)256 << 10) /* longer prompts are not kept */

struct history {
    char *file;    /* NULL: this session only */
    char *project; /* NULL: prompts of all projects */
    char **texts;  /* oldest first */
    size_t n, cap;
    size_t at; /* where up and down stand; n: the draft */
    struct buf draft;
    bool loaded;
};
void history_init(struct history *h, const char *file, const char *project);
void history_release(struct history *h);
/* Keeps a prompt (not when it repeats the last one) and goes back to the draft. */
bool history_add(struct history *h, struct str text, struct err *err);
/* The one before (dir -1) or after (1) the place we stand at; `current` is kept as the draft when leaving it. ptr NULL: none. */
struct str history_move(struct history *h, int dir, struct str current);
void history_leave(struct history *h); /* back to the draft */
/* The newest text that holds `needle` (case folded for ASCII) before index *at, which becomes its index. Start with *at (size_t)-1. */
struct str history_search(struct history *h, struct str needle, size_t *at);
