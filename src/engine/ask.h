#pragma once
/*
 * One request to a model outside of the loop, from its start to its end, on the thread that calls: for the classifier (judge_run.c)
 * and for the calls beside the loop (side.c). No tools, no events, no State.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/stream.h"

struct cancel;

enum ask_end {
    ASK_DONE,
    ASK_CANCELLED,
    ASK_TIMEOUT,
    ASK_LONG,   /* the answer grew past max_bytes */
    ASK_FAILED, /* err says why */
};
struct ask { /* all borrowed */
    struct model_provider *provider;
    const char *model, *session_id;
    struct str system;
    const struct message *question;
    int max_tokens;
    struct cancel *cancel;
    int64_t until_ms; /* monotonic */
    size_t max_bytes; /* of the stream */
};
/* What came stands in `blocks`, whole or not; its usage counts in any case. */
enum ask_end ask_run(const struct ask *a, struct stream_blocks *blocks, struct err *err);
/* The text of an answer, appended. NULL, or why it is none: a tool was called, it is too long for `out`. */
const char *ask_text(const struct stream_blocks *blocks, struct buf *out);
/* What the server says that it cost; where it says nothing an estimate of what was asked and came, marked as one. */
void ask_add_usage(struct usage *to, const struct ask *a, const struct stream_blocks *blocks);
