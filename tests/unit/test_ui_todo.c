/* The todo list in few rows. */
#include "unit/ui_help.h"

static struct view v;
static struct canvas c;

static int
setup(void **state)
{
    (void)state;
    view_init(&v);
    canvas_init(&c, 40, 8);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    view_release(&v);
    canvas_release(&c);
    return 0;
}

/* n items, the one at `active` is being done. */
static void
todos(int n, int active, int rows)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < n; i++)
        buf_addf(&b, "%s{\"content\":\"item %d is a long one\",\"status\":\"%s\"}", i ? "," : "", i,
                 i < active    ? "completed"
                 : i == active ? "in_progress"
                               : "pending");
    struct event *e = event_new(EV_TASK);
    e->u.task.json = xasprintf("{\"todos\":[%s]}", buf_cstr(&b));
    view_apply(&v, e);
    buf_release(&b);
    assert_int_equal(v.n_todos, n);
    canvas_clear(&c);
    todo_draw(&v, &c, (struct rect){0, 0, 40, rows}, false);
}

static void
the_rest_is_counted_on_a_row_of_its_own(void **state)
{
    (void)state;
    todos(200, 0, 6);
    assert_shows(&c, "item 4 is");
    assert_shows(&c, "… 195 more\n");
    assert_hides(&c, "item 5");
    todos(6, 0, 6);
    assert_shows(&c, "item 5 is");
    assert_hides(&c, "more");
}

static void
what_is_being_done_stays_in_sight(void **state)
{
    (void)state;
    static const int all[] = {1, 2, 3, 7, 50};
    char want[32];
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        for (int rows = 1; rows <= 8; rows++)
            for (int active = 0; active < all[k]; active++) {
                todos(all[k], active, rows);
                snprintf(want, sizeof want, "[▸] item %d is", active);
                assert_shows(&c, want);
            }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_rest_is_counted_on_a_row_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_being_done_stays_in_sight, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
