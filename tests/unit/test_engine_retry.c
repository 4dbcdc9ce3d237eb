#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/retry.h"

static const struct retry_policy policy = {500, 10};

static struct err
http(int status, bool retryable)
{
    struct err e = {0};
    err_set(&e, ERR_HTTP, "status %d", status);
    e.http = status;
    e.retryable = retryable;
    return e;
}

static void
test_what_is_never_tried_again(void **state)
{
    (void)state;
    static const int never[] = {400, 401, 402, 403, 404, 413};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        struct err e = http(never[i], true);
        assert_int_equal(retry_delay(&policy, &e, 1, 0, 0), -1);
    }
    struct err spend_cap = http(429, false);
    assert_int_equal(retry_delay(&policy, &spend_cap, 1, 0, 0), -1);
}

static void
test_backoff_grows_to_a_cap_with_jitter(void **state)
{
    (void)state;
    struct err e = http(529, true);
    for (int attempt = 1; attempt <= 10; attempt++) {
        int64_t middle = 500;
        for (int i = 1; i < attempt; i++)
            middle = middle * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : middle * 2;
        for (uint32_t r = 0; r < 100000; r += 9999) {
            int64_t d = retry_delay(&policy, &e, attempt, 0, r);
            assert_true(d >= middle - middle / 4 && d <= middle + middle / 4);
        }
    }
    assert_int_equal(retry_delay(&policy, &e, 11, 0, 0), -1);
    assert_int_equal(retry_delay(&policy, &e, 1, RETRY_TOTAL_MS, 0), -1);
}

static void
test_retry_after_is_obeyed(void **state)
{
    (void)state;
    struct err e = http(429, true);
    e.retry_after_ms = 7000;
    assert_int_equal(retry_delay(&policy, &e, 1, 0, 0), 7000);
    e.retry_after_ms = RETRY_AFTER_MAX_MS + 1;
    assert_int_equal(retry_delay(&policy, &e, 1, 0, 0), -1);
}

static void
test_lost_connections_are_tried_again(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_NET, "connection reset");
    e.retryable = true;
    assert_true(retry_delay(&policy, &e, 1, 0, 0) > 0);
}

/* A certificate that is not trusted will not be trusted in a second. */
static void
test_what_the_network_layer_calls_lasting_is_not_tried_again(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_NET, "its certificate is not trusted");
    assert_int_equal(retry_delay(&policy, &e, 1, 0, 0), -1);
}

static void
test_too_long_in_any_words(void **state)
{
    (void)state;
    struct err e = http(400, false);
    memcpy(e.text, "prompt is too long: 210000 tokens > 200000", 43);
    assert_true(retry_is_too_long(&e));
    e = http(413, false);
    assert_true(retry_is_too_long(&e));
    e = http(400, false);
    memcpy(e.kind, "context_length_exceeded", 24);
    assert_true(retry_is_too_long(&e));
    e = http(400, false);
    assert_false(retry_is_too_long(&e));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_never_tried_again),
        cmocka_unit_test(test_backoff_grows_to_a_cap_with_jitter),
        cmocka_unit_test(test_retry_after_is_obeyed),
        cmocka_unit_test(test_lost_connections_are_tried_again),
        cmocka_unit_test(test_what_the_network_layer_calls_lasting_is_not_tried_again),
        cmocka_unit_test(test_too_long_in_any_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
