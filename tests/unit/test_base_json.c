#include "unit/unit.h"

#include <string.h>

#include "base/json.h"

static void
accepts(void **state)
{
    static const char *const good[] = {"{}",
                                       "[]",
                                       " 1 ",
                                       "-0.5e+3",
                                       "\"x\"",
                                       "true",
                                       "null",
                                       "{\"a\":[1,{\"b\":2}],\"c\":\"\\u00e9\"}",
                                       "\"\\ud83d\\ude00\"",
                                       "[[[[]]]]",
                                       "{\"a\":{\"a\":{\"a\":1}}}",
                                       "[\"\\\\\",\"\\\"\"]"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct err err = {0};
        struct cJSON *t = json_parse(str_from(good[i]), &err);
        if (!t)
            fail_msg("%s: %s", good[i], err.text);
        json_free(t);
    }
}

static void
refuses(void **state)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "tru",
                                      "nulll",
                                      "\"\\u0000\"",
                                      "\"\\x\"",
                                      "\"a",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":1,\"\\u0061\":2}",
                                      "1 2",
                                      "{} x",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "\"\xff\"",
                                      "\"\xed\xa0\x80\"",
                                      "'a'",
                                      "\"\n\"",
                                      "]",
                                      "[}",
                                      "{\"a\":{\"b\":1,\"c\":2,\"b\":3}}",
                                      "NaN",
                                      "// x\n1"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};
        struct cJSON *t = json_parse(str_from(bad[i]), &err);
        if (t)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(err.code, ERR_PARSE);
        assert_true(err.text[0]);
    }
    assert_null(json_parse(str_make("1\0", 2), NULL));
}

static void
depth_is_capped(void **state)
{
    (void)state;
    char deep[2 * 1000 + 1];
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    assert_null(json_parse(str_make(deep, 2000), NULL));
    struct cJSON *t = json_parse(str_make(deep + 1000 - JSON_DEPTH, 2 * JSON_DEPTH), NULL);
    assert_non_null(t);
    json_free(t);
}

static void
lone_surrogates_are_repaired(void **state)
{
    (void)state;
    struct cJSON *t = json_parse(STR("{\"a\":\"x\\ud800y\\udc00\\uD83D\\uDE00\"}"), NULL);
    assert_non_null(t);
    assert_string_equal(json_cstr(t, "a", ""), "x\xEF\xBF\xBDy\xEF\xBF\xBD\xF0\x9F\x98\x80");
    json_free(t);
}

static void
lookups(void **state)
{
    (void)state;
    struct err err = {0};
    struct str s;
    int64_t n;
    struct cJSON *t = json_parse(
        STR("{\"A\":1,\"a\":{\"b\":[10,20,{\"c\":\"x\"}]},\"t\":true,\"big\":1e300}"), NULL);
    assert_int_equal(json_int(t, "A", 0), 1);
    assert_int_equal(json_int(t, "a.b.1", 0), 20);
    assert_string_equal(json_cstr(t, "a.b.2.c", ""), "x");
    assert_null(json_at(t, "a.b.3"));
    assert_null(json_at(t, "a.b.x"));
    assert_null(json_at(t, "a.B"));
    assert_true(json_bool(t, "t", false));
    assert_true(json_int(t, "big", 0) == INT64_MAX);
    assert_int_equal(json_count(t, "a.b.1"), 20);
    assert_int_equal(json_count(t, "big"), 0);
    assert_false(json_need_str(t, "a.b", &s, &err));
    assert_non_null(strstr(err.text, "a.b"));
    assert_true(json_need_int(t, "A", &n, &err));
    json_free(t);
}

static void
raw_members(void **state)
{
    (void)state;
    struct str s =
        STR(" { \"a\" : [1, \"]\\\"\"] ,\"b\":{\"c\": 90071992547409931 }, \"d\":\"x\\\"y\" } ");
    assert_true(str_is(json_raw_member(s, "a"), "[1, \"]\\\"\"]"));
    assert_true(str_is(json_raw_member(s, "b"), "{\"c\": 90071992547409931 }"));
    assert_true(str_is(json_raw_member(s, "d"), "\"x\\\"y\""));
    assert_null(json_raw_member(s, "c").ptr);
    assert_null(json_raw_member(STR("[1]"), "a").ptr);
    assert_null(json_raw_member(STR("{\"a"), "a").ptr);
    assert_null(json_raw_member(STR(""), "a").ptr);
}

static void
lines(void **state)
{
    (void)state;
    struct str s = STR("{\n \"p\": {\n  \"allow\": [\n   \"a\",\n   \"b\"\n  ]\n }\n}");
    assert_int_equal(json_line_of(s, "p.allow", 0), 4);
    assert_int_equal(json_line_of(s, "p.allow", 1), 5);
    assert_int_equal(json_line_of(s, "p.allow", 2), 0);
    assert_int_equal(json_line_of(s, "p.deny", 0), 0);
}

static void
writes(void **state)
{
    struct buf out;
    struct jw w;
    (void)state;
    buf_init(&out, BUF_MAX);
    jw_init(&w, &out);
    jw_object(&w);
    jw_kstr(&w, "a", STR("q\"\\\n\x01\xff\xC3\xA9\0z")); /* NUL too: no reader takes it */
    jw_kint(&w, "n", -5);
    jw_key(&w, "l");
    jw_array(&w);
    jw_bool(&w, true);
    jw_null(&w);
    jw_raw(&w, STR("{\"x\":1}"));
    jw_end(&w);
    jw_knum(&w, "f", 0.25);
    jw_end(&w);
    assert_string_equal(out.data,
                        "{\"a\":\"q\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBDz\",\"n\":-5,"
                        "\"l\":[true,null,{\"x\":1}],\"f\":0.25}");
    struct cJSON *t = json_parse(buf_str(&out), NULL);
    struct buf again;
    buf_init(&again, BUF_MAX);
    json_print(t, &again);
    assert_string_equal(again.data, out.data);
    json_free(t);
    buf_release(&again);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts),         cmocka_unit_test(refuses),
        cmocka_unit_test(depth_is_capped), cmocka_unit_test(lone_surrogates_are_repaired),
        cmocka_unit_test(lookups),         cmocka_unit_test(raw_members),
        cmocka_unit_test(lines),           cmocka_unit_test(writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
