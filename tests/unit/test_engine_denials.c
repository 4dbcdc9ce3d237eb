/* Counting refusals of a kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/denials.h"

static void
test_the_third_of_a_kind(void **state)
{
    (void)state;
    struct denials d = {0};
    assert_int_equal(denials_count(&d, "a"), 0);
    assert_false(denials_add(&d, "a", false));
    assert_false(denials_add(&d, "b", false));
    assert_false(denials_add(&d, "a", true));
    assert_true(denials_add(&d, "a", false));
    assert_false(denials_add(&d, "a", false)); /* told once */
    assert_int_equal(denials_count(&d, "a"), 4);
    assert_int_equal(denials_count(&d, "b"), 1);
    denials_forgive_classifier(&d);
    assert_int_equal(denials_count(&d, "a"), 3);
    denials_clear(&d);
    assert_int_equal(denials_count(&d, "a"), 0);
}

static void
test_there_is_a_cap(void **state)
{
    (void)state;
    struct denials d = {0};
    for (int i = 0; i < 200; i++) {
        char kind[16];
        (void)snprintf(kind, sizeof kind, "kind %d", i);
        assert_false(denials_add(&d, kind, false));
    }
    assert_int_equal(denials_count(&d, "kind 0"), 1);
    assert_int_equal(denials_count(&d, "kind 199"), 0);
    denials_clear(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_third_of_a_kind),
        cmocka_unit_test(test_there_is_a_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
