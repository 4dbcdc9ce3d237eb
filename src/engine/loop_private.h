#pragma once
/* The parts of the loop's steps; only loop*.c include this. */
#include "engine/engine_private.h"
#include "engine/executor.h"
#include "engine/loop.h"
#include "engine/permit.h"

enum flow { FLOW_NEXT, FLOW_AGAIN, FLOW_EXIT };

struct loop {
    struct engine *e;
    struct core *core;
    struct cancel *turn;
    struct loop_result *result;
    int broken; /* streams in a row that broke after a tool ran */
};

/* What belongs to one iteration. */
struct round {
    struct model_request req;
    char betas[256]; /* what req.betas points to */
    struct stream_blocks *blocks;
    enum stop_reason stop;
    bool broken;  /* the stream failed after a tool ran: what is complete is kept */
    bool shorter; /* too long for the model (err): nothing of it is kept, loop_shorter decides */
    struct err err;
    bool cut;     /* max_tokens with nothing to keep yet: asked again with a higher limit */
    size_t calls; /* tool calls of this round */
    int open[64]; /* indexes of blocks whose end was not emitted */
    enum event_block open_type[64];
    size_t n_open;
};

/* The one writer of transitions stands behind these. */
enum flow loop_go(struct loop *l, enum loop_transition t, const char *file, int line);
enum flow loop_end(struct loop *l, enum loop_exit x, const char *file, int line);
#define LOOP_GO(l, t) loop_go((l), (t), __FILE__, __LINE__)
#define LOOP_END(l, x) loop_end((l), (x), __FILE__, __LINE__)

enum flow step_context(struct loop *l, struct round *r);
enum flow step_request(struct loop *l, struct round *r);
enum flow step_stream(struct loop *l, struct round *r);
enum flow step_tools(struct loop *l, struct round *r);
enum flow step_decide(struct loop *l, struct round *r);

/* One delta: its events, and the executor's start where a call is complete. */
void loop_take_delta(struct loop *l, struct round *r, const struct delta *d);
/* An end always comes, also when the stream does not. */
void loop_end_open_blocks(struct loop *l, struct round *r);
/* What the next request is made of; nothing is written or mended. */
void loop_fill_request(const struct core *c, struct round *r);
/* Mends, builds the request and makes the journal durable; false: the loop ends with l->result->err. */
bool loop_build_request(struct loop *l, struct round *r);
/* Tokens of an answer that was cut off, when it is asked for again. */
#define LOOP_OUTPUT_MAX 64000
int loop_wanted_tokens(const struct core *c); /* of an answer, whatever there is room for */
int loop_max_tokens(const struct core *c);    /* of the next request */
/* The answer ended because the window is full: made shorter and asked on, or the end. */
enum flow loop_exceeded(struct loop *l);
/* An answer was cut off for want of room in the window, not by the output limit. */
bool loop_is_short_of_room(const struct loop *l);
/* Looks at ops and finished tools; true while the turn goes on. */
bool loop_attend(struct loop *l);
/* A message of yare's own, appended and journalled. */
bool loop_append_hidden(struct loop *l, const char *text);
bool loop_append_stub(struct loop *l, const char *text); /* assistant */
bool loop_says_something(const struct message *m);       /* more than thinking; NULL does not */
/* The budget's gate before a request: FLOW_EXIT where it may not be sent. */
enum flow loop_spend(struct loop *l, struct round *r);
/* The results of a batch were appended. */
void loop_note_calls(struct loop *l, const struct message *results);
/* Does the model go round in a circle? Then the person is told why, and l->result->err says it. */
bool loop_goes_round(struct loop *l);
/* A prompt: a circle that was broken before it is told to the model. */
bool loop_tell_repeat(struct loop *l);
/* r->shorter: makes the conversation shorter and goes round again, or ends with what is too long. */
enum flow loop_shorter(struct loop *l, struct round *r);
/* Hidden prompts that ask an answer on. */
#define LOOP_GO_ON_CUT                                                                             \
    "Your answer was cut off at the output limit. Go on from exactly there: no apology, no "       \
    "repetition, in smaller pieces."
#define LOOP_GO_ON_BROKEN                                                                          \
    "The connection broke in the middle of your answer. What is above has arrived. Go on from "    \
    "exactly there: no apology, no repetition."
/* After a failed append: the error is the loop's. */
enum flow loop_fail(struct loop *l, const struct err *err);
/* The executor's results and what was typed meanwhile become the next user message. */
bool loop_append_results(struct loop *l, struct err *err) MUST_CHECK;
