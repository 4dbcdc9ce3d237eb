/* The classifier's answer: one strict object, or junk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/text.h"
#include "engine/judge_answer.h"

static bool
reads(const char *text, struct judge_answer *ret)
{
    const char *why = "untouched";
    *ret = (struct judge_answer){0};
    bool ok = judge_answer_parse(str_from(text), ret, &why);
    assert_true(ok == (why == NULL));
    return ok;
}

static void
test_good_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *verdict;
        double confidence;
    } cases[] = {
        {"{\"verdict\":\"allow\",\"confidence\":0.95,\"reason\":\"runs the tests\"}", "allow",
         0.95},
        {"{\"verdict\":\"block\",\"confidence\":1,\"reason\":\"publishes\"}", "block", 1},
        {"{\"verdict\":\"ask\",\"confidence\":0,\"reason\":\"not clear\"}", "ask", 0},
        {" \n{ \"reason\" : \"any order\", \"confidence\" : 0.80 , \"verdict\" : \"allow\" }\n\n",
         "allow", 0.8},
        {"{\"verdict\":\"allow\",\"confidence\":1.0,\"reason\":\"caf\\u00e9 \\\"quoted\\\"\"}",
         "allow", 1},
        {"{\"verdict\":\"\\u0061llow\",\"confidence\":0.9,\"reason\":\"the same string\"}", "allow",
         0.9},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct judge_answer a;
        if (!reads(cases[i].text, &a))
            fail_msg("not read: %s", cases[i].text);
        assert_string_equal(a.verdict, cases[i].verdict);
        assert_true(a.confidence > cases[i].confidence - 1e-9 &&
                    a.confidence < cases[i].confidence + 1e-9);
        assert_true(strlen(a.reason) > 0);
    }
}

#define OK_V "\"verdict\":\"allow\""
#define OK_C "\"confidence\":0.9"
#define OK_R "\"reason\":\"because\""
#define GOOD "{" OK_V "," OK_C "," OK_R "}"

static const char *const junk[] = {
    /* nothing, or something else than one object */
    "",
    " ",
    "\n\t ",
    "null",
    "true",
    "0.9",
    "\"allow\"",
    "allow",
    "ALLOW",
    "yes",
    "[]",
    "{}",
    "[" GOOD "]",
    "{",
    "}",
    "{\"",
    GOOD "}",
    "{" GOOD "}",
    GOOD GOOD,
    GOOD "\n" GOOD,
    GOOD ",",
    "," GOOD,
    GOOD ";",
    /* words, fences, comments, marks around it */
    "Sure! " GOOD,
    GOOD " I am certain.",
    "```json\n" GOOD "\n```",
    "```\n" GOOD "\n```",
    "`" GOOD "`",
    "json " GOOD,
    "// ok\n" GOOD,
    "/* ok */" GOOD,
    GOOD "// ok",
    "<answer>" GOOD "</answer>",
    "\xEF\xBB\xBF" GOOD,
    "data: " GOOD,
    "Answer:\n" GOOD,
    "(" GOOD ")",
    /* members: missing, second, unknown, another spelling */
    "{" OK_V "," OK_C "}",
    "{" OK_V "," OK_R "}",
    "{" OK_C "," OK_R "}",
    "{" OK_V "}",
    "{" OK_V "," OK_V "," OK_C "," OK_R "}",
    "{" OK_V "," OK_C "," OK_C "," OK_R "}",
    "{\"verdict\":\"block\"," OK_V "," OK_C "," OK_R "}",
    "{" OK_V "," OK_C "," OK_R "," OK_R "}",
    "{" OK_V "," OK_C "," OK_R ",\"note\":1}",
    "{" OK_V "," OK_C "," OK_R ",\"\":0}",
    "{\"Verdict\":\"allow\"," OK_C "," OK_R "}",
    "{\"decision\":\"allow\"," OK_C "," OK_R "}",
    "{" OK_V ",\"Confidence\":0.9," OK_R "}",
    "{" OK_V "," OK_C ",\"reasons\":\"x y z\"}",
    "{\"verdict \":\"allow\"," OK_C "," OK_R "}",
    "{\"answer\":" GOOD "}",
    /* verdicts */
    "{\"verdict\":\"Allow\"," OK_C "," OK_R "}",
    "{\"verdict\":\"allow \"," OK_C "," OK_R "}",
    "{\"verdict\":\"allowed\"," OK_C "," OK_R "}",
    "{\"verdict\":\"deny\"," OK_C "," OK_R "}",
    "{\"verdict\":\"\"," OK_C "," OK_R "}",
    "{\"verdict\":null," OK_C "," OK_R "}",
    "{\"verdict\":true," OK_C "," OK_R "}",
    "{\"verdict\":1," OK_C "," OK_R "}",
    "{\"verdict\":[\"allow\"]," OK_C "," OK_R "}",
    "{\"verdict\":{\"allow\":1}," OK_C "," OK_R "}",
    "{\"verdict\":\"allow\\u0000block\"," OK_C "," OK_R "}",
    "{\"verdict\":allow," OK_C "," OK_R "}",
    "{\"verdict\":\"allow|block\"," OK_C "," OK_R "}",
    /* confidence */
    "{" OK_V ",\"confidence\":\"0.9\"," OK_R "}",
    "{" OK_V ",\"confidence\":\"high\"," OK_R "}",
    "{" OK_V ",\"confidence\":null," OK_R "}",
    "{" OK_V ",\"confidence\":true," OK_R "}",
    "{" OK_V ",\"confidence\":1.01," OK_R "}",
    "{" OK_V ",\"confidence\":2," OK_R "}",
    "{" OK_V ",\"confidence\":95," OK_R "}",
    "{" OK_V ",\"confidence\":-0.1," OK_R "}",
    "{" OK_V ",\"confidence\":-0," OK_R "}",
    "{" OK_V ",\"confidence\":1e400," OK_R "}",
    "{" OK_V ",\"confidence\":9e-1," OK_R "}",
    "{" OK_V ",\"confidence\":NaN," OK_R "}",
    "{" OK_V ",\"confidence\":Infinity," OK_R "}",
    "{" OK_V ",\"confidence\":0x1," OK_R "}",
    "{" OK_V ",\"confidence\":.9," OK_R "}",
    "{" OK_V ",\"confidence\":0.," OK_R "}",
    "{" OK_V ",\"confidence\":00.9," OK_R "}",
    "{" OK_V ",\"confidence\":+0.9," OK_R "}",
    "{" OK_V ",\"confidence\":0.9.9," OK_R "}",
    "{" OK_V ",\"confidence\":[0.9]," OK_R "}",
    "{" OK_V ",\"confidence\":90%," OK_R "}",
    "{" OK_V ",\"confidence\":0,9," OK_R "}",
    "{" OK_V ",\"confidence\":," OK_R "}",
    "{" OK_V ",\"confidence\":10," OK_R "}",
    /* reason */
    "{" OK_V "," OK_C ",\"reason\":\"\"}",
    "{" OK_V "," OK_C ",\"reason\":\"  \"}",
    "{" OK_V "," OK_C ",\"reason\":null}",
    "{" OK_V "," OK_C ",\"reason\":7}",
    "{" OK_V "," OK_C ",\"reason\":[\"because\"]}",
    "{" OK_V "," OK_C ",\"reason\":\"ok\"}",
    /* JSON that is none */
    "{" OK_V "," OK_C "," OK_R ",}",
    "{" OK_V " " OK_C "," OK_R "}",
    "{'verdict':'allow'," OK_C "," OK_R "}",
    "{verdict:\"allow\"," OK_C "," OK_R "}",
    "{" OK_V "," OK_C ",\"reason\":\"line\nbreak\x01\"}",
    "{" OK_V "," OK_C ",\"reason\":\"cut of",
    "{" OK_V "," OK_C ",\"reason\":\"bad \xff utf-8\"}",
    "{" OK_V "," OK_C ",\"reason\":\"bad \\q escape\"}",
    "<html><body>502 Bad Gateway</body></html>",
    "I cannot help with that.",
    "{\"error\":{\"message\":\"overloaded\"}}",
};

