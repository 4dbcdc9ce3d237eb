#include "model/body_text.h"

#include <stdlib.h>

#include "model/stream.h"

void
body_text_release(struct body_text *t)
{
    buf_release(&t->text);
    str_set_release(&t->ids);
    free(t->parts);
    *t = (struct body_text){0};
}

/* The memory goes too: after a compaction little of it would be needed. */
static void
begin(struct body_text *t, uint64_t edition, uint64_t shape)
{
    body_text_release(t);
    t->edition = edition;
    t->shape = shape;
    buf_init(&t->text, BUF_MAX);
}

static bool
goes_on(const struct body_text *t, const struct model_request *req, uint64_t shape)
{
    return req->edition && t->edition == req->edition && t->shape == shape &&
           t->n <= req->n_messages && !buf_full(&t->text);
}

struct body_part
body_text_all(const struct body_text *t)
{
    return t->n ? t->parts[t->n - 1] : (struct body_part){0};
}

static void
add(struct body_text *t, const struct model_request *req, body_write write, void *ctx)
{
    struct body_part part = body_text_all(t);
    const struct message *m = req->messages[t->n];
    write(ctx, req, t->n, &t->text, &part);
    part.end = t->text.len;
    ARRAY_GROW(t->parts, t->n, t->cap);
    t->parts[t->n++] = part;
    for (size_t k = 0; k < m->n_blocks; k++)
        if (m->blocks[k].kind == BLOCK_TOOL_USE)
            (void)str_set_add(&t->ids, m->blocks[k].id);
}

void
body_text_follow(struct body_text *t, const struct model_request *req, uint64_t shape,
                 body_write write, void *ctx)
{
    if (!goes_on(t, req, shape))
        begin(t, req->edition, shape);
    if (t->n) { /* it was the last; what follows it may change how it is written */
        t->n--;
        buf_truncate(&t->text, body_text_all(t).end);
    }
    while (t->n < req->n_messages)
        add(t, req, write, ctx);
}
