/* A server's bytes: the parser gives the same events however they are cut, and what they say becomes blocks and a message without
 * ever reading past its bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/anthropic_error.h"
#include "model/anthropic_event.h"
#include "model/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All events in one text; step 0: fed whole. */
static void
collect(struct str bytes, size_t step, struct buf *out)
{
    struct sse p;
    struct str event, value;
    sse_init(&p);
    for (size_t at = 0; at < bytes.len || at == 0;) {
        size_t n = step ? step : bytes.len + 1;
        sse_feed(&p, str_sub(bytes, at, n));
        while (sse_next(&p, &event, &value)) {
            buf_add_str(out, event);
            buf_addc(out, '\0');
            buf_add_str(out, value);
            buf_addc(out, '\0');
        }
        at += n;
    }
    if (sse_overflowed(&p))
        abort();
    sse_release(&p);
}

static void
build(struct str bytes)
{
    struct sse p;
    struct str event, value;
    struct stream_blocks *b = stream_blocks_new();
    sse_init(&p);
    sse_feed(&p, bytes);
    while (sse_next(&p, &event, &value)) {
        struct err err = {0};
        struct delta d;
        struct cJSON *tree = json_parse(value, &err);
        if (tree && anthropic_read_event(tree, value, &d))
            stream_blocks_apply(b, &d);
        if (tree)
            anthropic_error_event(tree, "req", &err);
        anthropic_error_body(400, value, "5", "", &err);
        json_free(tree);
    }
    struct message *m = stream_blocks_message(b, "m", true), *again = NULL;
    if (m) { /* what was built is a message that can be read back */
        again = message_parse(m->json, NULL);
        if (!again || again->n_blocks != m->n_blocks)
            abort();
    }
    message_free(m);
    message_free(again);
    stream_blocks_free(b);
    sse_release(&p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, pieces;
    if (size < 1)
        return 0;
    size_t step = 1 + data[0] % 16;
    struct str bytes = str_make((const char *)data + 1, size - 1);
    buf_init(&whole, BUF_MAX);
    buf_init(&pieces, BUF_MAX);
    collect(bytes, 0, &whole);
    collect(bytes, step, &pieces);
    if (!str_eq(buf_str(&whole), buf_str(&pieces)))
        abort();
    build(bytes);
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
