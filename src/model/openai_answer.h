#pragma once
/*
 * The chunks of one chat completion, or the whole of one that was not streamed, become the deltas of one message (model/stream.h). A
 * call is handed on only when the answer ended as it should: nothing marks the end of a single call on this wire. Its input is shown
 * while it comes.
 *
 *     openai_answer_chunk(a, tree, data);              each chunk
 *     openai_answer_end(a);                            [DONE], or an end that counts as one (openai_answer_is_over)
 *     while (openai_answer_next(a, &delta)) ...        after each of them
 */
#include "model/openai_calls.h"
#include "model/stream.h"

struct openai_answer;
/* offer is borrowed; input_estimate: tokens of the request, for servers that do not count. */
struct openai_answer *openai_answer_new(const struct openai_offer *offer, int64_t input_estimate);
void openai_answer_free(struct openai_answer *a);
/* data: the chunk's bytes; marked: some text in this answer has marked halves (halves.h). */
void openai_answer_chunk(struct openai_answer *a, const struct cJSON *tree, struct str data,
                         bool marked);
/* Before the end: an input holds bytes that are no UTF-8, so that the answer is junk. */
bool openai_answer_has_junk(const struct openai_answer *a);
void openai_answer_end(struct openai_answer *a);
/* A reason to finish was given, or usage, which comes last: an end of the stream is the end of the answer. */
bool openai_answer_is_over(const struct openai_answer *a);
/* The reason itself when it says that the server failed ("error"); ptr NULL else. */
struct str openai_answer_failure(const struct openai_answer *a);
/* The next delta; its strings are borrowed until the next call here. */
bool openai_answer_next(struct openai_answer *a, struct delta *ret);
