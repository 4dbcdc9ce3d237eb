#pragma once
/*
 * A bounded queue of owned pointers between threads: many writers, one reader. Pushing gives the thing away. A full
 * queue makes queue_push wait (backpressure); the reader never waits inside, it polls queue_fd. A merge function may
 * fold a new item into the one queued last (text deltas of one block), which then takes no room.
 *
 * After queue_close pushes are refused (the item is freed with free_item) and pops go on until it is empty.
 */
#include <stdbool.h>
#include <stddef.h>

struct queue;

/* true: folded in, and item was freed by it */
typedef bool (*queue_merge_fn)(void *last, void *item);
typedef void (*queue_free_fn)(void *item);

struct queue *queue_new(size_t cap, queue_merge_fn merge, queue_free_fn free_item);
void queue_free(struct queue *q);                  /* NULL is fine; what is queued is freed */
bool queue_push(struct queue *q, void *take_item); /* waits for room; false: closed, item freed */
bool queue_try_push(struct queue *q, void *item);  /* false: full or closed, the item stays yours */
void *queue_pop(struct queue *q);                  /* NULL: empty */
/* -1: for ever; true: something is there, or it was closed */
bool queue_wait(struct queue *q, int timeout_ms);
/* readable while something is queued or it is closed */
int queue_fd(struct queue *q);
void queue_close(struct queue *q);
size_t queue_len(struct queue *q);
