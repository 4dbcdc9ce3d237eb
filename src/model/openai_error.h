#pragma once
/*
 * Errors of the chat completions wire as struct err, with the kinds the engine knows: "prompt_too_long" however it is worded,
 * "overloaded_error". Servers answer {"error": {..}}, {"error": "text"}, {"message": ..}, {"detail": ..}, plain text or a web page.
 */
#include "base/buf.h"
#include "base/err.h"

struct cJSON;
struct http;

/* What the server said, in words, appended to out; false when the tree says nothing. */
bool openai_error_message(const struct cJSON *tree, struct buf *out);
/* Is this chunk an error? event: the SSE event's name. */
bool openai_is_error(const struct cJSON *tree, struct str event);
/* An error in the stream, after HTTP 200. request_id "": the body's own is looked for. */
void openai_error_event(const struct cJSON *tree, const char *request_id, struct err *err);
/* Bytes where an event was due: an error in plain words. */
void openai_error_words(struct str words, const char *request_id, struct err *err);
/* An answer that is not 2xx; retry_after_ms 0: not given. */
void openai_error_body(int status, struct str body, int retry_after_ms, const char *request_id,
                       struct err *err);
/* Milliseconds until the server wants to be asked again, from the headers of its answer (retry-after-ms, retry-after in seconds or as a
 * date, x-ratelimit-reset-*); 0: it did not say. `header` looks one up: NULL when it is not there. */
int openai_retry_after(const char *(*header)(void *ctx, const char *name), void *ctx);
