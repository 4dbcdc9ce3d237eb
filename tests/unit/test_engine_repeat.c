/* Circles that a model goes in, and work that only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "engine/repeat.h"

/* A call a letter: 'a'..'z' succeeds, 'A'..'Z' fails, each with one answer; '0'..'9' succeeds with another answer each time; 'r' only
 * reads, 'p' polls. The number of calls after which it is seen; 0: never. */
static size_t
seen_after(const char *calls)
{
    struct repeat r;
    repeat_reset(&r);
    for (size_t i = 0; calls[i]; i++) {
        char k = calls[i];
        size_t n = 0;
        const struct repeat_call c = {
            .what = (uint64_t)k,
            .answer = k >= '0' && k <= '9' ? 1000 + i : 1,
            .failed = k >= 'A' && k <= 'Z',
            .read_only = k == 'r' || k == 'p',
            .polls = k == 'p',
        };
        repeat_note(&r, &c);
        if (repeat_seen(&r, &n)) {
            assert_true(n >= 3 && n <= i + 1);
            return i + 1;
        }
    }
    return 0;
}

static void
test_the_same_call_three_times_in_a_row(void **state)
{
    (void)state;
    assert_int_equal(seen_after("aaa"), 3);
    assert_int_equal(seen_after("bAAA"), 4);
    assert_int_equal(seen_after("rrr"), 3);
    assert_int_equal(seen_after("aabaab"), 0);
}

static void
test_failing_by_turns_is_seen_within_six_calls(void **state)
{
    (void)state;
    assert_int_equal(seen_after("ABABAB"), 5);
    assert_int_equal(seen_after("ArArAr"), 5);
    size_t three = seen_after("ABCABCABC");
    assert_true(three > 0 && three <= 7);
}

/* Test, edit, test: the same failure, but something was changed in between. */
static void
test_work_in_between_is_no_circle(void **state)
{
    (void)state;
    assert_int_equal(seen_after("TaTbTcTdTe"), 0);
    assert_int_equal(seen_after("abcdefghijklmnoqrstuvw"), 0);
    assert_int_equal(seen_after("0000000000"), 0); /* another answer each time */
}

static void
test_ten_calls_without_news(void **state)
{
    (void)state;
    assert_int_equal(seen_after("abcdabcdabcdabcd"), 14);
    assert_int_equal(seen_after("abababababababab"), 12);
}

static void
test_polling_has_ten(void **state)
{
    (void)state;
    assert_int_equal(seen_after("pppppppppp"), 0);
    assert_int_equal(seen_after("ppppppppppp"), 11);
    assert_int_equal(seen_after("ppppp0ppppp1pp"), 0);
}

static void
test_a_prompt_begins_anew(void **state)
{
    (void)state;
    struct repeat r;
    size_t n;
    repeat_reset(&r);
    const struct repeat_call c = {.what = 1, .answer = 1};
    for (int i = 0; i < 3; i++)
        repeat_note(&r, &c);
    assert_non_null(repeat_seen(&r, &n));
    repeat_reset(&r);
    assert_null(repeat_seen(&r, &n));
    repeat_note(&r, &c);
    repeat_note(&r, &c);
    assert_null(repeat_seen(&r, &n));
}

static void
expect_plain(const char *command, const char *want)
{
    struct buf b;
    buf_init(&b, 1000);
    repeat_plain(str_from(command), &b);
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static void
test_blanks_and_comments_are_no_part_of_a_command(void **state)
{
    (void)state;
    expect_plain("", "");
    expect_plain(" \t\n", "");
    expect_plain("make  test\t-j2 ", "make test -j2");
    expect_plain("make test # try 3", "make test");
    expect_plain("# try 3\nmake test", "make test");
    expect_plain("make a # one\n\n  # two\n  make b\n", "make a\nmake b");
    expect_plain("make a;# one", "make a;");
    expect_plain("(make a)# one\nb", "(make a)\nb");
    expect_plain("make \\\n  test", "make test");
    expect_plain("ma\\\nke", "make");
    expect_plain("a $(b   c # d\n)  e", "a $(b c\n) e");
}

static void
test_what_is_quoted_stays(void **state)
{
    (void)state;
    static const char *const same[] = {
        "echo 'a  # b'",   "echo \"a  # b\"",   "echo a\\ \\ b",       "echo $# a#b ${#x}",
        "echo \\# a",      "echo $'a\\'  # b'", "echo \"a\\\"  # b\"", "echo \"a\nb  c\"",
        "echo $((16#ff))", "echo a\\",          "echo 'a  b",          "echo \"a  b",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        expect_plain(same[i], same[i]);
}

/* A body's blanks and number signs are its own, and so are those of a word inside quotes. */
static void
test_what_is_not_understood_stays_from_there_on(void **state)
{
    (void)state;
    expect_plain("cat  >f <<EOF\n# a  b\n\nEOF\nls  # x", "cat >f <<EOF\n# a  b\n\nEOF\nls  # x");
    expect_plain("cat  <<<a  # x", "cat <<<a");
    expect_plain("a  \"$(b \"c  # d\")\"  e", "a \"$(b \"c  # d\")\"  e");
    expect_plain("a  \"`b`\"  e", "a \"`b`\"  e");
    expect_plain("a  ${x/ #/  }  b", "a ${x/ #/  }  b");
    expect_plain("a  \"${x}\"  ${y}  b", "a \"${x}\" ${y} b");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_call_three_times_in_a_row),
        cmocka_unit_test(test_failing_by_turns_is_seen_within_six_calls),
        cmocka_unit_test(test_work_in_between_is_no_circle),
        cmocka_unit_test(test_ten_calls_without_news),
        cmocka_unit_test(test_polling_has_ten),
        cmocka_unit_test(test_a_prompt_begins_anew),
        cmocka_unit_test(test_blanks_and_comments_are_no_part_of_a_command),
        cmocka_unit_test(test_what_is_quoted_stays),
        cmocka_unit_test(test_what_is_not_understood_stays_from_there_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
