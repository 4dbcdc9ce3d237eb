#pragma once
/*
 * Deltas that wait to be handed on, for a wire whose one event makes several of them. The strings of a delta are copied in; those that
 * come out are borrowed until the next call. It empties itself when the last one has gone. One thread; what it holds is bounded by the
 * event that was read.
 *
 *     delta_queue_push(&q, (struct delta){.kind = DELTA_TEXT, .text = text});
 *     while (delta_queue_next(&q, &d)) ...
 */
#include "model/stream.h"

struct delta_waiting;
struct delta_queue {
    struct delta_waiting *list;
    size_t n, cap, at; /* list[at..n) waits */
    struct buf arena;  /* the strings, one behind the other */
};
void delta_queue_init(struct delta_queue *q);
void delta_queue_release(struct delta_queue *q);
void delta_queue_push(struct delta_queue *q, struct delta d);
bool delta_queue_next(struct delta_queue *q, struct delta *ret); /* false: none waits */
