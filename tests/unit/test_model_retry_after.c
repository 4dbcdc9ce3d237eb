/* Retry-After in both of its forms, and what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/retry_after.h"

#define NOW_S 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */

static void
test_seconds(void **state)
{
    (void)state;
    assert_int_equal(retry_after_ms("7"), 7000);
    assert_int_equal(retry_after_ms("0.5"), 500);
    assert_int_equal(retry_after_ms("0"), 0);
    assert_int_equal(retry_after_ms("-3"), 0);
    assert_int_equal(retry_after_ms("99999999999"), 86400000); /* a day at most */
}

static void
test_dates(void **state)
{
    (void)state;
    const struct clock_fake fake = {.wall_ms = (int64_t)NOW_S * 1000};
    clock_set_fake(&fake);
    assert_int_equal(retry_after_ms("Sun, 06 Nov 1994 08:50:07 GMT"), 30000);
    assert_int_equal(retry_after_ms("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
    assert_int_equal(retry_after_ms("Sun, 06 Nov 1994 07:00:00 GMT"), 0); /* past */
    assert_int_equal(retry_after_ms("Tue, 08 Nov 1994 08:49:37 GMT"), 86400000);
    clock_set_fake(NULL);
}

static void
test_what_is_neither(void **state)
{
    (void)state;
    static const char *const none[] = {"", "soon", "nan", "Sun, 06 Xyz 1994 08:49:37 GMT",
                                       "Sun, 06"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(retry_after_ms(none[i]), 0);
    assert_int_equal(retry_after_ms(NULL), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_what_is_neither),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
