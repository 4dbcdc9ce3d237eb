#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* As long as `n`, after what is there already, under this maximum: added whole or not at all. */
static void
add_formatted(size_t before, size_t n, size_t max)
{
    struct buf b;
    char *head = xcalloc(before + 1, 1), *text = xcalloc(n + 1, 1);
    memset(head, 'h', before);
    memset(text, 't', n);
    buf_init(&b, max);
    assert_true(buf_adds(&b, head));
    bool fits = before + n <= max;
    assert_int_equal(buf_addf(&b, "%s", text), fits);
    assert_int_equal(buf_full(&b), !fits);
    assert_int_equal(b.len, before + (fits ? n : 0));
    assert_int_equal(strlen(buf_cstr(&b)), b.len);
    assert_memory_equal(buf_cstr(&b), head, before);
    if (fits)
        assert_string_equal(buf_cstr(&b) + before, text);
    buf_release(&b);
    free(text);
    free(head);
}

static void
formatted_at_every_length(void **state)
{
    static const size_t max[] = {40, 63, 64, 65, 100, 200, BUF_MAX};
    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(max); m++)
        for (size_t before = 0; before <= 40; before += 8)
            for (size_t n = 0; n < 210; n++)
                add_formatted(before, n, max[m]);
}

static void
formatted_into_an_empty_one(void **state)
{
    (void)state;
    for (size_t n = 0; n < 300; n++) {
        char *text = xcalloc(n + 1, 1);
        memset(text, 'x', n);
        char *got = xasprintf("%s", text);
        assert_string_equal(got, text);
        free(got);
        struct buf b;
        buf_init(&b, 10);
        assert_int_equal(buf_addf(&b, "%s", text), n <= 10);
        assert_string_equal(buf_cstr(&b), n <= 10 ? text : "");
        buf_release(&b);
        free(text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formatted_at_every_length),
        cmocka_unit_test(formatted_into_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