static void
test_junk(void **state)
{
    (void)state;
    assert_true(ARRAY_LEN(junk) > 90);
    for (size_t i = 0; i < ARRAY_LEN(junk); i++) {
        struct judge_answer a;
        if (reads(junk[i], &a))
            fail_msg("taken for an answer: %s", junk[i]);
        assert_string_equal(a.verdict, "");
        assert_true(a.confidence == 0);
        assert_string_equal(a.reason, "");
    }
}

static void
test_a_zero_byte_and_length(void **state)
{
    (void)state;
    struct judge_answer a = {0};
    const char *why = NULL;
    assert_false(judge_answer_parse(str_make(GOOD "\0", sizeof GOOD), &a, &why));
    assert_non_null(why);
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{" OK_V "," OK_C ",\"reason\":\"");
    for (size_t i = 0; i < JUDGE_ANSWER_MAX; i++)
        buf_addc(&b, 'x');
    buf_adds(&b, "\"}");
    assert_false(judge_answer_parse(buf_str(&b), &a, &why));
    assert_string_equal(why, "it is too long");
    buf_release(&b);
}

/* What people read is one line without anything that hides or moves text, however long it was. */
static void
test_the_reason_can_be_shown(void **state)
{
    (void)state;
    struct judge_answer a;
    assert_true(
        reads("{" OK_V "," OK_C ",\"reason\":\"red \\u001b[31m\\u202e txt\\nnext\\tline\"}", &a));
    assert_string_equal(a.reason, "red ^[[31m<U+202E> txt next line");
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{" OK_V "," OK_C ",\"reason\":\"");
    for (size_t i = 0; i < 600; i++)
        buf_adds(&b, "\xc3\xa9");
    buf_adds(&b, "\"}");
    assert_true(reads(buf_cstr(&b), &a));
    assert_true(strlen(a.reason) < sizeof a.reason);
    assert_true(text_valid_utf8(str_from(a.reason)));
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_answers),
        cmocka_unit_test(test_junk),
        cmocka_unit_test(test_a_zero_byte_and_length),
        cmocka_unit_test(test_the_reason_can_be_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
