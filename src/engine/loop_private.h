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
    struct stream_blocks *blocks;
    enum stop_reason stop;
    char request_id[64];
    bool broken;  /* the stream failed after a tool ran: what is complete is kept */
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
/* Mends, builds the request and makes the journal durable; false: the loop ends with l->result->err. */
bool loop_build_request(struct loop *l, struct round *r);
int loop_max_tokens(const struct core *c); /* of the next request */
/* Looks at ops and finished tools; true while the turn goes on. */
bool loop_attend(struct loop *l);
/* A message of yare's own, appended and journalled. */
bool loop_append_hidden(struct loop *l, const char *text);
bool loop_append_stub(struct loop *l, const char *text); /* assistant */
bool loop_says_something(const struct message *m);       /* more than thinking; NULL does not */
/* After a failed append: the error is the loop's. */
enum flow loop_fail(struct loop *l, const struct err *err);
/* The executor's results and what was typed meanwhile become the next user message. */
bool loop_append_results(struct loop *l, struct err *err) MUST_CHECK;
