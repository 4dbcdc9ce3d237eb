#pragma once
/* What tools put out, for a person to look at (QUERY_TOOL_LOG): running ones are asked, the newest that ended are kept here, so many
 * and so long. Engine thread. */
#include "engine/event.h"

struct core;
struct engine;
struct tool_result;

/* A call ended; what is a line that tells it. */
void query_log_keep(struct core *c, const char *id, const char *name, const char *what,
                    enum tool_state state, const struct tool_result *r);
void query_log_release(struct core *c);
/* arg: an id, and perhaps a blank and how many bytes of text are wanted at most. */
void query_tool_log(struct engine *e, struct str arg, struct buf *out);
