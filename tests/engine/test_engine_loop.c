/* Each transition and exit of the loop, by scripted streams. */
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
expect_exit(struct rig *r, const char *exit, const char *subtype, int code)
{
    (void)rig_ends(r, exit, subtype, code);
    assert_true(rig_saw_transition(r, exit));
}

static void
test_completed(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_thinking(r.script, "hm", "sig");
    scripted_text(r.script, "Hello, this is the answer.");
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    assert_string_equal(rig_kind(&r, EV_SESSION)->u.session.provider, "scripted");
    rig_post(&r, OP_SUBMIT, "hi");
    assert_string_equal(rig_kind(&r, EV_USER)->u.user.text, "hi");
    expect_exit(&r, "completed", "success", 0);
    const struct event *e = r.ev[r.n - 1];
    assert_string_equal(e->u.result.text, "Hello, this is the answer.");
    assert_string_equal(e->u.result.stop_reason, "end_turn");
    assert_int_equal(e->u.result.turns, 1);
    rig_end(&r);
}

static void
test_next_turn_and_order_of_results(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "looking");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_tool(r.script, "t2", "Edit", "{\"name\":\"b\"}");
    scripted_tool(r.script, "t3", "Read", "{\"name\":\"c\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_true(rig_saw_transition(&r, "next_turn"));
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_int_equal(q->n_messages, 3);
    const char *a = strstr(q->messages[2], "\"t1\""), *b = strstr(q->messages[2], "\"t2\""),
               *c = strstr(q->messages[2], "\"t3\"");
    assert_true(a && b && c && a < b && b < c);
    assert_int_equal(q->message_break[0], 0);
    assert_int_equal(q->message_break[1], 2);
    rig_end(&r);
}

static void
test_max_turns(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.max_turns = 2;
    for (int i = 0; i < 2; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        rig_calls(&r, id, "Read", "{\"name\":\"a\"}");
    }
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "max_turns", "error_max_turns", 1);
    assert_int_equal(scripted_requests(r.script), 2);
    rig_end(&r);
}

static void
test_model_error_is_not_retried_and_leaves_a_usable_session(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err e = rig_error(ERR_HTTP, 401, false, "", "invalid key");
    scripted_fail_start(r.script, &e);
    rig_says(&r, "now it works");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "model_error", "error_during_execution", 1);
    assert_non_null(strstr(r.ev[r.n - 1]->u.result.errors, "invalid key"));
    assert_int_equal(rig_count(&r, EV_RETRY), 0);
    rig_post(&r, OP_SUBMIT, "again");
    expect_exit(&r, "completed", "success", 0);
    rig_end(&r);
}

static void
test_retry_then_success(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err busy = rig_error(ERR_HTTP, 529, true, "", "overloaded"),
               lost = rig_error(ERR_NET, 0, true, "", "reset");
    scripted_fail_start(r.script, &busy);
    scripted_reply(r.script);
    scripted_open_text(r.script, "half an ans");
    scripted_fail(r.script, &lost);
    rig_says(&r, "wer, and the rest");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_int_equal(rig_count(&r, EV_RETRY), 2);
    /* What was on the screen stays, in the history and in the answer. */
    assert_string_equal(r.ev[r.n - 1]->u.result.text, "half an answer, and the rest");
    assert_int_equal(scripted_request(r.script, 1)->n_messages, 1);
    const struct scripted_request *q = scripted_request(r.script, 2);
    assert_int_equal(q->n_messages, 3);
    assert_non_null(strstr(q->messages[1], "half an ans"));
    assert_non_null(strstr(q->messages[2], "Go on from exactly there"));
    rig_end(&r);
}

static void
test_retries_end(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err lost = rig_error(ERR_NET, 0, true, "", "connection reset");
    for (int i = 0; i < 4; i++) {
        scripted_reply(r.script);
        scripted_open_text(r.script, "some text");
        scripted_fail(r.script, &lost);
    }
    rig_says(&r, "later");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "model_error", "error_during_execution", 1);
    assert_int_equal(rig_count(&r, EV_RETRY), 3);
    rig_post(&r, OP_SUBMIT, "and now");
    expect_exit(&r, "completed", "success", 0);
    /* What was on the screen is kept. */
    const struct scripted_request *last = scripted_request(r.script, 4);
    assert_int_equal(last->n_messages, 9);
    for (size_t i = 1; i < 9; i += 2)
        assert_non_null(strstr(last->messages[i], "some text"));
    rig_end(&r);
}

