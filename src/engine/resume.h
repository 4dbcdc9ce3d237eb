#pragma once
/*
 * A stored conversation as the events that panes show it by, a page at a time, read from the journal: no message has to be
 * in State for it. Engine thread.
 *
 * A page is about RESUME_PAGE messages; fewer when they are large. A tool's results stay on the page of the message that
 * called it: its end needs them.
 */
#include "engine/core.h"

#define RESUME_PAGE 50
#define RESUME_PAGE_BYTES ((size_t)1 << 20)
#define RESUME_TEXT_MAX ((size_t)64 << 10)

struct resume_sink {
    void (*emit)(void *user, struct event *take_e);
    void *user;
    size_t text_max; /* bytes of one text, input or output; what is cut off is said */
};
/* Messages from..to-1 (from 0); event.place is the index + 1. */
void resume_events(struct core *c, size_t from, size_t to, const struct resume_sink *sink);
/* Where the page begins that ends before message `to`. */
size_t resume_page_start(struct core *c, size_t to);
