#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/state.h"

static struct message *
results(const char *id, const char *text)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_tool_result(b, str_from(id), str_from(text), false);
    return message_build(b);
}

static void
test_one_result_a_call(void **state)
{
    (void)state;
    struct state st;
    struct err err = {0};
    state_init(&st);
    assert_false(state_handle_tool_result(&st, STR("foreign"), &err));
    assert_non_null(strstr(err.text, "foreign"));
    assert_int_equal(state_call_open(&st, STR("t1"), STR("Read"), STR("{}")), CALL_NEW);
    assert_int_equal(state_call_open(&st, STR("t1"), STR("Read"), STR("{}")), CALL_OPEN);
    assert_true(state_handle_tool_result(&st, STR("t1"), &err));
    assert_false(state_handle_tool_result(&st, STR("t1"), &err));
    struct message *m = results("t1", "hello");
    state_index_answers(&st, m);
    message_free(m);
    assert_int_equal(state_call_open(&st, STR("t1"), STR("Read"), STR("{}")), CALL_REPEAT);
    assert_int_equal(state_call_open(&st, STR("t1"), STR("Read"), STR("{\"a\":1}")), CALL_CONFLICT);
    assert_true(str_is(state_answer(&st, STR("t1"))->text, "hello"));
    state_release(&st);
}

static void
test_many_ids_and_forgetting(void **state)
{
    (void)state;
    struct state st;
    struct err err = {0};
    char id[32];
    state_init(&st);
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "toolu_%d", i);
        assert_int_equal(state_call_open(&st, str_from(id), STR("T"), STR("{}")), CALL_NEW);
    }
    for (int i = 0; i < 1000; i += 2) {
        snprintf(id, sizeof id, "toolu_%d", i);
        state_call_forget(&st, str_from(id));
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "toolu_%d", i);
        assert_int_equal(state_handle_tool_result(&st, str_from(id), &err), i % 2);
    }
    state_release(&st);
}

static void
test_ring_keeps_the_last(void **state)
{
    (void)state;
    struct state st;
    state_init(&st);
    for (int i = 0; i < STATE_RING + 10; i++) {
        const struct state_transition t = {.name = "next_turn", .file = "f.c", .line = i};
        state_note_transition(&st, &t);
    }
    struct buf b;
    struct err err = {0};
    buf_init(&b, BUF_MAX);
    state_write(&st, &b);
    struct cJSON *tree = json_parse(buf_str(&b), &err);
    assert_non_null(tree);
    assert_int_equal(json_len(json_at(tree, "transitions")), STATE_RING);
    assert_int_equal(json_int(tree, "transitions.0.line", -1), 10);
    assert_int_equal(json_int(tree, "schema", 0), STATE_SCHEMA);
    json_free(tree);
    buf_release(&b);
    state_release(&st);
}

static void
test_extension_slots_are_guarded(void **state)
{
    (void)state;
    struct state st;
    state_init(&st);
    struct state_ext ext = {.name = "afk", .data = xstrdup("x"), .free_data = free};
    assert_true(state_ext_add(&st, &ext));
    assert_false(state_ext_add(&st, &ext));
    assert_string_equal(state_ext_get(&st, "afk"), "x");
    assert_null(state_ext_get(&st, "other"));
    state_release(&st);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_result_a_call),
        cmocka_unit_test(test_many_ids_and_forgetting),
        cmocka_unit_test(test_ring_keeps_the_last),
        cmocka_unit_test(test_extension_slots_are_guarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
