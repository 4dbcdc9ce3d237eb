#pragma once
/* What the meters page is told (QUERY_METERS), and the watch over what makes up a request. Engine thread. */
#include "base/buf.h"

struct core;
struct engine;

/* Before a request of the main loop leaves, while state.n_sent still counts the one before. */
void meters_watch(struct core *c);
void query_meters(struct engine *e, struct str arg, struct buf *out);
