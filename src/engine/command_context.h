#pragma once
/* Slash commands about what the model is sent. Engine thread. */
#include "base/buf.h"

struct engine;

void command_compact(struct engine *e,
                     struct str arg); /* "/compact [WHAT TO KEEP]", in a turn of its own */
void command_context(struct engine *e,
                     struct str arg); /* "/context [preview]", "/context open N" */
/* When it is compacted, what is pinned, which folds there are: lines for the page behind it. Appends. */
void command_context_about(struct engine *e, struct buf *out);
void command_pin(struct engine *e, struct str arg); /* "/pin [FILE|WORDS|last|remove N]" */
