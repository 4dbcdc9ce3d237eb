#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/fs.h"
#include "temp_dir.h"

static char *dir;

static int
setup(void **state)
{
    (void)state;
    dir = temp_dir_make();
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    temp_dir_remove(dir);
    return 0;
}

/* What is left of `text` once `value` was taken out of permissions.allow. */
static void
check(const char *text, const char *value, const char *want)
{
    char *file = fs_join(dir, "settings.json");
    struct err err = {0};
    struct buf b;
    buf_init(&b, BUF_MAX);
    assert_true(fs_write_atomic(file, str_from(text), 0600, &err));
    bool ok = config_remove_from_list(file, "permissions.allow", value, &err);
    assert_int_equal(ok, want != NULL);
    assert_true(fs_read(file, BUF_MAX, &b, &err));
    assert_string_equal(buf_cstr(&b), want ? want : text);
    buf_release(&b);
    free(file);
}

static void
the_element_goes_and_nothing_else(void **state)
{
    (void)state;
    check("{\"permissions\": {\"allow\": [\"a\", \"b\", \"c\"]}, \"x\": 1}\n", "a",
          "{\"permissions\": {\"allow\": [\"b\", \"c\"]}, \"x\": 1}\n");
    check("{\"permissions\": {\"allow\": [\"a\", \"b\", \"c\"]}, \"x\": 1}\n", "b",
          "{\"permissions\": {\"allow\": [\"a\", \"c\"]}, \"x\": 1}\n");
    check("{\"permissions\": {\"allow\": [\"a\", \"b\", \"c\"]}, \"x\": 1}\n", "c",
          "{\"permissions\": {\"allow\": [\"a\", \"b\"]}, \"x\": 1}\n");
    check("{\"permissions\":{\"allow\":[\"a\"]}}", "a", "{\"permissions\":{\"allow\":[]}}");
    check("{\n  \"permissions\": {\n    \"allow\": [\n      \"a\",\n      \"b\"\n    ]\n  }\n}\n",
          "b", "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\"\n    ]\n  }\n}\n");
    /* as it is written, not as it is read */
    check("{\"permissions\":{\"allow\":[\"\\u0061\", 3, {\"k\":\",]\"}, \"b\"]}}", "a",
          "{\"permissions\":{\"allow\":[3, {\"k\":\",]\"}, \"b\"]}}");
    check("{\"permissions\":{\"allow\":[\"a\",\"a\"]}}", "a",
          "{\"permissions\":{\"allow\":[\"a\"]}}");
}

static void
what_is_not_there_leaves_the_file(void **state)
{
    (void)state;
    check("{\"permissions\":{\"allow\":[\"a\"]}}", "b", NULL);
    check("{\"permissions\":{}}", "a", NULL);
    check("{\"permissions\":{\"allow\":\"a\"}}", "a", NULL);
    check("{\"permissions\":", "a", NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_element_goes_and_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_leaves_the_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
