#pragma once
/* The stream step's parts: loop_stream.c (one attempt, and the step), loop_recover.c (between attempts), loop_ends.c (how it ends). */
#include "engine/failure.h"
#include "engine/loop_private.h"

struct tries {
    int failed, pauses;
    int of[FAILURE_COUNT]; /* by kind */
    int64_t waited_ms;
    bool repaired;
};

enum next {
    NEXT_TRY,     /* r->req is what to send */
    NEXT_KEEP,    /* what is complete is kept: the round goes on */
    NEXT_SHORTER, /* too long: loop_shorter decides */
    NEXT_ABORT,   /* the person interrupted */
    NEXT_FAIL,    /* l->result->err: the disk */
    NEXT_GIVE_UP,
};
enum next loop_after_break(struct loop *l, struct round *r, struct tries *t, const struct err *err);

/* The text received so far as a message that is marked as cut off, yours; NULL: none. */
struct message *loop_received_text(const struct loop *l, const struct round *r);
/* A part of an answer, appended and told (EV_MESSAGE); NULL is fine. False: l->result->err. */
bool loop_append_part(struct loop *l, struct message *take_m);
enum flow loop_abort_streaming(struct loop *l, struct round *r);
enum flow loop_give_up(struct loop *l, struct round *r, struct err *err);
