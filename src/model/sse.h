#pragma once
/*
 * Server-sent events (WHATWG HTML, section 9.2.6) from chunks cut anywhere. Lines end in LF, CR or CRLF; comments and unknown fields are
 * ignored, a byte order mark at the start too; several data lines join with a newline. One event is at most SSE_EVENT_MAX bytes: a
 * larger one ends the parsing (sse_overflowed), it is never handed out cut. An event that the stream's end cuts is not handed out.
 * Work is linear in the bytes fed. One thread.
 *
 *     sse_feed(&p, chunk);
 *     while (sse_next(&p, &event, &data)) ...
 *     if (sse_overflowed(&p)) ...
 */
#include <stdbool.h>

#include "base/buf.h"

#define SSE_EVENT_MAX ((size_t)16 << 20)

struct sse {
    struct buf in; /* bytes not parsed yet */
    size_t at;     /* parsed up to here; moved down when the buffer is fed again */
    /* behind `at`: bytes known to hold no line end, so that dribbles stay linear */
    size_t seen;
    struct buf event, data; /* of the event that grows */
    bool has_data, skip_lf, ready, begun, overflow;
};
void sse_init(struct sse *p);
void sse_release(struct sse *p);
void sse_feed(struct sse *p, struct str chunk);
/* The next whole event; the strings are borrowed until the next call here. Event "" means "message". */
bool sse_next(struct sse *p, struct str *ret_event, struct str *ret_data);
bool sse_overflowed(const struct sse *p);
