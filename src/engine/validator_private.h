#pragma once
/* The passes of the validator over a list of messages; only validator*.c include this. */
#include "base/str_set.h"
#include "engine/validator.h"

struct mend_list {
    const struct message **m; /* each a reference */
    size_t n, cap;
};
void mend_push(struct mend_list *l, const struct message *take_m);
void mend_note(struct validator_report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Each tool_use has an id of its own that may be sent, and such a name. before: the ids of messages in front of the list. */
void mend_ids(struct mend_list *l, const struct str_set *before, struct validator_report *r);
/* Each tool_use has its one result, first in the next user message. */
void mend_pairs(struct mend_list *l, struct validator_report *r);
