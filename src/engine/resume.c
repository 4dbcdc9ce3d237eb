/* A resumed history as events, marked replayed, so that panes show it as they would have. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/engine_private.h"

/* The window that panes start with; the rest is there by QUERY_HISTORY. */
#define REPLAY_MAX 400
#define SHOWN_MAX ((size_t)64 << 10)

static void
emit_block(struct core *c, enum event_phase phase, enum event_block type, int index,
           const struct block *b)
{
    struct event *e = event_new(EV_BLOCK);
    e->phase = phase;
    e->u.block.type = type;
    e->u.block.index = index;
    e->u.block.replayed = true;
    if (type == EVBLOCK_TOOL_USE) {
        e->u.block.tool_use_id = str_dup(b->id);
        e->u.block.name = str_dup(b->name);
    }
    if (phase == PHASE_DELTA)
        e->u.block.text = str_dup(type == EVBLOCK_TOOL_USE ? b->input : b->text);
    core_emit(c, e);
}

static void
emit_tool(struct core *c, enum event_phase phase, const struct block *use,
          const struct block *result)
{
    struct event *e = event_new(EV_TOOL);
    e->phase = phase;
    e->u.tool.id = str_dup(use->id);
    e->u.tool.name = str_dup(use->name);
    e->u.tool.replayed = true;
    const struct tool *t = c->seams.tool_find(use->name);
    struct cJSON *tree = json_parse(use->input, NULL);
    e->u.tool.what = tool_describe(t, tree, c->cwd);
    json_free(tree);
    if (phase == PHASE_START)
        e->u.tool.input = str_dup(use->input);
    if (phase == PHASE_END) {
        bool failed = !result || result->is_error;
        e->u.tool.state = !result ? TOOL_CANCELLED : failed ? TOOL_FAILED : TOOL_DONE;
        e->u.tool.is_error = failed;
        e->u.tool.output = result ? str_dup(str_sub(result->text, 0, SHOWN_MAX)) : NULL;
        e->u.tool.bytes = result ? (int64_t)result->text.len : 0;
    }
    core_emit(c, e);
}

static const struct block *
result_of(const struct message *next, struct str id)
{
    for (size_t i = 0; next && next->role == ROLE_USER && i < next->n_blocks; i++)
        if (next->blocks[i].kind == BLOCK_TOOL_RESULT && str_eq(next->blocks[i].id, id))
            return &next->blocks[i];
    return NULL;
}

static void
replay_assistant(struct core *c, const struct message *m, const struct message *next)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        enum event_block type;
        if (b->kind == BLOCK_TEXT)
            type = EVBLOCK_TEXT;
        else if (b->kind == BLOCK_THINKING)
            type = EVBLOCK_THINKING;
        else if (b->kind == BLOCK_TOOL_USE)
            type = EVBLOCK_TOOL_USE;
        else
            continue;
        emit_block(c, PHASE_START, type, (int)i, b);
        emit_block(c, PHASE_DELTA, type, (int)i, b);
        emit_block(c, PHASE_END, type, (int)i, b);
    }
    for (size_t i = 0; i < m->n_blocks; i++) {
        if (m->blocks[i].kind != BLOCK_TOOL_USE)
            continue;
        emit_tool(c, PHASE_START, &m->blocks[i], NULL);
        emit_tool(c, PHASE_END, &m->blocks[i], result_of(next, m->blocks[i].id));
    }
}

static void
replay_user(struct core *c, const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        if (m->blocks[i].kind != BLOCK_TEXT)
            continue;
        struct event *e = event_new(EV_USER);
        e->u.user.uuid = xstrdup(m->uuid);
        e->u.user.text = str_dup(m->blocks[i].text);
        e->u.user.hidden = m->hidden || str_starts(m->blocks[i].text, "<system-reminder>");
        e->u.user.replayed = true;
        core_emit(c, e);
    }
}

void
resume_replay(struct core *c)
{
    const struct state *st = &c->state;
    size_t from = st->n > REPLAY_MAX ? st->n - REPLAY_MAX : 0;
    if (from)
        core_notice(c, "%zu earlier messages are not shown; search finds them", from);
    for (size_t i = from; i < st->n; i++) {
        const struct message *next = i + 1 < st->n ? st->messages[i + 1] : NULL;
        if (st->messages[i]->role == ROLE_ASSISTANT)
            replay_assistant(c, st->messages[i], next);
        else
            replay_user(c, st->messages[i]);
    }
    core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
}
