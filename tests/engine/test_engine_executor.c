/* The streaming executor: what overlaps, what waits, who is cancelled. Timing is judged by the order of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/rig.h"
#include "fakes/toys.h"

static void
finish_script(struct rig *r)
{
    scripted_end(r->script, STOP_TOOL_USE);
    rig_says(r, "done");
    rig_start(r);
    rig_post(r, OP_SUBMIT, "go");
}

static void
expect_done(struct rig *r)
{
    assert_string_equal(rig_result(r)->u.result.exit, "completed");
}

static const char *
results(struct rig *r)
{
    const struct scripted_request *q = scripted_request(r->script, 1);
    return q->messages[q->n_messages - 1];
}

static void
test_a_tool_starts_while_the_model_still_talks(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_gate(r.script, 0);
    scripted_text(r.script, "and more");
    finish_script(&r);
    rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
    scripted_open_gate(r.script, 0);
    expect_done(&r);
    rig_end(&r);
}

static void
test_safe_calls_overlap_unsafe_ones_do_not(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "s1", "Read", "{\"name\":\"a\",\"gate\":1}");
    scripted_tool(r.script, "s2", "Read", "{\"name\":\"b\",\"gate\":2}");
    scripted_tool(r.script, "u1", "Edit", "{\"name\":\"c\",\"gate\":3}");
    scripted_tool(r.script, "s3", "Read", "{\"name\":\"d\"}");
    scripted_tool(r.script, "u2", "Edit", "{\"name\":\"e\"}");
    finish_script(&r);
    rig_tool(&r, "s1", PHASE_DELTA, TOOL_RUNNING);
    r.seen = 0;
    rig_tool(&r, "s2", PHASE_DELTA, TOOL_RUNNING); /* both run, neither ended */
    toys_open(2);
    rig_tool(&r, "s2", PHASE_END, TOOL_DONE); /* the later one may end first */
    assert_true(rig_find_tool(&r, "u1", PHASE_DELTA, TOOL_RUNNING) < 0);
    toys_open(1);
    rig_tool(&r, "u1", PHASE_DELTA, TOOL_RUNNING);
    assert_true(rig_find_tool(&r, "s1", PHASE_END, TOOL_DONE) >= 0);
    assert_true(rig_find_tool(&r, "s3", PHASE_DELTA, TOOL_RUNNING) < 0);
    toys_open(3);
    expect_done(&r);
    assert_true(rig_find_tool(&r, "u1", PHASE_END, TOOL_DONE) <
                rig_find_tool(&r, "s3", PHASE_DELTA, TOOL_RUNNING));
    assert_true(rig_find_tool(&r, "s3", PHASE_END, TOOL_DONE) <
                rig_find_tool(&r, "u2", PHASE_DELTA, TOOL_RUNNING));
    rig_end(&r);
}

static void
test_a_read_only_shell_command_overlaps(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "b1", "Bash", "{\"command\":\"ls\",\"gate\":1}");
    scripted_tool(r.script, "b2", "Bash", "{\"command\":\"ls\"}");
    scripted_tool(r.script, "b3", "Bash", "{\"command\":\"make\"}");
    finish_script(&r);
    rig_tool(&r, "b2", PHASE_END, TOOL_DONE);
    assert_true(rig_find_tool(&r, "b1", PHASE_END, -1) < 0);
    assert_true(rig_find_tool(&r, "b3", PHASE_DELTA, TOOL_RUNNING) < 0);
    toys_open(1);
    expect_done(&r);
    rig_end(&r);
}

static void
test_a_failed_shell_command_cancels_its_siblings(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "s1", "Bash", "{\"command\":\"fail\",\"gate\":2}");
    scripted_tool(r.script, "u1", "Edit", "{\"name\":\"b\"}");
    scripted_tool(r.script, "s2", "Read", "{\"name\":\"c\"}");
    finish_script(&r);
    rig_tool(&r, "s2", PHASE_START, TOOL_WAITING);
    toys_open(2);
    expect_done(&r);
    assert_true(rig_find_tool(&r, "s1", PHASE_END, TOOL_FAILED) >= 0);
    assert_true(rig_find_tool(&r, "u1", PHASE_END, TOOL_CANCELLED) >= 0);
    assert_true(rig_find_tool(&r, "s2", PHASE_END, TOOL_CANCELLED) >= 0);
    assert_int_equal(toys_runs(), 1);
    assert_non_null(strstr(results(&r), "another call of the same batch failed"));
    rig_end(&r);
}

static void
test_a_running_sibling_is_cancelled(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "s1", "Read", "{\"name\":\"a\",\"gate\":1}");
    scripted_tool(r.script, "s2", "Bash", "{\"command\":\"ls\",\"gate\":2}");
    scripted_tool(r.script, "b1", "Bash", "{\"command\":\"fail\"}");
    finish_script(&r);
    rig_tool(&r, "b1", PHASE_START, -1);
    toys_open(2);
    toys_open(1);
    expect_done(&r);
    assert_true(rig_find_tool(&r, "b1", PHASE_END, TOOL_FAILED) >= 0);
    rig_end(&r);
}

