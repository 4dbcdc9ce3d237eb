/* Deltas of the stream become events and tool calls. */
#include "engine/executor.h"
#include "engine/loop_private.h"

/* ---- events of blocks ---- */

static struct event *
block_event(const struct loop *l, enum event_phase phase, enum event_block type, int index)
{
    struct event *e = event_new(EV_BLOCK);
    e->place = core_next_place(l->core);
    e->phase = phase;
    e->u.block.type = type;
    e->u.block.index = index;
    return e;
}

static bool
block_type(enum block_kind k, enum event_block *ret)
{
    switch (k) {
    case BLOCK_TEXT:
        *ret = EVBLOCK_TEXT;
        return true;
    case BLOCK_THINKING:
    case BLOCK_REDACTED_THINKING:
        *ret = EVBLOCK_THINKING;
        return true;
    case BLOCK_TOOL_USE:
        *ret = EVBLOCK_TOOL_USE;
        return true;
    default:
        return false;
    }
}

static void
begin_block(struct loop *l, struct round *r, const struct delta *d)
{
    enum event_block type;
    if (!block_type(d->block, &type) || r->n_open == ARRAY_LEN(r->open))
        return;
    r->open[r->n_open] = d->index;
    r->open_type[r->n_open++] = type;
    struct event *e = block_event(l, PHASE_START, type, d->index);
    if (type == EVBLOCK_TOOL_USE) {
        e->u.block.tool_use_id = str_dup(d->id);
        e->u.block.name = str_dup(d->name);
    }
    core_emit(l->core, e);
}

static size_t
find_open(const struct round *r, int index)
{
    for (size_t i = 0; i < r->n_open; i++)
        if (r->open[i] == index)
            return i;
    return SIZE_MAX;
}

static void
grow_block(struct loop *l, struct round *r, const struct delta *d)
{
    size_t i = find_open(r, d->index);
    if (i == SIZE_MAX || !d->text.len)
        return;
    struct event *e = block_event(l, PHASE_DELTA, r->open_type[i], d->index);
    e->u.block.text = str_dup(d->text);
    core_emit(l->core, e);
}

static void
end_block(struct loop *l, struct round *r, size_t i)
{
    core_emit(l->core, block_event(l, PHASE_END, r->open_type[i], r->open[i]));
    r->n_open--;
    r->open[i] = r->open[r->n_open];
    r->open_type[i] = r->open_type[r->n_open];
}

/* An end always comes, also when the stream does not. */
void
loop_end_open_blocks(struct loop *l, struct round *r)
{
    while (r->n_open)
        end_block(l, r, 0);
}

/* ---- deltas ---- */

/* The block that just stopped: the last complete tool_use that the executor has not seen. */
static void
hand_over_calls(struct loop *l, struct round *r)
{
    size_t n = stream_blocks_len(r->blocks), seen = 0;
    for (size_t i = 0; i < n; i++) {
        const struct stream_block *b = stream_blocks_at(r->blocks, i);
        if (b->kind != BLOCK_TOOL_USE || !b->complete)
            continue;
        if (seen++ < r->calls)
            continue;
        r->calls++;
        executor_add(l->core->executor, b->id, b->name, b->input, b->bad_input);
    }
}

static void
take_usage(struct loop *l, struct round *r)
{
    struct core *c = l->core;
    c->usage.running = *stream_blocks_usage(r->blocks);
    core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
}

static void
emit_raw(struct loop *l, struct str json)
{
    struct event *e = event_new(EV_RAW);
    e->u.answer.json = str_dup(json);
    core_emit(l->core, e);
}

void
loop_take_delta(struct loop *l, struct round *r, const struct delta *d)
{
    if (d->kind == DELTA_RAW) {
        if (l->core->partial_raw)
            emit_raw(l, d->text);
        return;
    }
    stream_blocks_apply(r->blocks, d);
    switch (d->kind) {
    case DELTA_MESSAGE_START:
    case DELTA_USAGE:
        take_usage(l, r);
        break;
    case DELTA_BLOCK_START:
        begin_block(l, r, d);
        break;
    case DELTA_TEXT:
    case DELTA_THINKING:
    case DELTA_INPUT_JSON:
        grow_block(l, r, d);
        break;
    case DELTA_BLOCK_STOP: {
        size_t i = find_open(r, d->index);
        if (i != SIZE_MAX)
            end_block(l, r, i);
        hand_over_calls(l, r);
        break;
    }
    case DELTA_SIGNATURE:
    case DELTA_PING:
    case DELTA_RAW:
        break;
    }
}
