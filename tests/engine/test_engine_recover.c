/* Recovery by scripted streams: what came is kept, silence ends, other models answer, what a server does not take is left out. */
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

static const struct event *
submit(struct rig *r, const char *text, const char *exit)
{
    rig_post(r, OP_SUBMIT, text);
    const struct event *e = rig_result(r);
    assert_string_equal(e->u.result.exit, exit);
    return e;
}

/* ---- again ---- */

static void
test_a_refused_port_is_given_up_after_three_tries(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.max_retries = 10;
    struct err e = rig_error(ERR_NET, 0, true, "refused", "'http://127.0.0.1:9': no connection");
    for (int i = 0; i < 4; i++)
        scripted_fail_start(r.script, &e);
    rig_start(&r);
    const struct event *end = submit(&r, "go", "model_error");
    assert_int_equal(rig_count(&r, EV_RETRY), 3);
    assert_int_equal(scripted_requests(r.script), 4);
    assert_non_null(strstr(end->u.result.errors, "nothing listens there"));
    assert_non_null(strstr(end->u.result.errors, "What to do: start the server"));
    rig_end(&r);
}

/* Nobody waits minutes for a model that is busy while another one is named. */
static void
test_an_overloaded_model_is_left_after_three_tries(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.max_retries = 10;
    r.cfg.fallback_model = "second";
    struct err e = rig_error(ERR_HTTP, 529, true, "overloaded_error", "busy");
    for (int i = 0; i < 4; i++)
        scripted_fail_start(r.script, &e);
    rig_says(&r, "here");
    rig_start(&r);
    submit(&r, "go", "completed");
    assert_int_equal(rig_count(&r, EV_RETRY), 3);
    assert_int_equal(scripted_requests(r.script), 5);
    assert_true(rig_told(&r, "going on with second"));
    rig_end(&r);
}

static void
test_print_mode_is_told_no_commands(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.max_retries = 0;
    r.cfg.print_mode = true;
    struct err e = rig_error(ERR_NET, 0, true, "refused", "'http://127.0.0.1:9': no connection");
    scripted_fail_start(r.script, &e);
    rig_start(&r);
    const struct event *end = submit(&r, "go", "model_error");
    assert_non_null(strstr(end->u.result.errors, "--base-url"));
    assert_null(strstr(end->u.result.errors, "/connect"));
    rig_end(&r);
}

static void
test_a_spend_cap_is_not_tried_again(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err e = rig_error(ERR_HTTP, 429, false, "rate_limit_error", "spend limit reached");
    scripted_fail_start(r.script, &e);
    rig_start(&r);
    const struct event *end = submit(&r, "go", "model_error");
    assert_int_equal(scripted_requests(r.script), 1);
    assert_non_null(strstr(end->u.result.errors, "raise the limit"));
    rig_end(&r);
}

/* ---- silence ---- */

static void
test_a_silent_server_is_asked_once_more(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams.stall_ms = 30;
    scripted_reply(r.script);
    scripted_open_text(r.script, "the first half, ");
    scripted_gate(r.script, 0); /* never opened */
    rig_says(&r, "the second half");
    rig_start(&r);
    const struct event *end = submit(&r, "go", "completed");
    assert_string_equal(end->u.result.text, "the first half, the second half");
    assert_int_equal(rig_count(&r, EV_RETRY), 1);
    assert_int_equal(scripted_requests(r.script), 2);
    rig_end(&r);
}

static void
test_a_server_that_stays_silent_is_given_up(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams.stall_ms = 20;
    for (int i = 0; i < 2; i++) {
        scripted_reply(r.script);
        scripted_open_text(r.script, "words ");
        scripted_gate(r.script, i);
    }
    rig_start(&r);
    const struct event *end = submit(&r, "go", "model_error");
    assert_int_equal(scripted_requests(r.script), 2);
    assert_non_null(strstr(end->u.result.errors, "the server fell silent"));
    rig_end(&r);
}

/* ---- other models ---- */

static void
test_models_are_tried_in_their_order_and_the_first_comes_back(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.fallback_model = "second, third";
    r.cfg.max_retries = 1;
    r.seams.fallback_ms = -1;
    struct err busy = rig_error(ERR_HTTP, 529, true, "overloaded_error", "overloaded");
    struct err gone = rig_error(ERR_HTTP, 404, false, "not_found_error", "model: second");
    scripted_fail_start(r.script, &busy);
    scripted_fail_start(r.script, &busy);
    scripted_fail_start(r.script, &gone);
    rig_says(&r, "from the third");
    rig_says(&r, "from the first");
    rig_start(&r);
    submit(&r, "go", "completed");
    assert_string_equal(scripted_request(r.script, 2)->model, "second");
    assert_string_equal(scripted_request(r.script, 3)->model, "third");
    assert_true(rig_told(&r, "going on with second"));
    assert_true(rig_told(&r, "going on with third"));
    submit(&r, "and now", "completed");
    assert_string_equal(scripted_request(r.script, 4)->model, "scripted");
    assert_true(rig_told(&r, "back to scripted"));
    rig_end(&r);
}

