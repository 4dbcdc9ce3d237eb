#include "model/delta_queue.h"

#include <stdlib.h>

/* Where its strings end in the arena, id, name and text in this order: the arena moves as it grows, so no pointers. */
struct delta_waiting {
    struct delta d;
    size_t from, id, name, text;
};

void
delta_queue_init(struct delta_queue *q)
{
    *q = (struct delta_queue){0};
    buf_init(&q->arena, BUF_MAX);
}

void
delta_queue_release(struct delta_queue *q)
{
    buf_release(&q->arena);
    free(q->list);
    *q = (struct delta_queue){0};
}

void
delta_queue_push(struct delta_queue *q, struct delta d)
{
    ARRAY_GROW(q->list, q->n, q->cap);
    struct delta_waiting *w = &q->list[q->n++];
    *w = (struct delta_waiting){.d = d, .from = q->arena.len};
    buf_add_str(&q->arena, d.id);
    w->id = q->arena.len;
    buf_add_str(&q->arena, d.name);
    w->name = q->arena.len;
    buf_add_str(&q->arena, d.text);
    w->text = q->arena.len;
}

bool
delta_queue_next(struct delta_queue *q, struct delta *ret)
{
    if (q->at == q->n) {
        q->at = q->n = 0;
        buf_clear(&q->arena);
        return false;
    }
    const struct delta_waiting *w = &q->list[q->at++];
    struct str all = buf_str(&q->arena);
    *ret = w->d;
    ret->id = str_sub(all, w->from, w->id - w->from);
    ret->name = str_sub(all, w->id, w->name - w->id);
    ret->text = str_sub(all, w->name, w->text - w->name);
    return true;
}
