/* The sum of a day, shared by several yares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "engine/spend_day.h"
#include "temp_dir.h"

#define PROCESSES 4
#define ADDS 25

static double
sum_of(const char *dir)
{
    struct err err = {0};
    double usd = -1;
    if (!spend_day_read(dir, &usd, &err))
        fail_msg("%s", err.text);
    return usd;
}

static bool
is_about(double a, double b)
{
    return a - b < 1e-6 && b - a < 1e-6;
}

static void
test_several_processes_lose_nothing(void **state)
{
    (void)state;
    char *dir = temp_dir_make();
    for (int p = 0; p < PROCESSES; p++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid)
            continue;
        int failed = 0;
        for (int i = 0; i < ADDS; i++) {
            struct err err = {0};
            bool added;
            while (!(added = spend_day_add(dir, 0.01, &err)) && err.code == ERR_TIMEOUT)
                ; /* many at once on a busy machine: it is added the next time, as the engine does */
            failed += !added;
        }
        _exit(failed);
    }
    for (int p = 0, status; p < PROCESSES; p++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_true(is_about(sum_of(dir), PROCESSES * ADDS * 0.01));
    temp_dir_remove(dir);
}

static void
test_a_new_day_begins_at_nothing(void **state)
{
    (void)state;
    struct err err = {0};
    char *dir = temp_dir_make();
    struct clock_fake fake = {.wall_ms = 1796000000000};
    clock_set_fake(&fake);
    assert_true(is_about(sum_of(dir), 0));
    assert_true(spend_day_add(dir, 3, &err));
    assert_true(is_about(sum_of(dir), 3));
    fake.wall_ms += 25 * 3600 * 1000;
    assert_true(is_about(sum_of(dir), 0));
    assert_true(spend_day_add(dir, 1, &err));
    assert_true(is_about(sum_of(dir), 1));
    clock_set_fake(NULL);
    temp_dir_remove(dir);
}

/* What is written without waiting for the disk may be gone after a power cut, or be an older one: of the day at most a twentieth is lost. */
static void
test_a_power_cut_costs_little(void **state)
{
    (void)state;
    struct err err = {0};
    char *dir = temp_dir_make(), *file = fs_join(dir, "spend.json");
    struct buf early;
    buf_init(&early, 4096);
    assert_true(spend_day_add(dir, 2, &err));
    assert_true(fs_read(file, 4096, &early, &err));
    for (int i = 0; i < 100; i++)
        assert_true(spend_day_add(dir, 0.01, &err));
    const struct str left[] = {STR(""), STR("\0\0\0\0"), buf_str(&early)};
    for (size_t i = 0; i < ARRAY_LEN(left); i++) {
        double was = sum_of(dir);
        assert_true(fs_write_atomic(file, left[i], 0600, &err));
        assert_true(sum_of(dir) >= was * 0.95 - 1e-6 && sum_of(dir) <= was);
        was = sum_of(dir);
        assert_true(spend_day_add(dir, 0.5, &err));
        assert_true(is_about(sum_of(dir), was + 0.5));
    }
    /* who removes the file begins the day anew */
    assert_int_equal(unlink(file), 0);
    assert_true(is_about(sum_of(dir), 0));
    assert_true(spend_day_add(dir, 0.01, &err));
    assert_true(is_about(sum_of(dir), 0.01));
    buf_release(&early);
    free(file);
    temp_dir_remove(dir);
}

/* A file that is none counts as nothing spent, and is written anew. */
static void
test_a_broken_file_is_no_error_for_ever(void **state)
{
    (void)state;
    struct err err = {0};
    char *dir = temp_dir_make(), *file = fs_join(dir, "spend.json");
    char *kept = fs_join(dir, "spend.kept.json");
    static const char *const texts[] = {"", "{", "[]", "{\"day\":7,\"usd\":\"x\"}", "\001\002"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_true(fs_write_atomic(file, str_from(texts[i]), 0600, &err));
        assert_true(fs_write_atomic(kept, str_from(texts[i]), 0600, &err));
        assert_true(is_about(sum_of(dir), 0));
        assert_true(spend_day_add(dir, 2, &err));
        assert_true(is_about(sum_of(dir), 2));
    }
    free(file);
    free(kept);
    temp_dir_remove(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_processes_lose_nothing),
        cmocka_unit_test(test_a_new_day_begins_at_nothing),
        cmocka_unit_test(test_a_power_cut_costs_little),
        cmocka_unit_test(test_a_broken_file_is_no_error_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
