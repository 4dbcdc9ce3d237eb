#pragma once
/* One event of the Messages API's stream as a delta. Pure; the delta borrows from the tree and from data. */
#include <stdbool.h>

#include "model/stream.h"

struct cJSON;
/* data: the bytes the tree was parsed from (a tool's input is taken from them unchanged). False: the event has no delta of its
 * own (message_stop, citations, what is newer than this program). `error` events are not for here. */
bool anthropic_read_event(const struct cJSON *tree, struct str data, struct delta *ret);
