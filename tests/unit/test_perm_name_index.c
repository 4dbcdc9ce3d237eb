/* Rows found by name: all of them, in their order, and no others; from several threads at once too. */
#include <pthread.h>

#include "unit/unit.h"

#include "perm/name_index.h"

static const struct {
    const char *name;
    int value;
} rows[] = {{"b", 0}, {"a", 1}, {"b", 2}, {"cc", 3}, {"c", 4}, {"b", 5}, {"", 6}};

static size_t
first(struct name_index *ix, struct str name)
{
    return name_first(ix, rows, ARRAY_LEN(rows), sizeof *rows, name);
}

static void
test_rows_of_a_name_in_order(void **state)
{
    (void)state;
    static struct name_index ix;
    size_t at = first(&ix, STR("b"));
    assert_int_equal(at, 0);
    assert_int_equal(at = name_next(&ix, at), 2);
    assert_int_equal(at = name_next(&ix, at), 5);
    assert_int_equal(name_next(&ix, at), NAME_NONE);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(rows[first(&ix, str_from(rows[i].name))].name, rows[i].name);
}

static void
test_no_other_name(void **state)
{
    (void)state;
    static struct name_index ix;
    static const char *const names[] = {"d", "ccc", "B", "bb", " b"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(first(&ix, str_from(names[i])), NAME_NONE);
    assert_int_equal(first(&ix, str_make("b\0", 2)), NAME_NONE);
    assert_int_equal(first(&ix, str_make("bx", 1)), 0);
    assert_int_equal(first(&ix, str_from(NULL)), 6);
}

static void
test_an_empty_table(void **state)
{
    (void)state;
    static struct name_index ix;
    assert_int_equal(name_first(&ix, rows, 0, sizeof *rows, STR("a")), NAME_NONE);
}

static struct name_index shared;

static void *
look_up(void *arg)
{
    size_t *found = arg;
    *found = first(&shared, STR("cc"));
    return NULL;
}

static void
test_first_look_up_by_many(void **state)
{
    (void)state;
    pthread_t threads[4];
    size_t found[ARRAY_LEN(threads)];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, &found[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(found[i], 3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_a_name_in_order),
        cmocka_unit_test(test_no_other_name),
        cmocka_unit_test(test_an_empty_table),
        cmocka_unit_test(test_first_look_up_by_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
