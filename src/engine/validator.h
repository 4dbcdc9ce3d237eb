#pragma once
/*
 * The one validator of a conversation, before every request and on every resume. Afterwards: the first message is the
 * user's; roles alternate; each tool_use has exactly one tool_result in the very next user message, results first; no empty text; no thinking block without its signature or
 * at the very end of a message; no tool_use id twice, none of letters that may not be sent; images of a kind and size that may be sent, and not too
 * many. Kept blocks keep their bytes. A second run changes nothing.
 *
 * What was proved stays proved: with a struct validator_proof a run looks at what is new, whatever was edited in between.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/message.h"
#include "base/str_set.h"

struct validator_report {
    size_t changes;  /* 0: it was legal */
    size_t looked;   /* messages that were looked at */
    struct buf text; /* what was mended, one line each, a few; for the log and the notice */
};
void validator_report_init(struct validator_report *r);
void validator_report_release(struct validator_report *r);

/* Mends the list in place: *msgs and its references are replaced where something changed. */
void validator_mend(const struct message ***msgs, size_t *n, struct validator_report *report);

/* What a request may hold as a whole; 0: no limit. */
struct validator_limits {
    size_t bytes;  /* of the messages: images go, the oldest first */
    size_t images; /* past it the oldest go, down to half of it */
};

/* How far a list is known to be legal. Starts zeroed; holds a reference to each message, so that none is taken for another. */
struct validator_proof {
    struct validator_proved {
        const struct message *m;
        /* of all messages up to this one */
        size_t bytes;
        unsigned images, large_images;
    } * list;
    size_t n, cap;
    uint64_t edition;   /* of the list that was looked at (message_edition_new); 0: of none */
    struct str_set ids; /* of the first n_ids messages */
    size_t n_ids;
};
void validator_proof_release(struct validator_proof *p);
/* validator_mend, within limits, of what the proof does not cover yet: new messages, and those behind the first that was edited. The
 * list is left as it is. edition: its own, or 0. True: something was mended, and *ret_list (yours, with its references) goes in place
 * of the list; false: it is legal. */
bool validator_mend_more(struct validator_proof *p, const struct message *const *list, size_t n,
                         uint64_t edition, const struct validator_limits *limits,
                         struct validator_report *report, const struct message ***ret_list,
                         size_t *ret_n);
