#include "model/stream.h"

#include "model/provider.h"

static const char *const stop_names[] = {
    [STOP_NONE] = "",
    [STOP_END_TURN] = "end_turn",
    [STOP_MAX_TOKENS] = "max_tokens",
    [STOP_SEQUENCE] = "stop_sequence",
    [STOP_TOOL_USE] = "tool_use",
    [STOP_PAUSE_TURN] = "pause_turn",
    [STOP_REFUSAL] = "refusal",
    [STOP_CONTEXT_EXCEEDED] = "model_context_window_exceeded",
};

const char *
stop_reason_name(enum stop_reason r)
{
    return stop_names[r];
}

enum stop_reason
stop_reason_parse(struct str s)
{
    for (size_t i = STOP_END_TURN; i < ARRAY_LEN(stop_names); i++)
        if (str_is(s, stop_names[i]))
            return (enum stop_reason)i;
    /* A reason that is newer than this program ends the turn like any other. */
    return s.len ? STOP_END_TURN : STOP_NONE;
}

enum model_step
model_stream_next(struct model_stream *s, int wake_fd, int timeout_ms, struct delta *ret,
                  struct err *err)
{
    *ret = (struct delta){0};
    return s->ops->next(s, wake_fd, timeout_ms, ret, err);
}

void
model_stream_free(struct model_stream *s)
{
    if (s)
        s->ops->free(s);
}

void
model_provider_free(struct model_provider *p)
{
    if (p)
        p->free(p->self);
}
