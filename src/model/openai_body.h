#pragma once
/*
 * The request body of a chat completion. Our messages (Messages API blocks, base/message.h) are written as chat messages: the system
 * prompt first, tool_use as tool_calls, each tool_result as a message of the role tool, thinking left out. What one of our messages
 * becomes depends on nothing but itself and the flags that are off (and, without `parallel`, the results that follow), so that the messages
 * of request N stand byte for byte in request N + 1.
 *
 * Never sent, so that no server can refuse it: a system message after the first, two user or two assistant messages in a row, a call
 * without its answer right behind.
 */
#include "model/body_text.h"
#include "model/openai_caps.h"
#include "model/stream.h"

/* The body as slices into `text` (which goes on from the request before) and `scratch`; either is full when it is too large. Returns their
 * number. without: flags that are off. *ret_used: flags of things that this body makes use of. */
size_t openai_body(const struct model_request *req, struct body_text *text, unsigned without,
                   struct buf *scratch, struct str ret[BODY_SLICES], unsigned *ret_used);
/* Tokens of a body, should the server not count them. */
int64_t openai_body_tokens(const struct body_text *text, const struct str *slices, size_t n);
/* One message: the chat messages that `m` becomes, each behind a comma (openai_message.c). before, next: its neighbours, or NULL. head: the
 * system prompt where it has no message of its own, or empty. */
void openai_message(const struct message *m, const struct message *before,
                    const struct message *next, struct str head, unsigned without, struct buf *out,
                    unsigned *used);
