#pragma once
/*
 * Tool calls put together from the items of `delta.tool_calls`. Servers agree on little: the index may be missing
 * or always 0, the id missing, empty, repeated, or another in each item, the name in each item or in pieces. So an item goes on an
 * older call where that makes sense, and begins a new one where it does not; openai_calls.c has the rules in one place.
 *
 * A call's id here is legal and unlike any other of the conversation, whatever the server sent: an id that was seen is taken for the
 * same call (engine/executor.h), and small servers count from 0 in every answer.
 */
#include <stdbool.h>

#include "base/str_set.h"
#include "model/openai_input.h"
#include "model/stream.h"

#define OPENAI_CALLS_MAX ((size_t)256)

struct cJSON;

/* What was offered and what was used before. */
struct openai_offer {
    struct cJSON *tools;       /* array in the Messages API shape, or NULL */
    const struct str_set *ids; /* of the calls in the history; borrowed, NULL: none */
};
void openai_offer_init(struct openai_offer *o, const struct model_request *req,
                       const struct str_set *ids);
void openai_offer_release(struct openai_offer *o);
bool openai_offers(const struct openai_offer *o, struct str name);
/* "string", "integer" ... of a tool's parameter; ptr NULL when its schema does not say. */
struct str openai_offer_type(const struct openai_offer *o, struct str tool, struct str parameter);

struct openai_call {
    bool has_index;
    int64_t index;      /* the server's */
    struct buf wire_id; /* the server's, or empty */
    char id[72];        /* ours; "" until openai_calls_name */
    struct buf name;    /* as it came; then as it is offered */
    struct openai_input input;
    /* for who hands the call on: */
    int block; /* -1: not begun */
    size_t shown;
    bool plain; /* shown as it comes */
};

struct openai_calls {
    const struct openai_offer *offer;
    struct openai_call **calls; /* in the order they began; addresses stay */
    size_t n, cap;
    bool overflow;
};
void openai_calls_init(struct openai_calls *c, const struct openai_offer *offer);
void openai_calls_release(struct openai_calls *c);
/* One item: {"index"?, "id"?, "function": {"name"?, "arguments"?}}; raw: its bytes, from which an object's are taken. `at`, `of`: its place
 * in the array and the array's length. The call it belongs to, or NULL: too many, or nothing said. */
struct openai_call *openai_calls_item(struct openai_calls *c, const struct cJSON *item,
                                      struct str raw, size_t at, size_t of);
/* A call that came in one piece, from text. */
struct openai_call *openai_calls_whole(struct openai_calls *c, struct str name, struct str input);
/* Forgets all calls but the first n. */
void openai_calls_keep(struct openai_calls *c, size_t n);
/* Settles the call's name and id before it is handed on. */
void openai_calls_name(struct openai_calls *c, struct openai_call *call);
/* The offered tool that was meant: as it is, or without what some servers put around it. ptr NULL: none. */
struct str openai_offered_name(const struct openai_offer *o, struct str name);
