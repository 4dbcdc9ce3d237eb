#pragma once
/*
 * A message made anew from another: messages are immutable, so whoever changes one (the validator, the tiers, a repair) builds a copy
 * that journals and panes know as the same. Blocks that stay keep their bytes, which the prompt cache and signatures need. Pure.
 *
 *     struct message_builder *b = message_builder_new(m->role);
 *     rebuild_block(b, &m->blocks[0]);              // as it is
 *     message_add_text(b, STR("instead"));          // changed
 *     const struct message *fresh = rebuild_finish(b, m);
 */
#include <stdbool.h>

#include "base/message.h"

/* A block as it is, byte for byte. */
void rebuild_block(struct message_builder *b, const struct block *blk);
/* Gives `m`, which nobody else holds yet, the identity of `like`: uuid, model, id, time and marks. NULL stays NULL. */
struct message *rebuild_as(struct message *m, const struct message *like);
/* The built message, with the identity of `like` (NULL: of its own). NULL: it has no block, or is larger than any message may be. */
const struct message *rebuild_finish(struct message_builder *take_b, const struct message *like);

bool rebuild_is_thinking(const struct block *b); /* redacted too */
bool rebuild_has_thinking(const struct message *m);
/* The message without its thinking, a new reference; NULL: nothing would be left. */
const struct message *rebuild_without_thinking(const struct message *m);
