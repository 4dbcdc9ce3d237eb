#pragma once
/*
 * The context tiers as pure functions over a message list: each looks at a view of what the next request would hold and
 * returns edits, whole messages in place of ranges of them, with the tokens before and after. Nothing here touches State,
 * the journal, the disk or the network; context_run.c runs the tiers whose trigger says so, context_edit.c applies what they return
 * to State and notes it in the journal ("context-edit"), so that a resumed session sends the same bytes. The transcript keeps the
 * originals.
 *
 *     E1 snip      old results of low weight become one-line markers: superseded reads, repeated calls, size, age
 *     E2 micro     old results are cleared: by the API where it can (a request parameter, tier_micro_api), here else
 *     E3 collapse  old spans are folded into extracts, sentences scored by TF-IDF (engine/extract.h); a fold can be opened
 *     E4 auto      the model writes a summary (engine/compact.h)
 *
 * Every edit keeps the list legal (engine/validator.h): a tool_use keeps its one result, roles alternate, no message is left empty.
 * What is pinned, what a person typed, the first message (the memory files, the first prompt) and the last messages stay word for
 * word. The same view gives the same edits; a second run over what a first one left finds nothing. Linear in the bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/message.h"

#define TIERS_KEEP_LAST 5   /* messages at the end that no tier but E4 touches (tier_keep_from) */
#define TIER_MARKER_MAX 900 /* bytes of a marker; a result up to that size is never replaced */
#define TIER_LARGE 4000    /* tokens: an old result over this goes before those that are only old */
#define TIER_MICRO_KEEP 10 /* results at the end that E2 leaves, as the API does */
#define TIER_SPAN 24000    /* tokens that one fold stands for, about; a turn alone may have more */
/* Tokens of a fold's extract; at most a twelfth of what it stands for. */
#define TIER_EXTRACT_MAX 2000
/* Turns at the end whose thinking E2 has the API leave. */
#define TIER_MICRO_THINKING 2

struct tier_pin {  /* stays word for word through every tier */
    char uuid[37]; /* of a message; "" when it is a file or a fact */
    char *path;    /* of a file, absolute; NULL */
    char *fact;    /* words of the person; NULL */
};

struct tier_view { /* all borrowed */
    const struct message *const *messages;
    size_t n;
    size_t keep_from; /* from here on nothing is touched (tier_keep_from) */
    const struct tier_pin *pins;
    size_t n_pins;
    double bytes_per_token; /* of the estimator, > 0 */
    int64_t used, window;   /* tokens the request would hold, and the model's; window 0: unknown */
    int64_t goal;           /* stop when `used` is at most this */
    const char *keep_dir;   /* where what cannot be had again is to be kept; NULL: nowhere */
};

struct tier_edit {
    size_t from, to;             /* messages from..to-1 of the view */
    const struct message **with; /* what stands in their place, references */
    size_t n_with;               /* 0: nothing does */
    char *what;                  /* one line for people: "Read src/a.c" */
    int64_t saved;               /* tokens, estimated */
};
/* A result's text that a marker points to: whoever makes the edits writes it there first. */
struct tier_keep {
    const struct message *m; /* a reference */
    size_t block;
    char *path;
};
struct tier_result {
    struct tier_edit *edits; /* in order, never overlapping */
    size_t n, cap;
    struct tier_keep *keeps;
    size_t n_keeps, cap_keeps;
    int64_t before, after;
};
void tier_result_release(struct tier_result *r);

typedef void (*tier_fn)(const struct tier_view *v, struct tier_result *ret);
void tier_snip(const struct tier_view *v, struct tier_result *ret);
void tier_micro(const struct tier_view *v, struct tier_result *ret);
void tier_collapse(const struct tier_view *v, struct tier_result *ret);
/* Cuts the results and attached files of messages from..n-1 so that `used` comes down to goal: the largest first, each to its beginning
 * and end. For what is new and larger than the rest of the window; no other tier looks there. */
void tier_trim(const struct tier_view *v, size_t from, struct tier_result *ret);

/* The context_management object of the Messages API that asks for what tier_micro does: over `trigger` tokens old results are cleared,
 * at least `least` at a time. thinking: thinking blocks of older turns first (their latch is set). */
void tier_micro_api(int64_t trigger, int64_t least, bool thinking, struct buf *out);

/* Bytes that a message weighs: its own, but an image by its price in tokens, not by its base64. */
size_t tier_weight(const struct message *m);
/* Tokens of a message by the view's estimator. */
int64_t tier_tokens(const struct tier_view *v, const struct message *m);
/* Where the messages begin that stay: the last TIERS_KEEP_LAST (fewer where these alone hold a third of the window, never
 * less than two), and of those before as many (to 40) as fit in a tenth of the window. */
size_t tier_keep_from(const struct tier_view *v);
/* The list with the edits made; each element a new reference; yours. */
const struct message **tier_apply(const struct tier_view *v, const struct tier_result *r,
                                  size_t *ret_n);

/* Is this a fold's message that names it (its uuid is the fold's name)? */
bool tier_is_fold(const struct message *m);
/* Did the person type this block? Reminders and results are not typed. */
bool tier_is_typed(const struct message *m, size_t block);
/* Tools whose results no tier but collapse takes: lists the model works by, answers of people. */
bool tier_is_kept_tool(struct str name);

/* The record of a result for the journal: members without braces; and the same edits back from a record, found by the uuids of the
 * messages that stand there now. A block that stands in the list is named by its place, so records are small. False: the record does
 * not fit this list (then nothing changes). Any bytes may come in. */
void tier_write(const struct tier_view *v, const struct tier_result *r, const char *tier,
                struct buf *out);
bool tier_read(struct str record, const struct message *const *messages, size_t n,
               struct tier_result *ret);
