#pragma once
/* Errors of the Messages API as struct err: status, kind ("overloaded_error", or "prompt_too_long" however it is worded), whether
 * another attempt makes sense, and Retry-After. */
#include "base/buf.h"
#include "base/err.h"

struct cJSON;
/* An `error` event in the stream, after HTTP 200. */
void anthropic_error_event(const struct cJSON *event, const char *request_id, struct err *err);
/* An answer that is not 2xx; retry_after: the header or NULL. */
void anthropic_error_body(int status, struct str body, const char *retry_after,
                          const char *request_id, struct err *err);
