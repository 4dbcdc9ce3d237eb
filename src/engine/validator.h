#pragma once
/*
 * The one validator of a conversation, before every request and on every resume. Afterwards: the first message is the
 * user's; roles alternate; each tool_use has exactly one tool_result in the very next user message, results first; no empty text; no thinking block without its signature or
 * at the very end of a message; no tool_use id twice. Kept blocks keep their bytes. A second run changes nothing.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/message.h"

struct validator_report {
    size_t changes;  /* 0: it was legal */
    struct buf text; /* what was mended, one line each, a few; for the log and the notice */
};
void validator_report_init(struct validator_report *r);
void validator_report_release(struct validator_report *r);

/* Mends the list in place: *msgs and its references are replaced where something changed. */
void validator_mend(const struct message ***msgs, size_t *n, struct validator_report *report);
