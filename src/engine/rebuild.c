#include "engine/rebuild.h"

#include <stdlib.h>
#include <string.h>

/* A message whose content is a bare string has a text block without JSON of its own. */
void
rebuild_block(struct message_builder *b, const struct block *blk)
{
    if (blk->kind == BLOCK_TEXT && (!blk->raw.len || blk->raw.ptr[0] != '{'))
        message_add_text(b, blk->text);
    else
        message_add_raw(b, blk->raw);
}

struct message *
rebuild_as(struct message *m, const struct message *like)
{
    if (!m)
        return NULL;
    memcpy(m->uuid, like->uuid, sizeof m->uuid);
    free(m->model);
    free(m->api_id);
    m->model = xstrdup(like->model);
    m->api_id = xstrdup(like->api_id);
    m->hidden = like->hidden;
    m->partial = like->partial;
    m->wall_ms = like->wall_ms;
    return m;
}

const struct message *
rebuild_finish(struct message_builder *take_b, const struct message *like)
{
    struct message *m = message_build(take_b);
    return like ? rebuild_as(m, like) : m;
}

bool
rebuild_is_thinking(const struct block *b)
{
    return b->kind == BLOCK_THINKING || b->kind == BLOCK_REDACTED_THINKING;
}

bool
rebuild_has_thinking(const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++)
        if (rebuild_is_thinking(&m->blocks[i]))
            return true;
    return false;
}

const struct message *
rebuild_without_thinking(const struct message *m)
{
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0; i < m->n_blocks; i++)
        if (!rebuild_is_thinking(&m->blocks[i]))
            rebuild_block(b, &m->blocks[i]);
    return rebuild_finish(b, m);
}
