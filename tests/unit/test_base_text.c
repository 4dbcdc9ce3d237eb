#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/slash.h"
#include "base/text.h"

static void
widths(void **state)
{
    static const struct {
        const char *s;
        int w;
    } rows[] = {{"abc", 3},
                {"\xE6\xBC\xA2\xE5\xAD\x97", 4},
                {"e\xCC\x81", 1},
                {"\xF0\x9F\x98\x80", 2},
                {"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
                 2},                                     /* a family */
                {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", 2}, /* a flag */
                {"\xE2\x9D\xA4\xEF\xB8\x8F", 2},
                {"हि", 2},    /* a vowel sign takes a column beside its letter */
                {"हिन्दी", 5}, /* as terminals count it */
                {"ക\u0D47\u0D3E", 3},
                {"กำ", 2},
                {"ｶﾞ", 2},
                {"a\tb", 3},
                {"", 0}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (text_width(str_from(rows[i].s)) != rows[i].w)
            fail_msg("row %zu: %d columns, not %d", i, text_width(str_from(rows[i].s)), rows[i].w);
}

static void
wrapping(void **state)
{
    static const struct {
        const char *s;
        int columns;
        const char *lines;
    } rows[] = {
        {"hello world again", 11, "hello world|again"},
        {"hello world", 5, "hello|world"},
        {"abcdefgh", 3, "abc|def|gh"},
        {"a\n\nb", 10, "a||b"},
        {"", 5, ""},
        {"ab cdefghij", 4, "ab|cdef|ghij"},
        {"\xE6\xBC\xA2\xE5\xAD\x97", 3, "\xE6\xBC\xA2|\xE5\xAD\x97"},
        {"\xE6\xBC\xA2", 1, "\xE6\xBC\xA2"},
        {"    indented", 6, "    in|dented"},
        {"trailing\n", 20, "trailing|"},
        {"in /usr/share/long/names", 12, "in|/usr/share/|long/names"},
        {"a/bcdefghijklmn", 8, "a/bcdefg|hijklmn"}, /* a slash so early makes no row */
        {"ab 漢字漢字", 6, "ab 漢|字漢字"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf got;
        struct str rest = str_from(rows[i].s), line;
        buf_init(&got, BUF_MAX);
        for (int n = 0; text_wrap(&rest, rows[i].columns, &line); n++) {
            if (n)
                buf_addc(&got, '|');
            buf_add_str(&got, line);
        }
        assert_string_equal(buf_cstr(&got), rows[i].lines);
        buf_release(&got);
    }
}

static void
unsafe_text_is_shown(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, BUF_MAX);
    text_visible(&out, STR("a\x1b[2J\x7f\xE2\x80\xAE"
                           "b\xff\n\tc"));
    assert_string_equal(out.data, "a^[[2J^?<U+202E>b\xEF\xBF\xBD\n\tc");
    assert_true(text_has_unsafe(STR("x\xC2\xA0y")));
    assert_false(text_has_unsafe(STR("h\xC3\xA9llo \xE6\xBC\xA2 \xF0\x9F\x98\x80\n")));
    buf_clear(&out);
    assert_int_equal(text_repair(&out, STR("a\xff\xfe"
                                           "b\xC3")),
                     3);
    assert_string_equal(out.data, "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                  "b\xEF\xBF\xBD");
    buf_release(&out);
}

/* Any bytes: forwards and backwards agree on the grapheme borders, and nothing reads past the end. */
static void
graphemes_both_ways(void **state)
{
    static const char *const parts[] = {
        "a",    "\xCC\x81", "\xE6\xBC\xA2", "\xE2\x80\x8D", "\xF0\x9F\x91\xA8", "\xff",
        "\xC3", " ",        "\r",           "\n",           "\xF0\x9F\x87\xA9", "\xEF\xB8\x8F"};
    unsigned seed = 1;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        for (int i = 0; i < 12; i++) {
            seed = seed * 1103515245u + 12345u;
            buf_adds(&b, parts[(seed >> 16) % ARRAY_LEN(parts)]);
        }
        struct str s = buf_str(&b);
        int w;
        size_t prev = 0;
        for (size_t at = 0; at < s.len;) {
            size_t n = text_grapheme(s, at, &w);
            assert_true(n >= 1 && at + n <= s.len && w >= 0 && w <= 2);
            prev = at;
            at += n;
            assert_int_equal(text_grapheme_before(s, at), prev);
        }
        buf_release(&b);
    }
}

static void
folding(void **state)
{
    (void)state;
    assert_true(text_equal_fold(STR(".Vscode"), STR(".vSCODE")));
    assert_true(text_equal_fold(STR("\xC3\x89"), STR("\xC3\xA9")));
    assert_false(text_equal_fold(STR("a"), STR("ab")));
}

static void
finding_without_case(void **state)
{
    (void)state;
    size_t len = 99;
    assert_int_equal(text_find_fold(STR("A needle"), STR("NEED"), 0, &len), 2);
    assert_int_equal(len, 4);
    assert_int_equal(text_find_fold(STR("xx"), STR("x"), 1, &len), 1);
    assert_int_equal(text_find_fold(STR("STRA\xC3\x9F"
                                        "E \xC3\x84x"),
                                    STR("\xC3\xA4X"), 0, &len),
                     8);
    assert_int_equal(len, 3);
    assert_true(text_find_fold(STR("abc"), STR("abcd"), 0, &len) == (size_t)-1);
    assert_true(text_find_fold(STR("abc"), STR(""), 0, &len) == (size_t)-1);
    assert_true(text_find_fold(STR("\xff\xc3"), STR("\xc3\xa4"), 0, &len) == (size_t)-1);
}

static void
addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *url;
    } cases[] = {{"see https://a.org/b?c=1#d.", "https://a.org/b?c=1#d"},
                 {"(http://a.org/x_(y))", "http://a.org/x_(y)"},
                 {"<https://a.org>, http://b", "https://a.org"},
                 {"[t](https://a.org/)", "https://a.org/"},
                 {"https:// http https:/x", NULL},
                 {"\"https://a.org/\xC3\xA4\"", "https://a.org/"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t len = 0, at = text_find_url(str_from(cases[i].text), 0, &len);
        if (!cases[i].url)
            assert_true(at == (size_t)-1);
        else
            assert_true(str_is(str_sub(str_from(cases[i].text), at, len), cases[i].url));
    }
}

static void
beginnings_end_at_whole_characters(void **state)
{
    (void)state;
    static const struct {
        size_t max;
        const char *start;
    } cases[] = {{0, ""},
                 {1, "a"},
                 {2, "a"},
                 {3, "a\u00e9"},
                 {5, "a\u00e9"},
                 {6, "a\u00e9\u20ac"},
                 {9, "a\u00e9\u20ac"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_true(str_is(text_start(STR("a\u00e9\u20ac"), cases[i].max), cases[i].start));
    assert_int_equal(text_start(STR(""), 3).len, 0);
}

static void
commands_and_paths(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool command;
    } rows[] = {{"/nope", true},      {" /nope a/b.c\n", true},
                {"/nope\tx", true},   {"/etc/hosts is short", false},
                {"/notes.md", false}, {"/tmp is full", false}, /* there is one */
                {"/", false},         {"/ x", false},
                {"//", false},        {"nope /x", false},
                {"", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(slash_is_command(str_from(rows[i].line)), rows[i].command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths),
                                       cmocka_unit_test(wrapping),
                                       cmocka_unit_test(unsafe_text_is_shown),
                                       cmocka_unit_test(graphemes_both_ways),
                                       cmocka_unit_test(folding),
                                       cmocka_unit_test(beginnings_end_at_whole_characters),
                                       cmocka_unit_test(finding_without_case),
                                       cmocka_unit_test(addresses),
                                       cmocka_unit_test(commands_and_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
