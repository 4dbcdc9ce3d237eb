#pragma once
/*
 * Server-sent events (WHATWG HTML, section 9.2.6) from chunks cut anywhere. Lines end in LF, CR or CRLF; comments and unknown fields are
 * ignored; several data lines join with a newline. One event is at most SSE_EVENT_MAX bytes. Work is linear in the bytes fed.
 *
 *     sse_feed(&p, chunk);
 *     while (sse_next(&p, &event, &data)) ...
 */
#include <stdbool.h>

#include "base/buf.h"

#define SSE_EVENT_MAX ((size_t)16 << 20)

struct sse {
    struct buf in;           /* bytes not parsed yet */
    size_t at;               /* parsed up to here; moved down when the buffer is fed again */
    size_t seen;             /* behind `at`: bytes known to hold no line end, so that dribbles stay linear */
    struct buf event, data;  /* of the event that grows */
    bool has_data, skip_lf, ready;
};
void sse_init(struct sse *p);
void sse_release(struct sse *p);
bool sse_feed(struct sse *p, struct str chunk); /* false: an event is too large */
/* The next whole event; the strings are borrowed until the next call here. Event "" means "message". */
bool sse_next(struct sse *p, struct str *ret_event, struct str *ret_data);
