#pragma once
/* Events as the NDJSON messages of stream-json. Each call appends one line's object (without newline); false: this event has no
 * message of its own. */
#include <stdbool.h>

#include "engine/event.h"

struct headless_ids {
    char *session_id, *model;
};
bool headless_json(const struct event *e, struct headless_ids *ids, struct buf *out);
