#include "model/sse.h"

#include <string.h>

/* Beside an unfinished line of the largest event, a chunk off the wire must fit. */
#define CHUNK_ROOM ((size_t)4 << 20)

void
sse_init(struct sse *p)
{
    *p = (struct sse){0};
    buf_init(&p->in, SSE_EVENT_MAX + CHUNK_ROOM);
    buf_init(&p->event, 256);
    buf_init(&p->data, SSE_EVENT_MAX);
}

void
sse_release(struct sse *p)
{
    buf_release(&p->in);
    buf_release(&p->event);
    buf_release(&p->data);
}

void
sse_feed(struct sse *p, struct str chunk)
{
    if (p->at) {
        buf_remove_front(&p->in, p->at);
        p->at = 0;
    }
    if (!buf_add_str(&p->in, chunk))
        p->overflow = true;
}

bool
sse_overflowed(const struct sse *p)
{
    return p->overflow;
}

static void
take_field(struct sse *p, struct str line)
{
    size_t colon = str_find(line, ':', 0);
    struct str name = colon == (size_t)-1 ? line : str_sub(line, 0, colon);
    struct str value =
        colon == (size_t)-1 ? (struct str){"", 0} : str_sub(line, colon + 1, line.len);
    if (value.len && value.ptr[0] == ' ')
        value = str_sub(value, 1, value.len);
    if (str_is(name, "event")) {
        buf_clear(&p->event);
        buf_add_str(&p->event, value);
    } else if (str_is(name, "data")) {
        if (p->has_data)
            buf_addc(&p->data, '\n');
        buf_add_str(&p->data, value);
        p->has_data = true;
        p->overflow = p->overflow || buf_full(&p->data);
    }
}

/* False: whether the stream begins with a byte order mark cannot be told yet. */
static bool
skip_mark(struct sse *p)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = p->in.len < 3 ? p->in.len : 3;
    if (n == 0 || memcmp(p->in.data, mark, n) != 0) {
        p->begun = n > 0;
        return n > 0;
    }
    if (n < 3)
        return false;
    p->at = 3;
    p->begun = true;
    return true;
}

/* One whole line from the input; false when it is not all there yet. */
static bool
next_line(struct sse *p, struct str *ret)
{
    struct str rest = str_sub(buf_str(&p->in), p->at, p->in.len);
    if (p->skip_lf && rest.len) {
        if (rest.ptr[0] == '\n') {
            rest = str_sub(rest, 1, rest.len);
            p->at++;
            p->seen = 0;
        }
        p->skip_lf = false;
    }
    for (size_t i = p->seen; i < rest.len; i++) {
        if (rest.ptr[i] != '\n' && rest.ptr[i] != '\r')
            continue;
        *ret = str_sub(rest, 0, i);
        p->skip_lf = rest.ptr[i] == '\r';
        p->at += i + 1;
        p->seen = 0;
        return true;
    }
    p->seen = rest.len;
    p->overflow = p->overflow || rest.len > SSE_EVENT_MAX;
    return false;
}

bool
sse_next(struct sse *p, struct str *ret_event, struct str *ret_data)
{
    struct str line;
    if (p->ready) { /* the one handed out last */
        buf_clear(&p->event);
        buf_clear(&p->data);
        p->has_data = p->ready = false;
    }
    if (!p->begun && !skip_mark(p))
        return false;
    while (!p->overflow && next_line(p, &line)) {
        if (line.len) {
            take_field(p, line);
        } else if (p->has_data) {
            *ret_event = buf_str(&p->event);
            *ret_data = buf_str(&p->data);
            p->ready = true;
            return true;
        } else {
            buf_clear(&p->event);
        }
    }
    return false;
}