static void
test_a_cancel_ends_the_wait_for_a_retry(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err busy = rig_error(ERR_HTTP, 429, true, "", "slow down");
    busy.retry_after_ms = 500000;
    scripted_fail_start(r.script, &busy);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    assert_int_equal(rig_kind(&r, EV_RETRY)->u.retry.delay_ms, 500000);
    engine_cancel(r.e, CANCEL_USER);
    expect_exit(&r, "aborted_streaming", "error_during_execution", 130);
    rig_end(&r);
}

static void
test_a_broken_stream_after_a_tool_ran_goes_on_from_the_result(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err lost = rig_error(ERR_NET, 0, true, "", "reset");
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_gate(r.script, 0);
    scripted_open_text(r.script, "and then");
    scripted_fail(r.script, &lost);
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
    scripted_open_gate(r.script, 0);
    expect_exit(&r, "completed", "success", 0);
    assert_int_equal(toys_runs(), 1);
    assert_int_equal(rig_count(&r, EV_RETRY), 0);
    assert_int_equal(scripted_request(r.script, 1)->n_messages, 3);
    rig_end(&r);
}

static void
test_overload_falls_back_to_another_model(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.fallback_model = "other";
    r.cfg.max_retries = 1;
    struct err busy = rig_error(ERR_HTTP, 529, true, "", "overloaded");
    scripted_fail_start(r.script, &busy);
    scripted_fail_start(r.script, &busy);
    rig_says(&r, "hello");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_string_equal(scripted_request(r.script, 2)->model, "other");
    rig_end(&r);
}

static void
test_prompt_too_long_says_what_is_large(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err e =
        rig_error(ERR_HTTP, 400, false, "", "prompt is too long: 210000 tokens > 200000 maximum");
    scripted_fail_start(r.script, &e);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "prompt_too_long", "error_during_execution", 1);
    assert_non_null(strstr(r.ev[r.n - 1]->u.result.errors, "messages"));
    rig_end(&r);
}

static void
test_max_output_escalates_then_recovers(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    for (int i = 0; i < 5; i++) {
        char text[16];
        snprintf(text, sizeof text, "part %d ", i);
        scripted_reply(r.script);
        scripted_text(r.script, text);
        scripted_end(r.script, STOP_MAX_TOKENS);
    }
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_true(rig_saw_transition(&r, "max_output_tokens_escalate"));
    assert_true(rig_saw_transition(&r, "max_output_tokens_recovery"));
    assert_int_equal(scripted_requests(r.script), 5);
    assert_int_equal(scripted_request(r.script, 0)->n_messages, 1);
    assert_int_equal(scripted_request(r.script, 1)->n_messages, 1);
    assert_int_equal(scripted_request(r.script, 1)->max_tokens, 64000);
    assert_int_equal(scripted_request(r.script, 4)->n_messages, 7);
    rig_end(&r);
}

static enum stop_hook_answer
hook(void *user, const char *last_text, bool active, char **ret_reason)
{
    assert_non_null(last_text);
    enum stop_hook_answer want = *(enum stop_hook_answer *)user;
    if (want == STOP_HOOK_GO_ON && active)
        return STOP_HOOK_PASS;
    if (want == STOP_HOOK_GO_ON)
        *ret_reason = xstrdup("the tests were not run");
    return want;
}

static void
test_stop_hooks(void **state)
{
    (void)state;
    enum stop_hook_answer want = STOP_HOOK_GO_ON;
    struct rig r;
    rig_init(&r);
    r.seams.stop_hook = hook;
    r.seams.user = &want;
    for (int i = 0; i < 3; i++) {
        rig_says(&r, "done");
    }
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_true(rig_saw_transition(&r, "stop_hook_blocking"));
    assert_non_null(strstr(scripted_request(r.script, 1)->messages[2], "the tests were not run"));
    want = STOP_HOOK_PREVENT;
    rig_post(&r, OP_SUBMIT, "again");
    expect_exit(&r, "hook_stopped", "success", 0);
    rig_end(&r);
}

