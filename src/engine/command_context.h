#pragma once
/* Slash commands about what the model is sent; rows of the table in command.c. Engine thread. */
#include "base/buf.h"

struct engine;
/* "/compact [WHAT TO KEEP]", in a turn of its own */
void command_compact(struct engine *e, struct str arg);
/* "/context [preview]", "/context open N" */
void command_context(struct engine *e, struct str arg);
/* When it is compacted, what is pinned, which folds there are: lines for the page behind it. Appends. */
void command_context_about(struct engine *e, struct buf *out);
/* "/pin [FILE|WORDS|last|remove N]" */
void command_pin(struct engine *e, struct str arg);
