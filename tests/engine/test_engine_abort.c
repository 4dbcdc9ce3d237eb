/* Interrupts: what was on the screen stays, what ran has its results, and the session goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fakes/rig.h"

static void
ends(struct rig *r, const char *exit, const char *subtype, int code)
{
    (void)rig_ends(r, exit, subtype, code);
    assert_true(rig_saw_transition(r, exit));
}

static void
test_aborted_streaming_keeps_the_text(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_open_text(r.script, "I was about to");
    scripted_gate(r.script, 0);
    rig_says(&r, "ok");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_BLOCK);
    engine_cancel(r.e, CANCEL_USER);
    ends(&r, "aborted_streaming", "error_during_execution", 130);
    rig_post(&r, OP_SUBMIT, "go on");
    ends(&r, "completed", "success", 0);
    rig_end(&r);
}

static void
test_aborted_streaming_answers_started_tools(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\",\"gate\":1}");
    scripted_tool(r.script, "t2", "Edit", "{\"name\":\"b\"}");
    scripted_gate(r.script, 0);
    rig_says(&r, "ok");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t2", PHASE_START, TOOL_WAITING);
    engine_cancel(r.e, CANCEL_USER);
    ends(&r, "aborted_streaming", "error_during_execution", 130);
    assert_true(rig_find_tool(&r, "t1", PHASE_END, TOOL_CANCELLED) >= 0);
    assert_true(rig_find_tool(&r, "t2", PHASE_END, TOOL_CANCELLED) >= 0);
    rig_post(&r, OP_SUBMIT, "go on");
    ends(&r, "completed", "success", 0);
    const char *m = scripted_request(r.script, 1)->messages[2];
    assert_non_null(strstr(m, "interrupted by the person before it finished"));
    assert_non_null(strstr(m, "interrupted by the person before it ran"));
    assert_non_null(strstr(m, "partial output"));
    rig_end(&r);
}

static void
test_aborted_tools(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_tool(r.script, "t2", "Bash", "{\"command\":\"sleep\",\"gate\":1}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "ok");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t2", PHASE_DELTA, TOOL_RUNNING);
    r.seen = 0; /* the assistant's message may have been appended before or after */
    rig_kind(&r, EV_MESSAGE);
    engine_cancel(r.e, CANCEL_USER);
    ends(&r, "aborted_tools", "error_during_execution", 130);
    rig_post(&r, OP_SUBMIT, "go on");
    ends(&r, "completed", "success", 0);
    assert_non_null(strstr(scripted_request(r.script, 1)->messages[2], "done a in"));
    rig_end(&r);
}

static void
test_terminated(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_gate(r.script, 0);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_TURN);
    engine_cancel(r.e, CANCEL_TERM);
    ends(&r, "aborted_streaming", "error_during_execution", 143);
    rig_kind(&r, EV_CLOSED);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aborted_streaming_keeps_the_text),
        cmocka_unit_test(test_aborted_streaming_answers_started_tools),
        cmocka_unit_test(test_aborted_tools),
        cmocka_unit_test(test_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