static void
test_benign_exits_and_other_errors_cancel_nobody(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "b1", "Bash", "{\"command\":\"nothing\"}");
    scripted_tool(r.script, "x1", "Read", "{\"nonsense\":1}");
    scripted_tool(r.script, "x2", "Nope", "{}");
    scripted_tool(r.script, "x3", "Read", "{\"name\":");
    scripted_tool(r.script, "u1", "Edit", "{\"name\":\"b\"}");
    finish_script(&r);
    expect_done(&r);
    assert_true(rig_find_tool(&r, "u1", PHASE_END, TOOL_DONE) >= 0);
    assert_true(rig_find_tool(&r, "x1", PHASE_END, TOOL_FAILED) >= 0);
    assert_true(rig_find_tool(&r, "x2", PHASE_END, TOOL_FAILED) >= 0);
    assert_true(rig_find_tool(&r, "x3", PHASE_END, TOOL_FAILED) >= 0);
    assert_int_equal(toys_runs(), 2);
    assert_non_null(strstr(results(&r), "there is no tool 'Nope'"));
    rig_end(&r);
}

static void
test_the_folder_of_a_shell_is_kept(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "b1", "Bash", "{\"command\":\"cd /somewhere\"}");
    scripted_tool(r.script, "b2", "Bash", "{\"command\":\"ls\"}");
    finish_script(&r);
    expect_done(&r);
    assert_non_null(strstr(results(&r), "ran ls in /somewhere"));
    rig_end(&r);
}

static void
test_a_repeated_id_gets_the_stored_result(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_calls(&r, "t1", "Read", "{\"name\":\"a\"}");
    rig_calls(&r, "t1", "Read", "{\"name\":\"a\"}");
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Edit", "{\"name\":\"other\"}");
    finish_script(&r);
    expect_done(&r);
    assert_int_equal(toys_runs(), 1);
    const struct scripted_request *q = scripted_request(r.script, 2);
    assert_non_null(strstr(q->messages[4], "done a in"));
    q = scripted_request(r.script, 3);
    assert_non_null(strstr(q->messages[6], "was used for another call"));
    rig_end(&r);
}

static void
test_a_deaf_tool_is_left_behind_and_its_late_result_refused(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams.kill_wait_ms = 100;
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\",\"gate\":1,\"deaf\":true}");
    finish_script(&r);
    rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    engine_cancel(r.e, CANCEL_USER);
    rig_result(&r);
    assert_true(rig_find_tool(&r, "t1", PHASE_END, TOOL_CANCELLED) >= 0);
    toys_open(1); /* now it comes back, too late */
    rig_post(&r, OP_SUBMIT, "go on");
    expect_done(&r);
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_null(strstr(q->messages[q->n_messages - 1], "done a in"));
    toys_wait_until_idle();
    rig_end(&r);
}

/* The session that it ran in is gone when it comes back: what it works with must not be. */
static void
test_a_deaf_tool_may_outlive_its_session(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams.kill_wait_ms = 100;
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read",
                  "{\"name\":\"a\",\"gate\":1,\"deaf\":true,\"notes\":true}");
    finish_script(&r);
    rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    engine_cancel(r.e, CANCEL_USER);
    rig_result(&r);
    rig_post(&r, OP_COMMAND, "/clear");
    while (!rig_kind(&r, EV_SESSION)->u.session.cleared)
        ;
    toys_open(1);
    toys_wait_until_idle();
    rig_end(&r);
}

static void
test_one_call_can_be_stopped(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\",\"gate\":1}");
    scripted_tool(r.script, "t2", "Read", "{\"name\":\"b\"}");
    finish_script(&r);
    rig_tool(&r, "t2", PHASE_END, TOOL_DONE);
    rig_post(&r, OP_STOP_TOOL, "t1");
    expect_done(&r);
    assert_true(rig_find_tool(&r, "t1", PHASE_END, TOOL_CANCELLED) >= 0);
    assert_non_null(strstr(results(&r), "stopped by the person"));
    rig_end(&r);
}

static void
test_long_results_are_capped_with_the_rest_on_disk(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"size\":70000}");
    for (int i = 2; i < 9; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        scripted_tool(r.script, id, "Read", "{\"size\":49000}");
    }
    finish_script(&r);
    expect_done(&r);
    assert_true(strlen(results(&r)) < 215000);
    assert_non_null(strstr(results(&r), "tool-results"));
    rig_end(&r);
}

static void
test_many_at_once(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    for (int i = 0; i < 40; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        scripted_tool(r.script, id, i % 7 == 3 ? "Edit" : "Read", "{\"name\":\"x\"}");
    }
    finish_script(&r);
    expect_done(&r);
    assert_int_equal(toys_runs(), 40);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tool_starts_while_the_model_still_talks),
        cmocka_unit_test(test_safe_calls_overlap_unsafe_ones_do_not),
        cmocka_unit_test(test_a_read_only_shell_command_overlaps),
        cmocka_unit_test(test_a_failed_shell_command_cancels_its_siblings),
        cmocka_unit_test(test_a_running_sibling_is_cancelled),
        cmocka_unit_test(test_benign_exits_and_other_errors_cancel_nobody),
        cmocka_unit_test(test_the_folder_of_a_shell_is_kept),
        cmocka_unit_test(test_a_repeated_id_gets_the_stored_result),
        cmocka_unit_test(test_a_deaf_tool_is_left_behind_and_its_late_result_refused),
        cmocka_unit_test(test_a_deaf_tool_may_outlive_its_session),
        cmocka_unit_test(test_one_call_can_be_stopped),
        cmocka_unit_test(test_long_results_are_capped_with_the_rest_on_disk),
        cmocka_unit_test(test_many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
