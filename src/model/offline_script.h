#pragma once
/* An answer written down whole before it is streamed: blocks in small deltas, as a model would send them. Owns its texts. */
#include "model/stream.h"

struct script_delta;
struct script {
    struct script_delta *deltas;
    size_t n, cap;
    int blocks;       /* so far; the next block's index */
    size_t out_bytes; /* of all texts, for the usage figures */
};
void script_release(struct script *s);
void script_start(struct script *s, const char *model, int64_t input_tokens);
void script_text(struct script *s, struct str text); /* blank text adds nothing */
void script_tool_use(struct script *s, const char *id, const char *name, struct str input);
void script_end(struct script *s, enum stop_reason stop, int64_t input_tokens);
/* Borrowed from the script. i < s->n. */
const struct delta *script_at(const struct script *s, size_t i);
