#pragma once
/*
 * What a person pinned: it stays word for word through every tier (struct tier_pin of engine/tiers.h). Kept in the journal
 * ("pin" notes) and read back on resume. Engine thread.
 *
 *     /pin src/parse.c      a file: its content is given anew after a compaction
 *     /pin the API must stay source compatible      a fact: these words
 *     /pin last             the person's newest message
 *     /pin                  what is pinned, numbered;  /pin remove N
 *
 * A pinned message has its uuid and its words: the tiers leave the message alone, and a compaction, after which it is gone, keeps
 * the words.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "engine/tiers.h"

struct core;

#define PINS_MAX 64
#define PIN_FACT_MAX 4000 /* bytes */

struct pins {
    struct tier_pin list[PINS_MAX];
    bool told[PINS_MAX]; /* the model has it in its history */
    size_t n;
};
/* How the note of a pin begins, for the model. */
#define PINS_OPEN "The person pinned this; it holds until they say otherwise:"
void pins_release(struct pins *p);
bool pins_add(struct core *c, struct str what, struct err *err) MUST_CHECK;
bool pins_remove(struct core *c, size_t number, struct err *err) MUST_CHECK; /* from 1 */
void pins_read_note(struct pins *p, struct str record);                      /* on resume */
bool pins_note_all(struct core *c, struct err *err) MUST_CHECK; /* into the journal of a fork */
void pins_say(const struct core *c, struct buf *out);
/* For engine/attach.c: what is pinned and was not told yet. */
bool pins_attach(struct core *c, struct buf *out);
void pins_told(struct core *c); /* a compaction's message holds all of them */
