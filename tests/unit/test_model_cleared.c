/* What context editing left out of a request, as the answer's last event says it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/json.h"
#include "model/anthropic_event.h"
#include "model/stream.h"

static void
apply(struct stream_blocks *b, const char *event)
{
    struct delta d;
    struct cJSON *t = json_parse(str_from(event), NULL);
    assert_non_null(t);
    assert_true(anthropic_read_event(t, str_from(event), &d));
    stream_blocks_apply(b, &d);
    json_free(t);
}

static void
test_applied_edits_are_summed(void **state)
{
    (void)state;
    struct stream_blocks *b = stream_blocks_new();
    apply(b,
          "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
          "\"output_tokens\":9},\"context_management\":{\"applied_edits\":[{\"type\":"
          "\"clear_thinking_20251015\",\"cleared_thinking_turns\":2,\"cleared_input_tokens\":700},{"
          "\"type\":\"clear_tool_uses_20250919\",\"cleared_tool_uses\":8,\"cleared_input_tokens\":"
          "50000}]}}");
    assert_int_equal(stream_blocks_usage(b)->cleared_uses, 8);
    assert_int_equal(stream_blocks_usage(b)->cleared_tokens, 50700);
    stream_blocks_free(b);
}

static void
test_anything_else_clears_nothing(void **state)
{
    (void)state;
    static const char *const odd[] = {"{}", "{\"applied_edits\":{\"cleared_input_tokens\":5}}",
                                      "{\"applied_edits\":[1,null,{\"cleared_input_tokens\":-5}]}",
                                      "7"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct stream_blocks *b = stream_blocks_new();
        char *event = xasprintf("{\"type\":\"message_delta\",\"context_management\":%s}", odd[i]);
        apply(b, event);
        assert_int_equal(stream_blocks_usage(b)->cleared_tokens, 0);
        free(event);
        stream_blocks_free(b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applied_edits_are_summed),
        cmocka_unit_test(test_anything_else_clears_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
