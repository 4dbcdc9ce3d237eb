#pragma once
/*
 * The streaming tool executor. A call starts when its block is complete, while the model still talks;
 * concurrency-safe calls overlap, others run alone and in order; a parked call (it asks) holds only the unsafe ones behind it.
 * Whatever happens, each tool_use gets exactly one tool_result, in order. Engine thread only; tools run in the pool.
 *
 *     executor_begin(x, turn_token, false);
 *     executor_add(x, id, name, input, bad);   // for each complete block
 *     while (!executor_done(x)) { wait for the waker; executor_pump(x); }
 *     executor_results(x, builder, &json);     // and the batch is over
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/message.h"
#include "engine/event.h"

struct core;
struct op;
struct executor;

struct executor *executor_new(struct core *c);
void executor_free(struct executor *x);

/* A new batch under the turn's token. person: typed by the person. */
void executor_begin(struct executor *x, struct cancel *turn, bool person);
/* bad_input: the bytes were no JSON object. */
void executor_add(struct executor *x, struct str id, struct str name, struct str input,
                  bool bad_input);
/* Takes in finished calls and the classifier's verdicts, and starts what may start. */
void executor_pump(struct executor *x);
/* Until the next pump is due though nothing woke it: an ask has waited for afk.max_wait. -1: never. */
int executor_timeout_ms(const struct executor *x);
bool executor_done(const struct executor *x);
size_t executor_len(const struct executor *x);
bool executor_started(const struct executor *x); /* some call ran or was answered */

/* Cancels what runs, answers every open call with why in words, and waits a bounded time for the workers. */
void executor_abort(struct executor *x, enum cancel_reason reason);
/* Answers every call that has not begun with why in words; what runs goes on, and is waited for as ever. */
void executor_drop_waiting(struct executor *x, const char *why);
/* Drops the batch without answers: the stream it came from is tried again. Only when nothing started. */
void executor_discard(struct executor *x);
/* Appends the results in order to `b` (within their budget); ret_json: array of their tool_use_result objects. Ends the batch. */
void executor_results(struct executor *x, struct message_builder *b, struct buf *ret_json);
/* The text result of the only call of a person's batch, and how it ended, for message->ends (yours); ends the batch. */
void executor_person_result(struct executor *x, struct buf *ret_text, char **ret_ends,
                            bool *ret_error);

void executor_answer(struct executor *x, const struct op *op); /* OP_PERM_ANSWER */
/* Mode, rules or trust changed. `stepped`: on the way through the modes, where what a person was asked stays that person's. */
void executor_reconsider(struct executor *x, bool stepped);
bool executor_stop_call(struct executor *x, struct str id); /* OP_STOP_TOOL */
/* OP_BACKGROUND_TOOL; id empty: the newest. False: no such command runs. */
bool executor_background_call(struct executor *x, struct str id);
/* A call of the batch that has no result yet: the line that tells it, yours; NULL: there is none. */
char *executor_describe(const struct executor *x, struct str id, const char **ret_name,
                        enum tool_state *ret_state);
