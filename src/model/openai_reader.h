#pragma once
/*
 * The bytes of a chat completions answer, cut anywhere, become deltas. They may be server-sent events, also ones that a strict reader
 * would lose (no blank lines between them, none at the end, no [DONE]), or one JSON document, whatever the content type says.
 *
 *     struct openai_reader *r = openai_reader_new(offer, estimate);
 *     openai_reader_feed(r, chunk);
 *     while ((step = openai_reader_next(r, &delta, err)) == MODEL_DELTA) ...
 *     MODEL_IDLE: feed more, or say openai_reader_end when there is no more
 */
#include "model/openai_answer.h"

struct openai_reader;
struct openai_reader *openai_reader_new(const struct openai_offer *offer, int64_t input_estimate);
void openai_reader_free(struct openai_reader *r);
void openai_reader_set_request_id(struct openai_reader *r, const char *id); /* for error texts */
void openai_reader_feed(struct openai_reader *r, struct str chunk);
/* No byte follows. whole: the transport says that nothing is missing. */
void openai_reader_end(struct openai_reader *r, bool whole);
/* DELTA; IDLE: more bytes are needed; DONE: the answer is whole; FAILED: err says why. After the last two it stays that. */
enum model_step openai_reader_next(struct openai_reader *r, struct delta *ret, struct err *err);
/* The reason to finish was given: what may follow is usage and the end mark, and they need not be waited for long. */
bool openai_reader_is_over(const struct openai_reader *r);
