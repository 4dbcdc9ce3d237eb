#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/extract.h"
#include "fakes/talks.h"

struct got {
    char *list[64];
    bool cut[64];
    size_t n;
};

static void
take(void *user, struct str s, bool cut)
{
    struct got *g = user;
    assert_true(s.len <= EXTRACT_SENTENCE);
    if (g->n < 64) {
        g->cut[g->n] = cut;
        g->list[g->n++] = str_dup(s);
    }
}

static void
release(struct got *g)
{
    for (size_t i = 0; i < g->n; i++)
        free(g->list[i]);
}

static void
check(const char *text, const char *const *want, size_t n)
{
    struct got g = {.n = 0};
    extract_split(str_from(text), take, &g);
    for (size_t i = 0; i < n && i < g.n; i++)
        assert_string_equal(g.list[i], want[i]);
    assert_int_equal(g.n, n);
    release(&g);
}

static void
test_prose(void **state)
{
    (void)state;
    const char *const want[] = {"The file src/base/buf.c holds version 1.2.3 of it.",
                                "It works, e.g. in tests, i.e. Always!",
                                "Does it (really?) work at 3.5 GHz?", "Yes\nit does.", "No end"};
    check("The file src/base/buf.c holds version 1.2.3 of it. It works, e.g. in tests, i.e. "
          "Always! Does it (really?) work at 3.5 GHz? Yes\nit does. No end",
          want, 5);
}

static void
test_lists_code_and_output(void **state)
{
    (void)state;
    const char *const want[] = {
        "The plan is this.", "- first. Then that", "2) second",    "int main(void) { return 0; }",
        "x = 1. + y",        "# A heading",        "src/a.c:12:7", "That was all of it."};
    check("The plan is this.\n- first. Then that\n2) second\n```c\nint main(void) { return 0; }\n"
          "x = 1. + y\n```\n# A heading\nsrc/a.c:12:7\n\nThat was all of it.\n",
          want, 8);
    check("", NULL, 0);
    check(" \n\n\t\r\n", NULL, 0);
}

static void
test_long_lines_are_cut_at_characters(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 1000; i++)
        buf_adds(&b, "\xc3\xa4");
    struct got g = {.n = 0};
    extract_split(buf_str(&b), take, &g);
    assert_true(g.n >= 5 && g.cut[0] && !g.cut[g.n - 1]);
    for (size_t i = 0; i < g.n; i++) {
        assert_int_equal((unsigned char)g.list[i][0], 0xc3);
        assert_int_equal(strlen(g.list[i]) % 2, 0);
    }
    release(&g);
    buf_release(&b);
}

static void
test_what_says_most_is_taken_in_order(void **state)
{
    (void)state;
    const struct str texts[] = {
        STR("I will look now. We decided to keep src/net/wire.c because the old server needs it. "
            "Tests "
            "pass. Tests pass. Tests pass. Let me see what there is here."),
        STR("ok\nok\nok\nerror: cannot open '/etc/app.conf': permission denied\nok\nok\n"
            "-----------------------------\n"),
    };
    struct buf out;
    buf_init(&out, BUF_MAX);
    size_t n = extract_sentences(texts, 2, 135, &out);
    assert_int_equal(n, 2);
    assert_string_equal(buf_cstr(&out),
                        "We decided to keep src/net/wire.c because the old server needs it.\n"
                        "error: cannot open '/etc/app.conf': permission denied\n");
    buf_clear(&out);
    n = extract_sentences(texts, 2, 100000, &out);
    assert_null(strstr(strstr(buf_cstr(&out), "Tests pass.") + 1, "Tests pass.")); /* once */
    buf_clear(&out);
    assert_int_equal(extract_sentences(texts, 2, 10, &out), 0);
    assert_int_equal(extract_sentences(NULL, 0, 1000, &out), 0);
    assert_int_equal(out.len, 0);
    buf_release(&out);
}

static void
test_any_bytes_keep_the_limit(void **state)
{
    (void)state;
    struct talk t = {.random = 5};
    char bytes[5000];
    for (int round = 0; round < 200; round++) {
        size_t len = talk_below(&t, sizeof bytes), max = talk_below(&t, 3000);
        for (size_t i = 0; i < len; i++)
            bytes[i] = round % 2 ? (char)talk_random(&t) : ".!? \n-`a{A0/"[talk_below(&t, 12)];
        struct str s = str_make(bytes, len);
        struct buf a, b;
        buf_init(&a, BUF_MAX);
        buf_init(&b, BUF_MAX);
        extract_sentences(&s, 1, max, &a);
        extract_sentences(&s, 1, max, &b);
        assert_true(a.len <= max);
        assert_true(str_eq(buf_str(&a), buf_str(&b)));
        buf_release(&a);
        buf_release(&b);
    }
}

/* Every shape of 2 MB ends: code, one line without a blank, dots, blank lines. */
static void
test_two_megabytes_of_anything(void **state)
{
    (void)state;
    static const char *const units[] = {"x",     ".",        ". ",     "\n",  "a.b ",
                                        "word ", "- item\n", "(a)\" ", "\xff"};
    for (size_t u = 0; u < ARRAY_LEN(units); u++) {
        struct buf b, out;
        buf_init(&b, BUF_MAX);
        buf_init(&out, BUF_MAX);
        while (b.len < (size_t)2 << 20)
            buf_adds(&b, units[u]);
        struct str s = buf_str(&b);
        extract_sentences(&s, 1, 8000, &out);
        assert_true(out.len <= 8000);
        buf_release(&b);
        buf_release(&out);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prose),
        cmocka_unit_test(test_lists_code_and_output),
        cmocka_unit_test(test_long_lines_are_cut_at_characters),
        cmocka_unit_test(test_what_says_most_is_taken_in_order),
        cmocka_unit_test(test_any_bytes_keep_the_limit),
        cmocka_unit_test(test_two_megabytes_of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
