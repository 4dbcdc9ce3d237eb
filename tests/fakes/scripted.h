#pragma once
/*
 * A model that says what a test wrote down: a list of replies, each a list of steps. What was asked is kept, so that tests
 * assert on outgoing requests. Replies are used in order; when none is left a request fails for good.
 *
 *     struct scripted *s = scripted_new();
 *     scripted_reply(s);
 *     scripted_text(s, "let me look");
 *     scripted_tool(s, "t1", "Read", "{\"name\":\"a\"}");
 *     scripted_end(s, STOP_TOOL_USE);
 *
 * The classifier of auto mode has replies and requests of its own: a request whose system prompt is the classifier's takes the next
 * reply that scripted_judge_reply began.
 *
 * So have the calls beside the loop, which ask for a summary: scripted_side_reply.
 *
 * The engine, the classifier and the calls beside the loop run the provider, each on its threads; scripted_open_gate and the request getters are for the test's.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/stream.h"

struct scripted;
struct scripted *scripted_new(void);
void scripted_free(struct scripted *s);                       /* after the engine */
struct model_provider *scripted_provider(struct scripted *s); /* borrowed from s */

void scripted_reply(struct scripted *s);                        /* begins the next reply */
void scripted_judge_reply(struct scripted *s);                  /* ... of the classifier */
void scripted_judge_says(struct scripted *s, const char *text); /* ... a whole one */
void scripted_side_reply(struct scripted *s);                   /* ... of a call beside the loop */
void scripted_side_says(struct scripted *s, const char *text);  /* ... a whole one */
void scripted_side_fail(struct scripted *s, const struct err *err);
void scripted_text(struct scripted *s, const char *text);      /* a text block in several deltas */
void scripted_open_text(struct scripted *s, const char *text); /* ... that does not end */
void scripted_thinking(struct scripted *s, const char *text, const char *signature);
void scripted_tool(struct scripted *s, const char *id, const char *name, const char *input);
void scripted_usage(struct scripted *s, int64_t input, int64_t output);
void scripted_cache(struct scripted *s, int64_t read, int64_t write); /* usage of the cache */
void scripted_gate(struct scripted *s, int gate); /* waits here until the gate is open (0 to 31) */
void scripted_end(struct scripted *s, enum stop_reason stop); /* with a usage of 100 and 10 */
void scripted_end_with(struct scripted *s, enum stop_reason stop, int64_t input, int64_t output);
void scripted_fail(struct scripted *s, const struct err *err);       /* the stream breaks here */
void scripted_fail_start(struct scripted *s, const struct err *err); /* nothing could be sent */

void scripted_open_gate(struct scripted *s, int gate);

/* What was asked, in order. Strings are borrowed and stay. */
struct scripted_request {
    char *model, *system, *tools;
    char **messages; /* serialised */
    size_t n_messages;
    int max_tokens;
    size_t message_break[2], system_break[2];
    uint64_t edition; /* of the messages */
    bool body_same; /* the body that goes on from the one before is the body that is written anew */
};
size_t scripted_requests(struct scripted *s);
const struct scripted_request *scripted_request(struct scripted *s, size_t i);
size_t scripted_judge_requests(struct scripted *s);
const struct scripted_request *scripted_judge_request(struct scripted *s, size_t i);
size_t scripted_side_requests(struct scripted *s);
const struct scripted_request *scripted_side_request(struct scripted *s, size_t i);
