#pragma once
/* A recording in place of a session (engine_replay in engine.h): what its thread knows, for replay.c and replay_query.c. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/recording.h"

struct event;
struct op;

/* Where a message of the conversation begins in the file. */
struct replay_place {
    int64_t place, offset;
};

struct replay {
    struct recording_reader in;
    char *path;
    double speed; /* 0: everything at once */
    bool paused, over;
    int skip; /* so many events come now, whatever their time */
    bool had_event;
    double at_ms;     /* how far the recording has been played, on its own clock (wall_ms) */
    int64_t since_us; /* monotonic: when at_ms was true */
    struct event *next;
    int64_t next_offset;
    struct replay_place *places; /* of what was played, rising */
    size_t n_places, cap_places;
    int64_t events, bad;
    int64_t played_to; /* bytes of the file up to what was played last */
};

/* Answers from what was played so far; "not available in a replay" for the rest. */
void replay_answer(struct replay *r, const struct op *op, struct buf *out);
void replay_free(struct replay *r); /* NULL is fine */
