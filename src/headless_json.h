#pragma once
/* Events as the NDJSON messages of stream-json. Each call appends one line's object (without newline); false: this event has no
 * message of its own. */
#include <stdbool.h>

#include "engine/event.h"

struct headless_ids {
    char *session_id, *model;
};
/* The end of a compaction, made or not, as against the cheaper tiers: what came before it, the model has not any more. */
bool headless_is_compaction(const struct event *e);
/* The result of a run that never began (a session that another yare has open, a journal that cannot be read): who reads the lines
 * waits for one. */
void headless_json_refused(const char *why, struct buf *out);
bool headless_json(const struct event *e, struct headless_ids *ids, struct buf *out);
