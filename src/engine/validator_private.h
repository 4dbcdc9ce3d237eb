#pragma once
/* The passes of the validator, and how a message is made anew: validator*.c, images.c, repair.c and outgoing.c. */
#include "base/str_set.h"
#include "engine/validator.h"

struct mend_list {
    const struct message **m; /* each a reference */
    size_t n, cap;
};
void mend_push(struct mend_list *l, const struct message *take_m);
void mend_note(struct validator_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A block as it is, byte for byte. */
void mend_copy_block(struct message_builder *b, const struct block *blk);
/* The built message with the identity of `like` (NULL: none): journals and panes know it by its uuid. NULL: it has no block. */
const struct message *mend_finish(struct message_builder *take_b, const struct message *like);
bool mend_is_thinking(const struct block *b);
bool mend_has_thinking(const struct message *m);
/* The message without its thinking, a new reference; NULL: nothing would be left. */
const struct message *mend_without_thinking(const struct message *m);

/* Each tool_use has an id of its own that may be sent, and such a name. before: the ids of messages in front of the list. */
void mend_ids(struct mend_list *l, const struct str_set *before, struct validator_report *r);
/* Each tool_use has its one result, first in the next user message. */
void mend_pairs(struct mend_list *l, struct validator_report *r);