static void
test_when_no_model_is_left_the_turn_ends(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.fallback_model = "second";
    r.cfg.max_retries = 0;
    struct err busy = rig_error(ERR_HTTP, 529, true, "overloaded_error", "overloaded");
    scripted_fail_start(r.script, &busy);
    scripted_fail_start(r.script, &busy);
    rig_says(&r, "from the first");
    rig_start(&r);
    submit(&r, "go", "model_error");
    assert_int_equal(scripted_requests(r.script), 2);
    assert_true(rig_told(&r, "no other model answers; the next prompt goes to scripted"));
    submit(&r, "again", "completed"); /* not to one that does not answer either, for minutes */
    assert_string_equal(scripted_request(r.script, 2)->model, "scripted");
    rig_end(&r);
}

/* Its signature is bound to the model that wrote it. State and the journal keep it: back at the first model it is sent again. */
static void
test_thinking_of_another_model_is_left_out_of_what_is_sent(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.rewrites = true;
    r.cfg.fallback_model = "second";
    r.cfg.max_retries = 0;
    r.seams.fallback_ms = -1;
    struct err busy = rig_error(ERR_HTTP, 529, true, "overloaded_error", "overloaded");
    scripted_reply(r.script);
    scripted_thinking(r.script, "let me see", "sig-1");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    scripted_fail_start(r.script, &busy);
    rig_says(&r, "done by the second");
    rig_says(&r, "done by the first");
    rig_start(&r);
    submit(&r, "go", "completed");
    submit(&r, "more", "completed");
    assert_non_null(strstr(scripted_request(r.script, 1)->messages[1], "sig-1"));
    const struct scripted_request *q = scripted_request(r.script, 2);
    assert_string_equal(q->model, "second");
    assert_null(strstr(q->messages[1], "sig-1"));
    assert_non_null(strstr(q->messages[1], "\"t1\""));
    q = scripted_request(r.script, 3);
    assert_string_equal(q->model, "scripted");
    assert_non_null(strstr(q->messages[1], "sig-1"));
    rig_end(&r);
}

/* ---- what a server does not take ---- */

static void
test_a_block_that_is_refused_is_mended_once(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.rewrites = true;
    struct err bad = rig_error(ERR_HTTP, 400, false, "invalid_request_error",
                               "messages.1.content.0: Invalid `signature` in `thinking` block");
    scripted_reply(r.script);
    scripted_thinking(r.script, "let me see", "sig-1");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    scripted_fail_start(r.script, &bad);
    rig_says(&r, "done");
    scripted_fail_start(r.script, &bad); /* no thinking is left to leave out */
    rig_start(&r);
    submit(&r, "go", "completed");
    assert_true(rig_told(&r, "its thinking was left out"));
    assert_null(strstr(scripted_request(r.script, 2)->messages[1], "sig-1"));
    submit(&r, "again", "model_error"); /* the call that stands there now is not touched */
    assert_int_equal(scripted_requests(r.script), 4);
    /* nor does a session that is opened again send what was refused */
    char id[37];
    snprintf(id, sizeof id, "%s", engine_session_id(r.e));
    rig_stop(&r);
    r.cfg.resume_id = id;
    rig_says(&r, "without it");
    rig_start(&r);
    submit(&r, "once more", "completed");
    assert_null(strstr(scripted_request(r.script, 4)->messages[1], "sig-1"));
    assert_non_null(strstr(scripted_request(r.script, 4)->messages[1], "t1"));
    rig_end(&r);
}

static void
test_a_refused_place_that_is_not_there_ends_the_turn(void **state)
{
    (void)state;
    /* The last is what the person typed, which is never left out. */
    static const char *const places[] = {"messages.99.content.0: no", "messages.0.content.77: no",
                                         "messages.0: no", "messages.0.content.0: no"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct rig r;
        rig_init(&r);
        struct err bad = rig_error(ERR_HTTP, 400, false, "invalid_request_error", places[i]);
        scripted_fail_start(r.script, &bad);
        rig_start(&r);
        submit(&r, "go", "model_error");
        assert_int_equal(scripted_requests(r.script), 1);
        rig_end(&r);
    }
}

static void
test_an_option_that_is_not_known_is_left_out_once(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct err bad = rig_error(ERR_HTTP, 400, false, "invalid_request_error",
                               "context_management: Extra inputs are not permitted");
    scripted_fail_start(r.script, &bad);
    rig_says(&r, "without it");
    scripted_fail_start(r.script, &bad);
    rig_start(&r);
    submit(&r, "go", "completed");
    assert_true(rig_told(&r, "the server does not know an option"));
    submit(&r, "again", "model_error"); /* it is left out already: trying again would not end */
    assert_int_equal(scripted_requests(r.script), 3);
    rig_end(&r);
}

/* ---- cut off ---- */

