#include "engine/repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/context_kept.h"
#include "engine/core.h"
#include "engine/failure.h"
#include "engine/images.h"
#include "engine/rebuild.h"
#include "engine/tier_private.h"

#define LEFT_OUT "(a part of this message was left out: the server refused it)"

/* Where the refused message stands in State; SIZE_MAX: it is none of ours. What is sent may be a copy (engine/outgoing.h), which has its
 * place. */
static size_t
find_in_state(const struct core *c, const struct model_request *req, size_t at)
{
    const struct state *st = &c->state;
    if (at >= req->n_messages)
        return SIZE_MAX;
    for (size_t i = 0; i < st->n; i++)
        if (st->messages[i] == req->messages[at])
            return i;
    return req->n_messages == st->n ? at : SIZE_MAX;
}

/* ---- the mended messages ---- */

/* Edits like those of a tier: the journal is told, so that a resumed session does not send again what was refused. */
static void
put(struct tier_result *r, size_t at, const struct message *take_fresh, const char *what)
{
    struct tier_edit *e = tier_edit_add(r);
    e->from = at;
    e->to = at + 1;
    e->with = xcalloc(1, sizeof *e->with);
    e->with[0] = take_fresh;
    e->n_with = 1;
    e->what = xstrdup(what);
}

static bool
commit(struct core *c, struct tier_result *r)
{
    const struct tier_view v = context_view(c, 0);
    struct err err = {0};
    bool ok = r->n && context_commit(c, &v, r, "repair", &err);
    if (r->n && !ok)
        log_warn("repair", "nothing was mended: %s", err.text);
    tier_result_release(r);
    return ok;
}

/* A signature that one answer has wrong, by another model or account, is wrong in all of them. */
static void
strip_thinking(const struct core *c, struct tier_result *r)
{
    for (size_t i = 0; i < c->state.n; i++) {
        const struct message *m = c->state.messages[i];
        const struct message *fresh = rebuild_has_thinking(m) ? rebuild_without_thinking(m) : NULL;
        if (fresh)
            put(r, i, fresh, "thinking");
    }
}

/* The refused block in another form, so that calls and results still pair. */
static void
put_instead(struct message_builder *b, const struct block *blk)
{
    switch (blk->kind) {
    case BLOCK_TOOL_USE:
        message_add_tool_use(b, blk->id, blk->name, STR("{}"));
        break;
    case BLOCK_TOOL_RESULT:
        message_add_tool_result(b, blk->id, STR(LEFT_OUT), blk->is_error);
        break;
    case BLOCK_TEXT:
    case BLOCK_THINKING:
    case BLOCK_REDACTED_THINKING:
    case BLOCK_IMAGE:
    case BLOCK_OTHER:
        break;
    }
}

static const struct message *
without_block(const struct message *m, size_t at)
{
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0; i < m->n_blocks; i++) {
        if (i == at)
            put_instead(b, &m->blocks[i]);
        else
            rebuild_block(b, &m->blocks[i]);
    }
    if (!message_builder_len(b))
        message_add_text(b, STR(LEFT_OUT));
    return rebuild_finish(b, m);
}

static bool
holds_image(const struct block *b)
{
    return b->kind == BLOCK_IMAGE ||
           (b->kind == BLOCK_TOOL_RESULT && str_contains(b->raw, STR("\"image\"")));
}

/* Only what the complaint is about goes. Words never do, least of all the person's: the refusal is told instead. */
static const char *
mend_one(const struct core *c, size_t at, size_t block, const char *said, struct tier_result *r)
{
    const struct message *m = c->state.messages[at], *fresh = NULL;
    const struct block *b = block < m->n_blocks ? &m->blocks[block] : NULL;
    const char *what = "a block was left out";
    if (!b || b->kind == BLOCK_TEXT)
        return "";
    if (rebuild_is_thinking(b) || strstr(said, "thinking")) {
        strip_thinking(c, r);
        return "its thinking was left out";
    }
    if (holds_image(b)) {
        what = "the image was replaced by a text that says so";
        fresh = images_replace(m, images_any, NULL);
    } else if (!strstr(said, "image")) {
        fresh = without_block(m, block);
    }
    if (fresh)
        put(r, at, fresh, what);
    return what;
}

bool
repair_block(struct core *c, const struct model_request *req, const struct err *err, char *ret_what,
             size_t what_size)
{
    size_t at, block;
    const char *what = "its thinking was left out";
    struct tier_result r = {0};
    if (!failure_place(err, &at, &block))
        return false;
    size_t i = find_in_state(c, req, at);
    if (i == SIZE_MAX)
        return false;
    if (block != SIZE_MAX)
        what = mend_one(c, i, block, err->text, &r);
    else if (strstr(err->text, "thinking"))
        strip_thinking(c, &r);
    if (!commit(c, &r))
        return false;
    (void)snprintf(ret_what, what_size, "message %zu: %s", at + 1, what);
    return true;
}
