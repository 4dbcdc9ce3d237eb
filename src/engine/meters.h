#pragma once
/* What the meters page is told (QUERY_METERS), and the watch over what makes up a request. Engine thread. */
#include <stdint.h>

#include "base/buf.h"

struct core;
struct engine;
struct model_request;
struct usage;

/* Before a request of the main loop leaves. */
void meters_watch(struct core *c, const struct model_request *req);
/* After usage_commit: the server answered, so what was sent is in its cache; a break that was noted is told. */
void meters_answered(struct core *c, const struct usage *u);
/* The fill by source, tokens. */
#define METERS_SOURCES 5
extern const char *const meters_source_names[METERS_SOURCES];
void meters_sources(const struct core *c, int64_t ret[METERS_SOURCES]);
void query_meters(struct engine *e, struct str arg, struct buf *out);
