#include "model/stream.h"

#include "model/provider.h"
#include "model/server.h"

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

static const char *const delta_names[] = {
    [DELTA_MESSAGE_START] = "message_start",
    [DELTA_BLOCK_START] = "block_start",
    [DELTA_TEXT] = "text",
    [DELTA_THINKING] = "thinking",
    [DELTA_SIGNATURE] = "signature",
    [DELTA_INPUT_JSON] = "input_json",
    [DELTA_BLOCK_STOP] = "block_stop",
    [DELTA_USAGE] = "usage",
    [DELTA_PING] = "ping",
    [DELTA_RAW] = "raw",
};

const char *
stop_reason_name(enum stop_reason r)
{
    return stop_names[r];
}

void
usage_add(struct usage *to, const struct usage *u)
{
    to->input += u->input;
    to->output += u->output;
    to->cache_read += u->cache_read;
    to->cache_write += u->cache_write;
    to->cache_write_1h += u->cache_write_1h;
    to->estimated |= u->estimated;
}

const char *
delta_kind_name(enum delta_kind k)
{
    return delta_names[k];
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

/* Here, so that no provider can forget it: a message that never ends must not eat the memory. */
static bool
within_limits(struct model_stream *s, const struct delta *d, struct err *err)
{
    if (d->kind == DELTA_RAW)
        return true;
    s->bytes += d->text.len + d->id.len + d->name.len;
    s->n_blocks += d->kind == DELTA_BLOCK_START;
    if (s->bytes > MODEL_MESSAGE_MAX)
        return err_set(err, ERR_LIMIT, "the answer is larger than %zu MiB: it was broken off",
                       MODEL_MESSAGE_MAX >> 20);
    if (s->n_blocks > MODEL_BLOCKS_MAX)
        return err_set(err, ERR_LIMIT, "the answer has more than %zu blocks: it was broken off",
                       MODEL_BLOCKS_MAX);
    return true;
}

enum model_step
model_stream_next(struct model_stream *s, int wake_fd, int timeout_ms, struct delta *ret,
                  struct err *err)
{
    struct err unasked = {0};
    if (!err)
        err = &unasked;
    *ret = (struct delta){0};
    enum model_step step = s->ops->next(s, wake_fd, timeout_ms, ret, err);
    if (step == MODEL_DELTA && !within_limits(s, ret, err))
        return MODEL_FAILED;
    return step;
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
    if (!p)
        return;
    struct model_server *server = p->server;
    p->free(p->self);
    model_server_free(server);
}
