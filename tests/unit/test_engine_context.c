#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/context.h"
#include "engine/usage.h"

static int64_t
sum_capped(const size_t *lens, size_t n, int64_t cap)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (int64_t)lens[i] < cap ? (int64_t)lens[i] : cap;
    return sum;
}

static void
test_results_keep_both_limits(void **state)
{
    (void)state;
    const size_t few[] = {10, 60000, 49999};
    assert_int_equal(context_result_cap(few, 3), CONTEXT_RESULT_MAX);
    size_t many[9];
    for (size_t i = 0; i < 9; i++)
        many[i] = 50000;
    int64_t cap = context_result_cap(many, 9);
    assert_true(cap < CONTEXT_RESULT_MAX && cap > 20000);
    assert_true(sum_capped(many, 9, cap) <= CONTEXT_MESSAGE_MAX);
    many[0] = many[1] = 100;
    cap = context_result_cap(many, 9);
    assert_true(sum_capped(many, 9, cap) <= CONTEXT_MESSAGE_MAX);
    assert_int_equal(context_result_cap(NULL, 0), CONTEXT_RESULT_MAX);
}

static void
test_states_of_the_fill(void **state)
{
    (void)state;
    assert_string_equal(context_state_name(0, 200000), "ok");
    assert_string_equal(context_state_name(150000, 200000), "warn");
    assert_string_equal(context_state_name(181000, 200000), "error");
    assert_string_equal(context_state_name(198000, 200000), "blocking");
    assert_string_equal(context_state_name(999999999, 0), "ok");
    assert_false(context_is_blocking(999999999, 0));
}

static void
test_tiers_stand_in_order(void **state)
{
    (void)state;
    static const char *const order[] = {"E0", "E1", "E2", "E3", "E4"};
    size_t n;
    const struct context_tier *t = context_tiers(&n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(t[i].id, order[i]);
    assert_non_null(t[0].run);
}

/* Names of models can be long ("arn:aws:bedrock:..."): each still has one row, and its own. */
static void
test_long_model_names_keep_their_row(void **state)
{
    (void)state;
    static const char *const names[] = {
        "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/one/the-first-model",
        "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/one/the-second-model"};
    struct usage_meter m = {0};
    struct passport p;
    passport_init(&p);
    for (int i = 0; i < 6; i++) {
        m.running.input = 1;
        usage_commit(&m, &p, names[i % 2], NULL);
    }
    assert_int_equal(p.n_usage, 2);
    assert_string_equal(p.usage[1].model, names[1]);
    assert_int_equal(p.usage[0].requests, 3);
    passport_release(&p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_keep_both_limits),
        cmocka_unit_test(test_states_of_the_fill),
        cmocka_unit_test(test_tiers_stand_in_order),
        cmocka_unit_test(test_long_model_names_keep_their_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