/* A call that was complete when the answer was cut off has run: it is kept, and the turn goes on from its result. */
static void
test_a_whole_call_in_a_cut_answer_is_kept(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "first this");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_tool(r.script, "t2", "Bash", "{\"command\":\"rm -r"); /* cut in the middle */
    scripted_end(r.script, STOP_MAX_TOKENS);
    rig_says(&r, "done");
    rig_start(&r);
    submit(&r, "go", "completed");
    assert_int_equal(toys_runs(), 1); /* nothing runs from half an input */
    assert_true(rig_saw_transition(&r, "next_turn"));
    assert_false(rig_saw_transition(&r, "max_output_tokens_escalate"));
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_int_equal(q->n_messages, 3);
    assert_non_null(strstr(q->messages[1], "first this"));
    rig_end(&r);
}

/* ---- nothing empty ---- */

static enum stop_hook_answer
blank_hook(void *user, const char *last_text, bool active, char **ret_reason)
{
    (void)user;
    (void)last_text;
    *ret_reason = xstrdup("  \n");
    return active ? STOP_HOOK_PASS : STOP_HOOK_GO_ON;
}

/* Blank text of the model's, of a tool, of a hook and of a person: a server would refuse each (rig_end looks at all requests). */
static void
test_nothing_empty_is_ever_sent(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams.stop_hook = blank_hook;
    scripted_reply(r.script);
    scripted_text(r.script, " \n ");
    scripted_tool(r.script, "t1", "Bash", "{\"command\":\"nothing\"}");
    scripted_text(r.script, "");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "  ");
    for (int i = 0; i < 4; i++)
        rig_says(&r, "done");
    rig_start(&r);
    submit(&r, "go", "completed");
    rig_post(&r, OP_SUBMIT, " \t ");
    assert_true(rig_result(&r)->u.result.is_error);
    submit(&r, "more", "completed");
    assert_true(scripted_requests(r.script) >= 4);
    rig_end(&r);
}

/* ---- interrupted at every step ---- */

static const char *
kind_of_step(const struct event *e)
{
    static char text[64];
    snprintf(text, sizeof text, "%s/%d", event_kind_name(e->kind), (int)e->phase);
    return text;
}

/* A turn with text and calls, interrupted at its n-th event: what was said stays, each call has a result, the session goes on. */
static bool
interrupt_at(size_t n)
{
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "I will look.");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_tool(r.script, "t2", "Bash", "{\"command\":\"make\"}");
    scripted_text(r.script, "Then I go on.");
    scripted_end(r.script, STOP_TOOL_USE);
    for (int i = 0; i < 3; i++)
        rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    size_t seen = 0;
    const struct event *e = NULL;
    do {
        e = engine_next_event(r.e, 30000);
        assert_non_null(e);
        ARRAY_GROW(r.ev, r.n, r.cap);
        r.ev[r.n++] = (struct event *)(uintptr_t)e;
    } while (e->kind != EV_RESULT && seen++ < n);
    bool over = e->kind == EV_RESULT;
    r.seen = r.n;
    if (!over) {
        const char *at = kind_of_step(e);
        engine_cancel(r.e, CANCEL_USER);
        const char *exit = rig_result(&r)->u.result.exit;
        if (strncmp(exit, "aborted", 7) != 0 && strcmp(exit, "completed") != 0)
            fail_msg("cancelled at %s: %s", at, exit);
    }
    rig_post(&r, OP_SUBMIT, "go on");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_true(toys_runs() <= 2);
    rig_end(&r); /* each request was legal, each start has its end */
    return over;
}

static void
test_an_interrupt_at_any_event_leaves_a_session_that_goes_on(void **state)
{
    (void)state;
    size_t n = 0;
    while (!interrupt_at(n))
        n++;
    assert_true(n > 15);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_refused_port_is_given_up_after_three_tries),
        cmocka_unit_test(test_an_overloaded_model_is_left_after_three_tries),
        cmocka_unit_test(test_print_mode_is_told_no_commands),
        cmocka_unit_test(test_a_spend_cap_is_not_tried_again),
        cmocka_unit_test(test_a_silent_server_is_asked_once_more),
        cmocka_unit_test(test_a_server_that_stays_silent_is_given_up),
        cmocka_unit_test(test_models_are_tried_in_their_order_and_the_first_comes_back),
        cmocka_unit_test(test_when_no_model_is_left_the_turn_ends),
        cmocka_unit_test(test_thinking_of_another_model_is_left_out_of_what_is_sent),
        cmocka_unit_test(test_a_block_that_is_refused_is_mended_once),
        cmocka_unit_test(test_a_refused_place_that_is_not_there_ends_the_turn),
        cmocka_unit_test(test_an_option_that_is_not_known_is_left_out_once),
        cmocka_unit_test(test_a_whole_call_in_a_cut_answer_is_kept),
        cmocka_unit_test(test_nothing_empty_is_ever_sent),
        cmocka_unit_test(test_an_interrupt_at_any_event_leaves_a_session_that_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
