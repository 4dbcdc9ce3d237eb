#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/catalog.h"
#include "unit/temp_dir.h"

static bool
near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void
names(void **state)
{
    static const char *const rows[][2] = {
        {"opus", "claude-opus-5-5"},
        {"sonnet", "claude-sonnet-5-5"},
        {"haiku", "claude-haiku-5-5"},
        {"fable", "claude-fable-5-1"},
        {"claude-opus-4-8", "claude-opus-4-8"},
        {"claude-haiku-4-5-20251001", "claude-haiku-4-5"},
        {"claude-opus-5-20260901", "claude-opus-5"},
    };
    static const char *const unknown[] = {"",
                                          "gpt",
                                          "Opus",
                                          "claude-haiku-4-5-2025",
                                          "claude-haiku-4-5-2025100x",
                                          "claude-haiku-4-5-"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(catalog_find(rows[i][0])->id, rows[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        assert_null(catalog_find(unknown[i]));
    assert_null(catalog_find(NULL));
    size_t n = 0;
    while (catalog_at(n)) {
        assert_ptr_equal(catalog_find(catalog_at(n)->id), catalog_at(n));
        assert_true(catalog_at(n)->context > 0 && catalog_at(n)->max_output > 0);
        n++;
    }
    assert_true(n >= 14);
}

static void
costs(void **state)
{
    const struct model_info *haiku = catalog_find("haiku"), *opus = catalog_find("opus");
    struct usage u = {.input = 20000, .output = 1000, .cache_read = 70000, .cache_write = 10000};
    (void)state;
    assert_true(near(catalog_cost(haiku, &u),
                     (20000 * 0.10 + 1000 * 0.50 + 70000 * 0.01 + 10000 * 0.125) / 1e6));
    u.cache_read++; /* the prompt is past 100,000 now: all of it at the higher price */
    assert_true(near(catalog_cost(haiku, &u),
                     (20000 * 0.50 + 1000 * 2.50 + 70001 * 0.05 + 10000 * 0.625) / 1e6));
    assert_true(near(catalog_cost(opus, &u),
                     (20000 * 4.0 + 1000 * 20.0 + 70001 * 0.20 + 10000 * 5.0) / 1e6));
    assert_true(catalog_cost(NULL, &u) < 0);
    /* what is kept an hour costs 2 times the input, what is kept five minutes 1.25 times */
    u = (struct usage){.cache_write = 30000, .cache_write_1h = 10000};
    assert_true(near(catalog_cost(opus, &u), (10000 * 8.0 + 20000 * 5.0) / 1e6));
    struct model_info unknown = {.id = "x"};
    assert_true(catalog_cost(&unknown, &u) < 0);
}

static void
the_small_one(void **state)
{
    (void)state;
    assert_string_equal(catalog_small("anthropic")->id, "claude-haiku-5-5");
    assert_null(catalog_small("offline"));
    assert_null(catalog_small("nobody"));
}

static void
a_user_file(void **state)
{
    char *dir = temp_dir_make(), *path = fs_join(dir, "models.json");
    struct err problem = {0};
    struct usage u = {.input = 1000000};
    (void)state;
    catalog_load(path, &problem); /* missing: nothing to say */
    assert_int_equal(problem.code, ERR_NONE);
    temp_file_write(dir, "models.json",
                    "{\"models\":[{\"id\":\"claude-opus-5-5\",\"price\":[{\"in\":3,\"out\":9}]},{"
                    "\"context\":5},"
                    "{\"id\":\"bad\",\"context\":-1},"
                    "{\"id\":\"mine\",\"aliases\":[\"sonnet\",\"m\"],\"context\":9000,\"thinking\":"
                    "\"budget\"}]}");
    catalog_load(path, &problem);
    assert_int_equal(problem.code, ERR_INVALID);
    assert_non_null(strstr(problem.text, "entry 2"));
    assert_non_null(strstr(problem.text, path));
    /* One member was corrected, the rest stands. */
    const struct model_info *opus = catalog_find("opus");
    assert_true(near(catalog_cost(opus, &u), 3));
    assert_true(near(opus->price[0].read, 0.3));
    assert_int_equal(opus->context, 1000000);
    assert_int_equal(opus->thinking, THINKING_ADAPTIVE);
    /* A model of their own, which took an alias over. */
    assert_string_equal(catalog_find("sonnet")->id, "mine");
    assert_string_equal(catalog_find("m")->id, "mine");
    assert_int_equal(catalog_find("mine")->context, 9000);
    assert_int_equal(catalog_find("mine")->max_output, 32000);
    assert_string_equal(catalog_find("mine")->shown, "mine");
    assert_true(catalog_cost(catalog_find("mine"), &u) < 0);
    assert_null(catalog_find("bad"));
    assert_non_null(catalog_find("claude-sonnet-5-5"));

    /* betas by provider and name; "" takes one away */
    assert_string_equal(catalog_beta("anthropic", "afk"), "afk-mode-2026-01-31");
    assert_null(catalog_beta("openai", "afk"));
    assert_null(catalog_beta("anthropic", "nothing"));
    temp_file_write(dir, "models.json",
                    "{\"betas\":{\"anthropic\":{\"afk\":\"\",\"mine\":\"m-1\"},\"x\":3}}");
    problem = (struct err){0};
    catalog_load(path, &problem);
    assert_int_equal(problem.code, ERR_NONE);
    assert_null(catalog_beta("anthropic", "afk"));
    assert_string_equal(catalog_beta("anthropic", "mine"), "m-1");

    temp_file_write(dir, "models.json", "{\"models\":");
    problem = (struct err){0};
    catalog_load(path, &problem);
    assert_int_equal(problem.code, ERR_PARSE);
    temp_file_write(dir, "models.json", "[]");
    problem = (struct err){0};
    catalog_load(path, &problem);
    assert_int_equal(problem.code, ERR_INVALID);
    free(path);
    temp_dir_remove(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(costs),
                                       cmocka_unit_test(the_small_one),
                                       cmocka_unit_test(a_user_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
