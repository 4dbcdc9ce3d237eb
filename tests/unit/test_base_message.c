#include "unit/unit.h"

#include <string.h>

#include "base/json.h"
#include "base/message.h"

static void
bytes_are_kept(void **state)
{
    (void)state;
    struct str json = STR("{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
                          "\"thinking\":\"a\\u00e9\",\"signature\":\"S==\"},"
                          "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"n\":"
                          " 90071992547409931, \"s\":\"],}\"}},"
                          "{\"type\":\"new_kind\",\"x\":[1,2]}]}");
    struct message *m = message_parse(json, NULL);
    assert_non_null(m);
    assert_true(str_eq(m->json, json));
    assert_int_equal(m->n_blocks, 3);
    assert_int_equal(m->blocks[0].kind, BLOCK_THINKING);
    assert_true(str_is(m->blocks[0].text, "a\xC3\xA9"));
    assert_true(str_is(m->blocks[0].signature, "S=="));
    assert_true(str_is(m->blocks[1].input, "{\"n\": 90071992547409931, \"s\":\"],}\"}"));
    assert_int_equal(m->blocks[2].kind, BLOCK_OTHER);
    assert_true(str_is(m->blocks[2].raw, "{\"type\":\"new_kind\",\"x\":[1,2]}"));
    struct message *again = message_ref(m);
    message_free(m);
    assert_int_equal(again->n_blocks, 3);
    message_free(again);
}

static void
builder(void **state)
{
    (void)state;
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR(" \n "));
    assert_int_equal(message_builder_len(b), 0);
    message_add_tool_result(b, STR("t1"), STR(""), true);
    message_add_text(b, STR("hi"));
    struct message *m = message_build(b);
    assert_string_equal(m->json.ptr,
                        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                        "\"t1\",\"content\":"
                        "\"(no output)\",\"is_error\":true},{\"type\":\"text\",\"text\":\"hi\"}]}");
    assert_true(m->blocks[0].is_error);
    message_free(m);
    assert_null(message_build(message_builder_new(ROLE_USER)));
}

static void
tool_inputs_that_cannot_stand(void **state)
{
    char deep[600];
    (void)state;
    memset(deep, '[', 300);
    memset(deep + 300, ']', 300);
    struct buf nested;
    buf_init(&nested, BUF_MAX);
    buf_addf(&nested, "{\"a\":%.*s}", 500, deep + 50);
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_tool_use(b, STR("1"), STR("X"), STR("not json"));
    message_add_tool_use(b, STR("2"), STR("X"), STR("{\"a\":\n1}"));
    message_add_tool_use(b, STR("3"), STR("X"), buf_str(&nested));
    struct message *m = message_build(b);
    assert_true(str_is(m->blocks[0].input, "{}"));
    assert_true(str_is(m->blocks[1].input, "{\"a\": 1}"));
    assert_true(str_is(m->blocks[2].input, "{}"));
    message_free(m);
    buf_release(&nested);
}

static void
junk(void **state)
{
    static const char *const bad[] = {"{}",
                                      "[]",
                                      "{\"role\":\"system\",\"content\":\"x\"}",
                                      "{\"role\":\"user\"}",
                                      "x",
                                      "{\"role\":\"user\",\"content\":5}"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(message_parse(str_from(bad[i]), NULL));
    struct message *m =
        message_parse(STR("{\"role\":\"user\",\"content\":[1,\"a\",{\"type\":5},[]]}"), NULL);
    assert_int_equal(m->n_blocks, 4);
    message_free(m);
    m = message_parse(STR("{\"content\":\"plain\",\"role\":\"user\"}"), NULL);
    assert_true(str_is(m->blocks[0].text, "plain"));
    message_free(m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_kept), cmocka_unit_test(builder),
                                       cmocka_unit_test(tool_inputs_that_cannot_stand),
                                       cmocka_unit_test(junk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
