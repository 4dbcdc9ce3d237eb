#pragma once
/*
 * What leaves: the messages of a request in the shape that its model takes. Thinking that another model wrote is left out (its
 * signature is bound to that model), and so are images past the limits of a request; the journal and State keep them. What was sent once is sent in the same bytes again, and a
 * request costs what is new in it. Engine thread.
 */
#include <stdbool.h>

#include "base/err.h"
#include "engine/validator.h"
#include "model/body_text.h"

struct core;
struct model_request;

struct outgoing { /* starts zeroed */
    char *model;
    /* a reference each: what stood there, and what was sent for it */
    const struct message **in, **out;
    size_t n, cap;
    uint64_t in_edition, edition; /* of in, as the request said; of out */
    struct validator_proof proof; /* of out */
    struct body_text text;        /* of out, as the wire writes it */
};
void outgoing_release(struct outgoing *o);
/* Puts req->messages into that shape and proves them legal, whoever put them together; what is not is mended, with a notice. They are
 * borrowed from `o` until the next call. False: it cannot be sent (too large, err.kind "prompt_too_long"). */
bool outgoing_prepare(struct outgoing *o, struct core *c, struct model_request *req,
                      struct err *err) MUST_CHECK;
