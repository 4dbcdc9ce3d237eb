#include "engine/ask.h"

#include <limits.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "model/catalog.h"

#define BYTES_PER_TOKEN 4 /* where the server does not count */

static enum ask_end
read_stream(const struct ask *a, struct model_stream *s, struct stream_blocks *blocks,
            struct err *err)
{
    for (;;) {
        struct delta d = {0};
        int64_t left = a->until_ms - clock_mono_ms();
        if (cancel_fired(a->cancel) != CANCEL_NONE)
            return ASK_CANCELLED;
        if (left <= 0)
            return ASK_TIMEOUT;
        if (s->bytes > a->max_bytes)
            return ASK_LONG;
        switch (model_stream_next(s, cancel_fd(a->cancel), left < INT_MAX ? (int)left : INT_MAX, &d,
                                  err)) {
        case MODEL_DELTA:
            stream_blocks_apply(blocks, &d);
            break;
        case MODEL_DONE:
            return ASK_DONE;
        case MODEL_FAILED:
            return cancel_fired(a->cancel) != CANCEL_NONE ? ASK_CANCELLED : ASK_FAILED;
        case MODEL_IDLE:
            break;
        }
    }
}

enum ask_end
ask_run(const struct ask *a, struct stream_blocks *blocks, struct err *err)
{
    const struct model_info *info = catalog_find(a->model);
    const struct str system = str_trim(a->system);
    const struct model_request req = {
        .model = a->model,
        .max_tokens = a->max_tokens,
        .system = &system,
        .n_system = 1,
        .system_break = {SIZE_MAX, SIZE_MAX},
        .messages = &a->question,
        .n_messages = 1,
        .message_break = {SIZE_MAX, SIZE_MAX},
        .effort = info && info->thinking == THINKING_ADAPTIVE ? "low" : NULL,
        .session_id = a->session_id,
        .cwd = "/",
    };
    struct model_stream *s = a->provider->start(a->provider->self, &req, err);
    if (!s)
        return ASK_FAILED;
    enum ask_end end = read_stream(a, s, blocks, err);
    model_stream_free(s);
    return end;
}

/* Everything but text and thinking is more than an answer. */
const char *
ask_text(const struct stream_blocks *blocks, struct buf *out)
{
    for (size_t i = 0; i < stream_blocks_len(blocks); i++) {
        const struct stream_block *b = stream_blocks_at(blocks, i);
        if (b->kind == BLOCK_TEXT)
            buf_add_str(out, b->text);
        else if (b->kind != BLOCK_THINKING && b->kind != BLOCK_REDACTED_THINKING)
            return "it called a tool";
    }
    return buf_full(out) ? "it is too long" : NULL;
}

static struct usage
estimate(const struct ask *a, const struct stream_blocks *blocks)
{
    size_t out = 0;
    for (size_t i = 0; i < stream_blocks_len(blocks); i++)
        out += stream_blocks_at(blocks, i)->text.len + stream_blocks_at(blocks, i)->input.len;
    if (!out)
        return (struct usage){0};
    size_t in = a->system.len + (a->question ? a->question->json.len : 0);
    return (struct usage){.input = (int64_t)(in / BYTES_PER_TOKEN + 1),
                          .output = (int64_t)(out / BYTES_PER_TOKEN + 1),
                          .estimated = true};
}

void
ask_add_usage(struct usage *to, const struct ask *a, const struct stream_blocks *blocks)
{
    struct usage u = *stream_blocks_usage(blocks);
    if (!u.input && !u.output && !u.cache_read && !u.cache_write)
        u = estimate(a, blocks);
    usage_add(to, &u);
}
