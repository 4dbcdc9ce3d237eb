#pragma once
/*
 * The context tiers as pure functions over a message list: each looks at a view of what the next request would hold and
 * returns edits, whole messages in place of ranges of them, with the tokens before and after. Nothing here touches State,
 * the journal or the network; context.c runs the tiers whose trigger says so, applies what they return to State and notes
 * it in the journal ("context-edit"), so that a resumed session sends the same bytes. The transcript keeps the originals.
 *
 *     E1 snip      old results of low weight become one-line markers: superseded reads, repeated failures, size, age
 *     E2 micro     old results are cleared: by the API where it can (a request parameter, tier_micro_api), here else
 *     E3 collapse  old spans are folded into extracts, sentences scored by TF-IDF (engine/extract.h); a fold can be opened
 *     E4 auto      the model writes a summary (engine/summary.h)
 *
 * Every edit keeps the list legal (engine/validator.h): a tool_use keeps its one result, roles alternate, no message is left empty.
 * What is pinned, what a person typed (E1 to E3), and the last messages stay word for word. The same view gives the same edits.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/message.h"

#define TIERS_KEEP_LAST 5 /* messages at the end that no tier but E4 touches */

struct tier_pin {  /* stays word for word through every tier */
    char uuid[37]; /* of a message; "" when it is a file or a fact */
    char *path;    /* of a file, absolute; NULL */
    char *fact;    /* words of the person; NULL */
};

struct tier_view { /* all borrowed */
    const struct message *const *messages;
    size_t n;
    size_t
        keep_from; /* from here on nothing is touched: the running turn, at least TIERS_KEEP_LAST */
    const struct tier_pin *pins;
    size_t n_pins;
    double bytes_per_token; /* of the estimator, > 0 */
    int64_t used, window;   /* tokens the request would hold, and the model's; window 0: unknown */
    int64_t goal;           /* stop when `used` is at most this */
};

struct tier_edit {
    size_t from, to; /* messages from..to-1 of the view */
    const struct message *
        *with; /* what stands in their place, references; n_with 0: nothing does */
    size_t n_with;
    char *what;    /* one line for people: "3 older reads of src/a.c" */
    int64_t saved; /* tokens, estimated */
};
struct tier_result {
    struct tier_edit *edits; /* in order, never overlapping */
    size_t n, cap;
    int64_t before, after;
};
void tier_result_release(struct tier_result *r);

typedef void (*tier_fn)(const struct tier_view *v, struct tier_result *ret);
void tier_snip(const struct tier_view *v, struct tier_result *ret);
void tier_micro(const struct tier_view *v, struct tier_result *ret);
void tier_collapse(const struct tier_view *v, struct tier_result *ret);

/* Tokens of a message by the view's estimator. */
int64_t tier_tokens(const struct tier_view *v, const struct message *m);
/* The list with the edits made; each element a new reference; yours. */
const struct message **tier_apply(const struct tier_view *v, const struct tier_result *r,
                                  size_t *ret_n);

/* The record of a result for the journal: members without braces, and the same edits back from a record, found by the uuids of the messages
 * that stand there now. False: the record does not fit this list (then nothing changes). */
void tier_write(const struct tier_view *v, const struct tier_result *r, const char *tier,
                struct buf *out);
bool tier_read(struct str record, const struct message *const *messages, size_t n,
               struct tier_result *ret);
