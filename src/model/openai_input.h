#pragma once
/*
 * The input of a tool call as servers send it, made one JSON object. Seen in the wild: in many pieces; whole in each piece, or growing
 * with each; whole once more at the end; an empty object first; an object, "" or null where a string should be; a string in a string.
 */
#include <stdbool.h>

#include "base/buf.h"

/* Collects the pieces of one call's arguments. */
struct openai_input {
    struct buf joined;
    size_t first, last; /* length of the first piece, offset of the last one, in joined */
    size_t n_pieces;
    /* of the object that begins joined: a scan that never looks back */
    size_t depth, scanned, closed; /* closed: behind its brace; 0: open yet, or no object */
    bool in_string, escaped, is_object, has_member;
};
void openai_input_init(struct openai_input *in);
void openai_input_release(struct openai_input *in);
void openai_input_add(struct openai_input *in, struct str piece);
/* Looks like one whole object already: what follows under the same index is a repeat or another call. */
bool openai_input_is_whole(const struct openai_input *in);
/* The bytes from `from` on that belong to an object with members and can be shown as they come; empty when there are none yet. */
struct str openai_input_plain(const struct openai_input *in, size_t from);

enum openai_input_state {
    OPENAI_INPUT_EMPTY, /* nothing, or null: {} when the answer is whole */
    OPENAI_INPUT_OBJECT,
    OPENAI_INPUT_BROKEN, /* ret holds the bytes as they came */
};
/* ret is appended to: "{}", the object's own bytes, or what came. */
enum openai_input_state openai_input_settle(const struct openai_input *in, struct buf *ret);
