#include "unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/queue.h"

struct item {
    int key, sum;
};
static atomic_int alive;

static void *
item_new(int key, int sum)
{
    struct item *it = xmalloc(sizeof *it);
    *it = (struct item){key, sum};
    atomic_fetch_add(&alive, 1);
    return it;
}

static void
item_free(void *p)
{
    atomic_fetch_sub(&alive, 1);
    free(p);
}

static bool
item_merge(void *last, void *item)
{
    struct item *a = last, *b = item;
    if (a->key != b->key)
        return false;
    a->sum += b->sum;
    item_free(b);
    return true;
}

static bool
readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void
merges_and_bounds(void **state)
{
    (void)state;
    struct queue *q = queue_new(2, item_merge, item_free);
    assert_false(readable(queue_fd(q)));
    assert_true(queue_try_push(q, item_new(1, 1)));
    assert_true(queue_try_push(q, item_new(1, 2)));
    assert_true(queue_try_push(q, item_new(2, 5)));
    assert_int_equal(queue_len(q), 2);
    void *extra = item_new(3, 0);
    assert_false(queue_try_push(q, extra));
    assert_true(queue_try_push(q, item_new(2, 1))); /* merging needs no room */
    struct item *it = queue_pop(q);
    assert_int_equal(it->sum, 3);
    item_free(it);
    assert_true(queue_try_push(q, extra));
    assert_true(readable(queue_fd(q)));
    queue_close(q);
    assert_false(queue_push(q, item_new(9, 9)));
    it = queue_pop(q);
    assert_int_equal(it->sum, 6);
    item_free(it);
    queue_free(q);
    assert_int_equal(atomic_load(&alive), 0);
}

#define ITEMS 20000

static void *
writer(void *arg)
{
    for (int i = 0; i < ITEMS; i++)
        queue_push(arg, item_new(i, 1));
    return NULL;
}

static void
many_writers_one_reader(void **state)
{
    (void)state;
    struct queue *q = queue_new(16, NULL, item_free);
    pthread_t t[3];
    int got = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, writer, q);
    while (got < 3 * ITEMS) {
        struct item *it;
        assert_true(queue_wait(q, 20000));
        while ((it = queue_pop(q))) {
            got += it->sum;
            item_free(it);
        }
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert_false(readable(queue_fd(q)));
    queue_free(q);
    assert_int_equal(atomic_load(&alive), 0);
}

static void
cancel_tree(void **state)
{
    (void)state;
    struct cancel *session = cancel_new(NULL), *turn = cancel_new(session), *a = cancel_new(turn),
                  *b = cancel_new(turn);
    int fd = cancel_fd(a);
    assert_false(readable(fd));
    cancel_fire(b, CANCEL_SIBLING);
    assert_int_equal(cancel_fired(a), CANCEL_NONE);
    cancel_fire(turn, CANCEL_USER);
    assert_int_equal(cancel_fired(a), CANCEL_USER);
    assert_int_equal(cancel_fired(b), CANCEL_SIBLING); /* the first reason stays */
    assert_int_equal(cancel_fired(session), CANCEL_NONE);
    assert_true(readable(fd));
    struct cancel *late = cancel_new(turn);
    assert_int_equal(cancel_fired(late), CANCEL_USER);
    assert_true(readable(cancel_fd(late)));
    cancel_free(session); /* parents live as long as their children */
    cancel_free(turn);
    cancel_free(late);
    cancel_free(a);
    cancel_free(b);
    assert_int_equal(cancel_fired(NULL), CANCEL_NONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merges_and_bounds),
                                       cmocka_unit_test(many_writers_one_reader),
                                       cmocka_unit_test(cancel_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
