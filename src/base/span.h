#pragma once
/*
 * Trace spans: interaction > llm_request, tool > tool.blocked_on_user, tool.execution; hook. A span is
 * started, may get attributes, and is ended exactly once; ending hands it to the sink as plain data. Without a sink
 * span_start gives NULL and every call accepts NULL, so tracing off costs a branch. Thread-safe; a span belongs to the
 * thread that works on it.
 */
#include <stdint.h>

struct span;
struct span_end_data {
    const char *name;
    uint64_t trace_hi, trace_lo, id, parent; /* parent 0: root */
    int64_t start_us, end_us;                /* monotonic */
    const char *status;                      /* "ok", or the error's text */
};
typedef void (*span_sink_fn)(void *user, const struct span_end_data *d);
void span_set_sink(span_sink_fn sink, void *user); /* NULL: off */
struct span *span_start(const char *name, const struct span *parent);
void span_end(struct span *s, const char *status); /* frees it */
