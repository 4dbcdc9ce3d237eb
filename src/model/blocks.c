#include <stdlib.h>

#include "base/json.h"
#include "model/stream.h"

struct grown {
    struct stream_block pub;
    int index; /* the provider's */
    struct buf text, input, signature, id, name;
};

struct stream_blocks {
    struct grown *blocks;
    size_t n, cap;
    struct buf message_id;
    struct usage usage;
    enum stop_reason stop;
};

struct stream_blocks *
stream_blocks_new(void)
{
    struct stream_blocks *b = xcalloc(1, sizeof *b);
    buf_init(&b->message_id, BUF_MAX);
    return b;
}

void
stream_blocks_free(struct stream_blocks *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n; i++) {
        struct grown *g = &b->blocks[i];
        buf_release(&g->text);
        buf_release(&g->input);
        buf_release(&g->signature);
        buf_release(&g->id);
        buf_release(&g->name);
    }
    free(b->blocks);
    buf_release(&b->message_id);
    free(b);
}

/* The newest block with that index: servers number from 0 again after a restart inside one answer. */
static struct grown *
find_block(struct stream_blocks *b, int index)
{
    for (size_t i = b->n; i-- > 0;)
        if (b->blocks[i].index == index && !b->blocks[i].pub.complete)
            return &b->blocks[i];
    return NULL;
}

/* Appending may move the bytes: the borrowed views follow. */
static void
refresh(struct grown *g)
{
    g->pub.text = buf_str(&g->text);
    g->pub.input = buf_str(&g->input);
    g->pub.signature = buf_str(&g->signature);
    g->pub.id = buf_str(&g->id);
    g->pub.name = buf_str(&g->name);
}

static void
start_block(struct stream_blocks *b, const struct delta *d)
{
    ARRAY_GROW(b->blocks, b->n, b->cap);
    struct grown *g = &b->blocks[b->n++];
    *g = (struct grown){.index = d->index};
    g->pub.kind = d->block;
    buf_init(&g->text, BUF_MAX);
    buf_init(&g->input, BUF_MAX);
    buf_init(&g->signature, BUF_MAX);
    buf_init(&g->id, BUF_MAX);
    buf_init(&g->name, BUF_MAX);
    buf_add_str(&g->id, d->id);
    buf_add_str(&g->name, d->name);
    buf_add_str(&g->text, d->text);
    refresh(g);
}

static void
stop_block(struct grown *g, const struct delta *d)
{
    g->pub.complete = true;
    if (d->withdrawn)
        g->pub.kind = BLOCK_OTHER;
    if (g->pub.kind != BLOCK_TOOL_USE)
        return;
    if (d->text.len) {
        buf_clear(&g->input);
        buf_add_str(&g->input, d->text);
    }
    if (str_trim(buf_str(&g->input)).len == 0) {
        buf_clear(&g->input);
        if (g->text.len) /* the input came whole with the block's start */
            buf_add_str(&g->input, buf_str(&g->text));
        else
            buf_adds(&g->input, "{}");
    }
    buf_clear(&g->text);
    struct cJSON *tree = json_parse(buf_str(&g->input), NULL);
    g->pub.bad_input = !json_is_object(tree);
    json_free(tree);
    refresh(g);
}

/* Usage is cumulative, and a later event may leave out what an earlier one said. */
static void
take_usage(struct usage *have, const struct usage *u)
{
    if (u->input > have->input)
        have->input = u->input;
    if (u->output > have->output)
        have->output = u->output;
    if (u->cache_read > have->cache_read)
        have->cache_read = u->cache_read;
    if (u->cache_write > have->cache_write)
        have->cache_write = u->cache_write;
    if (u->cache_write_1h > have->cache_write_1h)
        have->cache_write_1h = u->cache_write_1h;
    if (u->cleared_tokens > have->cleared_tokens) {
        have->cleared_tokens = u->cleared_tokens;
        have->cleared_uses = u->cleared_uses;
    }
    have->estimated = have->estimated || u->estimated;
    have->fast = have->fast || u->fast;
}

void
stream_blocks_apply(struct stream_blocks *b, const struct delta *d)
{
    struct grown *g = NULL;
    switch (d->kind) {
    case DELTA_MESSAGE_START:
        buf_clear(&b->message_id);
        buf_add_str(&b->message_id, d->id);
        take_usage(&b->usage, &d->usage);
        return;
    case DELTA_BLOCK_START:
        start_block(b, d);
        return;
    case DELTA_USAGE:
        take_usage(&b->usage, &d->usage);
        if (d->stop != STOP_NONE)
            b->stop = d->stop;
        return;
    case DELTA_PING:
    case DELTA_RAW:
        return;
    case DELTA_TEXT:
    case DELTA_THINKING:
    case DELTA_SIGNATURE:
    case DELTA_INPUT_JSON:
    case DELTA_BLOCK_STOP:
        break;
    }
    if ((g = find_block(b, d->index)) == NULL)
        return; /* a delta of a block that never began says nothing we could place */
    if (d->kind == DELTA_BLOCK_STOP)
        stop_block(g, d);
    else if (d->kind == DELTA_INPUT_JSON)
        buf_add_str(&g->input, d->text);
    else if (d->kind == DELTA_SIGNATURE)
        buf_add_str(&g->signature, d->text);
    else
        buf_add_str(&g->text, d->text);
    refresh(g);
}

size_t
stream_blocks_len(const struct stream_blocks *b)
{
    return b->n;
}

const struct stream_block *
stream_blocks_at(const struct stream_blocks *b, size_t i)
{
    return &b->blocks[i].pub;
}

struct str
stream_blocks_message_id(const struct stream_blocks *b)
{
    return buf_str(&b->message_id);
}

const struct usage *
stream_blocks_usage(const struct stream_blocks *b)
{
    return &b->usage;
}

enum stop_reason
stream_blocks_stop(const struct stream_blocks *b)
{
    return b->stop;
}

static void
add_block(struct message_builder *m, const struct stream_block *s)
{
    switch (s->kind) {
    case BLOCK_TEXT:
        message_add_text(m, s->text);
        break;
    case BLOCK_THINKING:
        /* Without its signature a thinking block would be refused when it goes back. */
        if (s->complete && s->signature.len)
            message_add_thinking(m, s->text, s->signature);
        break;
    case BLOCK_REDACTED_THINKING:
        if (s->complete)
            message_add_redacted(m, s->text);
        break;
    case BLOCK_TOOL_USE:
        if (s->complete)
            message_add_tool_use(m, s->id, s->name, s->bad_input ? STR("{}") : s->input);
        break;
    case BLOCK_TOOL_RESULT:
    case BLOCK_IMAGE:
    case BLOCK_OTHER:
        break; /* no model answers with these */
    }
}

struct message *
stream_blocks_message(const struct stream_blocks *b, const char *model, bool partial)
{
    struct message_builder *builder = message_builder_new(ROLE_ASSISTANT);
    for (size_t i = 0; i < b->n; i++)
        add_block(builder, &b->blocks[i].pub);
    struct message *m = message_build(builder);
    if (!m)
        return NULL;
    free(m->model);
    m->model = xstrdup(model);
    free(m->api_id);
    m->api_id = b->message_id.len ? str_dup(buf_str(&b->message_id)) : NULL;
    m->partial = partial;
    return m;
}
