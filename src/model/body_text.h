#pragma once
/*
 * The messages of a conversation as a wire writes them, kept from one request to the next: a body is this text with a few slices
 * around it, and a request costs what is new in it. Whoever keeps the conversation keeps it too (engine/outgoing.h). Messages are
 * known by the edition of their list (base/message.h): the same edition and shape go on where they ended, anything else is written
 * anew.
 *
 * One thread; not to be followed while a stream that sends it is open. Starts zeroed.
 *
 *     body_text_follow(&t, req, shape, write_message, ctx);
 *     if (buf_full(&t.text)) ... more than BUF_MAX
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str_set.h"

struct model_request;

/* The most slices of a body. */
enum { BODY_SLICES = 16 };

struct body_part { /* all messages up to this one */
    size_t end;    /* in text */
    unsigned used; /* the wire's own flags */
    size_t images, image_bytes;
};

struct body_text {
    uint64_t edition, shape;
    struct buf text; /* each message, or what it becomes, behind a comma */
    struct body_part *parts;
    size_t n, cap;
    struct str_set ids; /* of the calls, borrowed from the messages */
};
void body_text_release(struct body_text *t);

/* Appends message i of the request, behind a comma, and counts it in `part`. It may look at the neighbours of i. */
typedef void (*body_write)(void *ctx, const struct model_request *req, size_t i, struct buf *out,
                           struct body_part *part);
/* shape: what else the bytes depend on, as a number: the wire, its flags, a text that stands in the first message. */
void body_text_follow(struct body_text *t, const struct model_request *req, uint64_t shape,
                      body_write write, void *ctx);
/* All of it; zeroes when there is no message. */
struct body_part body_text_all(const struct body_text *t);