/* The answer was thrown away to be asked for again with more room; that never happened. The prompt was sent, so it stays alone. */
static void
test_an_end_before_the_second_try_closes_what_was_sent(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.model = "claude-opus-5-5";
    r.cfg.interactive = false;
    r.cfg.max_budget_usd = 0.5;
    scripted_reply(r.script);
    scripted_text(r.script, "cut off");
    scripted_usage(r.script, 140000, 10);
    scripted_end(r.script, STOP_MAX_TOKENS);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "max_budget", "error_max_budget_usd", 1);
    assert_int_equal(scripted_requests(r.script), 1);
    assert_true(rig_saw_transition(&r, "max_output_tokens_escalate"));
    size_t answers = 0;
    for (size_t i = 0; i < r.n; i++)
        answers += r.ev[i]->kind == EV_MESSAGE && r.ev[i]->u.message.assistant;
    assert_int_equal(answers, 1);
    rig_end(&r);
}

static void
test_blocking_limit_sends_nothing(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.model = "claude-haiku-4-5";
    r.cfg.cli_settings = "{\"autoCompactEnabled\":false}";
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_usage(r.script, 199000, 500);
    scripted_end(r.script, STOP_TOOL_USE);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "blocking_limit", "error_during_execution", 1);
    assert_int_equal(scripted_requests(r.script), 1);
    rig_end(&r);
}

static void
test_pause_turn_is_asked_on(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "searching");
    scripted_end(r.script, STOP_PAUSE_TURN);
    rig_says(&r, "found");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_ends(&r, "completed", "success", 0);
    assert_string_equal(e->u.result.text, "searchingfound");
    assert_int_equal(scripted_request(r.script, 1)->n_messages, 2);
    assert_false(rig_saw_transition(&r, "next_turn"));
    assert_int_equal(rig_count(&r, EV_MESSAGE), 2); /* both parts of the answer */
    rig_end(&r);
}

static void
test_an_empty_answer_is_nudged_once(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_calls(&r, "t1", "Read", "{\"name\":\"a\"}");
    scripted_reply(r.script);
    scripted_end(r.script, STOP_END_TURN);
    rig_says(&r, "all done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_string_equal(r.ev[r.n - 1]->u.result.text, "all done");
    assert_int_equal(scripted_requests(r.script), 3);
    rig_end(&r);
}

/* Asked on once, whatever was asked; then it is said, for a blank screen says nothing. */
static void
test_an_empty_answer_is_told(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    for (int i = 0; i < 2; i++) {
        scripted_reply(r.script);
        scripted_end(r.script, STOP_END_TURN);
    }
    rig_says(&r, "here I am");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect_exit(&r, "completed", "success", 0);
    assert_int_equal(scripted_requests(r.script), 2);
    assert_int_equal(rig_told(&r, "the answer was empty; say 'go on'"), 1);
    rig_post(&r, OP_SUBMIT, "go on");
    expect_exit(&r, "completed", "success", 0);
    assert_string_equal(r.ev[r.n - 1]->u.result.text, "here I am");
    assert_int_equal(rig_told(&r, "the answer was empty"), 1);
    rig_end(&r);
}

static void
test_an_empty_prompt_sends_nothing(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "  \n ");
    const struct event *e = rig_result(&r);
    assert_true(e->u.result.is_error);
    assert_non_null(strstr(e->u.result.errors, "empty"));
    assert_int_equal(scripted_requests(r.script), 0);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completed),
        cmocka_unit_test(test_next_turn_and_order_of_results),
        cmocka_unit_test(test_max_turns),
        cmocka_unit_test(test_model_error_is_not_retried_and_leaves_a_usable_session),
        cmocka_unit_test(test_retry_then_success),
        cmocka_unit_test(test_retries_end),
        cmocka_unit_test(test_a_cancel_ends_the_wait_for_a_retry),
        cmocka_unit_test(test_a_broken_stream_after_a_tool_ran_goes_on_from_the_result),
        cmocka_unit_test(test_overload_falls_back_to_another_model),
        cmocka_unit_test(test_prompt_too_long_says_what_is_large),
        cmocka_unit_test(test_max_output_escalates_then_recovers),
        cmocka_unit_test(test_stop_hooks),
        cmocka_unit_test(test_an_end_before_the_second_try_closes_what_was_sent),
        cmocka_unit_test(test_blocking_limit_sends_nothing),
        cmocka_unit_test(test_pause_turn_is_asked_on),
        cmocka_unit_test(test_an_empty_answer_is_nudged_once),
        cmocka_unit_test(test_an_empty_answer_is_told),
        cmocka_unit_test(test_an_empty_prompt_sends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
