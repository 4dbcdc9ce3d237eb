/* What a session may cost, and a model that goes round in a circle: the turn stops before the money is spent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "engine/spend_day.h"
#include "fakes/rig.h"
#include "fakes/toys.h"

static void
begin(struct rig *r)
{
    rig_init(r);
    r->cfg.model = "claude-opus-5-5";
}

/* A call whose request costs about 62 cents. */
static void
dear_call(struct rig *r, const char *id)
{
    scripted_reply(r->script);
    scripted_tool(r->script, id, "Read", "{\"name\":\"a\"}");
    scripted_usage(r->script, 150000, 1000);
    scripted_end(r->script, STOP_TOOL_USE);
}

/* ---- the budget ---- */

static void
test_print_mode_ends_before_the_request_that_would_cross(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.interactive = false;
    r.cfg.max_budget_usd = 1;
    dear_call(&r, "t1");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_ends(&r, "max_budget", "error_max_budget_usd", 1);
    assert_int_equal(scripted_requests(r.script), 1);
    assert_non_null(strstr(e->u.result.errors, "the budget of $1.00 for this session"));
    assert_true(e->u.result.cost_usd > 0 && e->u.result.cost_usd < 1);
    rig_end(&r);
}

static void
test_a_budget_that_holds_nothing_sends_nothing(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.interactive = false;
    r.cfg.max_budget_usd = 0.0001;
    rig_says(&r, "never asked");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_ends(&r, "max_budget", "error_max_budget_usd", 1);
    assert_non_null(strstr(e->u.result.errors, "the budget of $0.0001 for"));
    assert_int_equal(scripted_requests(r.script), 0);
    rig_end(&r);
}

/* Before any answer came little is known: the first request of a small prompt is not held to cost what a long answer would. */
static void
test_a_small_budget_holds_a_first_request(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.interactive = false;
    r.cfg.max_budget_usd = 0.05;
    rig_says(&r, "hello");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "hello");
    rig_ends(&r, "completed", "success", 0);
    rig_end(&r);
}

/* Setting, not flag; a person is there: the turn waits for their word, and goes on where it stood. */
static void
test_the_person_raises_it_and_the_turn_goes_on(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.cli_settings = "{\"budget\":{\"session\":1}}";
    dear_call(&r, "t1");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_string_equal(ask->u.ask.tool, "Budget");
    assert_non_null(strstr(ask->u.ask.what, "raise the session's budget to $2"));
    assert_non_null(strstr(ask->u.ask.decision.findings[0].reason, "$1.00 for this session"));
    assert_int_equal(scripted_requests(r.script), 1);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    assert_true(rig_kind(&r, EV_PERM_DECIDED)->u.decided.allowed);
    rig_ends(&r, "completed", "success", 0);
    assert_int_equal(scripted_requests(r.script), 2);
    rig_end(&r);
}

/* Who raises it in the settings while the question stands has answered it. */
static void
test_settings_answer_the_question_too(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    begin(&r);
    char *file = fs_join(r.config, "settings.json");
    assert_true(fs_mkdirs(r.config, 0700, &err));
    assert_true(fs_write_atomic(file, STR("{\"budget\":{\"session\":1}}"), 0600, &err));
    dear_call(&r, "t1");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    (void)rig_kind(&r, EV_PERM_ASK);
    assert_true(fs_write_atomic(file, STR("{\"budget\":{\"session\":50}}"), 0600, &err));
    json_free(rig_ask(&r, QUERY_STATE, NULL)); /* anything wakes it */
    assert_true(rig_kind(&r, EV_PERM_DECIDED)->u.decided.allowed);
    rig_ends(&r, "completed", "success", 0);
    assert_int_equal(scripted_requests(r.script), 2);
    free(file);
    rig_end(&r);
}

/* Both limits are crossed: each is asked for, one after the other, and no yes is the last word that is heard. */
static void
test_two_limits_are_two_questions(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.cli_settings = "{\"budget\":{\"session\":1,\"day\":1}}";
    dear_call(&r, "t1");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_non_null(strstr(ask->u.ask.what, "raise the session's budget to $2"));
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    assert_true(rig_kind(&r, EV_PERM_DECIDED)->u.decided.allowed);
    ask = rig_kind(&r, EV_PERM_ASK);
    assert_non_null(strstr(ask->u.ask.what, "raise the day's budget to $2"));
    assert_non_null(strstr(ask->u.ask.decision.findings[0].reason, "$1.00 for this day"));
    assert_int_equal(scripted_requests(r.script), 1);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_ends(&r, "completed", "success", 0);
    assert_int_equal(scripted_requests(r.script), 2);
    rig_end(&r);
}

/* Below a cent, too, the person reads what they say yes to. */
static void
test_a_small_raise_is_shown(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.model = "claude-haiku-5-5";
    r.cfg.max_budget_usd = 0.000001;
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    const char *amount = strchr(ask->u.ask.what, '$');
    assert_non_null(amount);
    assert_true(strtod(amount + 1, NULL) > 0 && strtod(amount + 1, NULL) < 0.01);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_ends(&r, "completed", "success", 0);
    rig_post(&r, OP_COMMAND, "/budget 0.0001");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "of $0.0001"));
    rig_end(&r);
}

static void
test_the_person_stops_and_the_session_stays_usable(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.cli_settings = "{\"budget\":{\"session\":1}}";
    dear_call(&r, "t1");
    rig_says(&r, "on we go");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_answer_next(&r, PERM_ANSWER_NO);
    assert_false(rig_kind(&r, EV_PERM_DECIDED)->u.decided.allowed);
    rig_ends(&r, "max_budget", "error_max_budget_usd", 1);
    rig_post(&r, OP_COMMAND, "/budget 50");
    rig_post(&r, OP_SUBMIT, "go on");
    rig_ends(&r, "completed", "success", 0);
    assert_true(rig_told(&r, "of $50.00"));
    size_t told = rig_told(&r, " of $");
    rig_post(&r, OP_COMMAND, "/budget off");
    rig_settle(&r);
    assert_int_equal(rig_told(&r, " of $"), told); /* none is none, not a large one */
    struct cJSON *m = rig_ask(&r, QUERY_METERS, NULL);
    assert_true(json_num(m, "budget_usd", -1) == 0);
    json_free(m);
    rig_end(&r);
}

/* Esc while it asks; and /budget beside the open dialog, which then needs no answer. */
static void
test_an_interrupt_and_a_command_end_the_dialog_too(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.max_budget_usd = 1;
    dear_call(&r, "t1");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_PERM_ASK);
    engine_cancel(r.e, CANCEL_USER);
    assert_string_equal(rig_kind(&r, EV_PERM_DECIDED)->u.decided.who, "abort");
    rig_ends(&r, "aborted_streaming", "error_during_execution", 130);
    rig_post(&r, OP_SUBMIT, "again");
    rig_kind(&r, EV_PERM_ASK);
    rig_post(&r, OP_COMMAND, "/budget 9");
    assert_true(rig_kind(&r, EV_PERM_DECIDED)->u.decided.allowed);
    rig_ends(&r, "completed", "success", 0);
    rig_end(&r);
}

/* Day sums are kept across sessions (and processes: the file and its lock). */
static void
test_a_day_is_counted_over_all_sessions(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    double usd = 0;
    begin(&r);
    r.cfg.interactive = false;
    r.cfg.cli_settings = "{\"budget\":{\"day\":10}}";
    rig_says(&r, "hello");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_ends(&r, "completed", "success", 0);
    assert_true(spend_day_read(r.data, &usd, &err));
    assert_true(usd > 0 && usd < 1);
    assert_true(spend_day_add(r.data, 9.99, &err)); /* another yare's */
    rig_post(&r, OP_SUBMIT, "more");
    const struct event *e = rig_ends(&r, "max_budget", "error_max_budget_usd", 1);
    assert_non_null(strstr(e->u.result.errors, "for this day"));
    assert_int_equal(scripted_requests(r.script), 1);
    rig_end(&r);
}

static void
test_an_unknown_price_is_told_once_and_passes(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.max_budget_usd = 0.0001;
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    for (int i = 0; i < 2; i++) {
        rig_post(&r, OP_SUBMIT, "go");
        rig_ends(&r, "completed", "success", 0);
    }
    size_t told = 0;
    for (size_t i = 0; i < r.n; i++)
        told += r.ev[i]->kind == EV_NOTICE && strstr(r.ev[i]->u.notice.text, "price of scripted");
    assert_int_equal(told, 1);
    rig_end(&r);
}

/* ---- circles ---- */

static void
call(struct rig *r, int i, const char *name, const char *input)
{
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    rig_calls(r, id, name, input);
}

static void
test_the_same_call_three_times_pauses_and_the_model_is_told(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    for (int i = 0; i < 3; i++)
        call(&r, i, "Read", "{\"name\":\"a\"}");
    rig_says(&r, "another way then");
    rig_says(&r, "and more");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_ends(&r, "repeating", "error_during_execution", 1);
    assert_non_null(strstr(e->u.result.errors, "goes round in a circle"));
    assert_true(rig_told(&r, "the same call again and again"));
    assert_int_equal(scripted_requests(r.script), 3);
    rig_post(&r, OP_SUBMIT, "try otherwise");
    rig_ends(&r, "completed", "success", 0);
    const struct scripted_request *q = scripted_request(r.script, 3);
    assert_non_null(strstr(q->messages[q->n_messages - 1], "you went round in a circle"));
    rig_post(&r, OP_SUBMIT, "more");
    rig_ends(&r, "completed", "success", 0);
    q = scripted_request(r.script, 4);
    assert_null(strstr(q->messages[q->n_messages - 1], "circle")); /* once */
    rig_end(&r);
}

static void
test_failing_by_turns_ends_within_six_calls(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.interactive = false;
    r.cfg.print_mode = true;
    for (int i = 0; i < 8; i++)
        call(&r, i, "Bash", i % 2 ? "{\"command\":\"fail\"}" : "{\"command\":\"fail\",\"n\":2}");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_ends(&r, "repeating", "error_during_execution", 1);
    assert_true(scripted_requests(r.script) <= 6);
    rig_end(&r);
}

/* How many of twelve such calls are made before the turn pauses; 0: it does not. A '#' is another letter in each. */
static size_t
calls_before_the_pause(const char *tool, const char *input)
{
    struct rig r;
    rig_init(&r);
    for (int i = 0; i < 12; i++) {
        char *own = xstrdup(input);
        for (char *at = own; (at = strchr(at, '#')) != NULL;)
            *at = (char)('a' + i);
        call(&r, i, tool, own);
        free(own);
    }
    rig_says(&r, "done");
    rig_start(&r);
    const struct event *e = rig_submit(&r, "go");
    size_t n = strcmp(e->u.result.exit, "repeating") == 0 ? scripted_requests(r.script) : 0;
    assert_true(n || strcmp(e->u.result.exit, "completed") == 0);
    rig_end(&r);
    return n;
}

/* The same command each time, but for its blanks and what is remarked on it. */
static void
test_blanks_and_remarks_make_no_other_command(void **state)
{
    (void)state;
    static const struct {
        const char *tool, *input;
        size_t calls;
    } cases[] = {
        {"Bash", "{\"command\":\"quiet \\u0023 try #\"}", 3},
        {"Bash", "{\"name\":\"a\",\"command\":\"\\u0023 #\\nquiet  -a\"}", 3},
        {"Bash", "{\"command\":\"quiet '\\u0023 #'\"}", 0},
        {"Bash", "{\"command\":\"quiet\",\"name\":\"#\"}", 0},
        {"Bash", "{\"name\":\"#\",\"command\":\"quiet\"}", 0},
        {"Bash", "{\"command\":\"\\u0023 wait\\nsleep 5; quiet \\u0023 #\"}", 11},
        {"Read", "{\"command\":\"quiet \\u0023 try #\"}", 0}, /* no shell */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(calls_before_the_pause(cases[i].tool, cases[i].input), cases[i].calls);
}

/* A command that waits before it looks has ten tries, for what it looks at may change meanwhile; the same without the wait has three. */
static void
test_a_command_that_waits_first_has_ten(void **state)
{
    (void)state;
    assert_int_equal(calls_before_the_pause("Bash", "{\"command\":\"make status\"}"), 3);
    assert_int_equal(calls_before_the_pause("Bash", "{\"command\":\"sleep 5; make status\"}"), 11);
    assert_int_equal(calls_before_the_pause("Bash", "{\"command\":\"  sleep 5 && ls\"}"), 11);
    assert_int_equal(calls_before_the_pause("Bash", "{\"command\":\"sleepy --status\"}"), 3);
    assert_int_equal(calls_before_the_pause("Bash", "{\"command\":\"make status; sleep 5\"}"), 3);
    assert_int_equal(calls_before_the_pause("Read", "{\"command\":\"sleep 5\"}"), 3); /* no shell */
}

/* What a model says of a command is no part of it. */
static void
test_a_command_in_other_words_is_the_same_command(void **state)
{
    (void)state;
    assert_int_equal(
        calls_before_the_pause("Bash", "{\"command\":\"ls\",\"description\":\"try #\"}"), 3);
    assert_int_equal(
        calls_before_the_pause("Bash", "{\"description\":\"try #\",\"command\":\"ls\"}"), 3);
    assert_int_equal(
        calls_before_the_pause("Bash", "{\"command\":\"ls #\",\"description\":\"try\"}"), 0);
    assert_int_equal(calls_before_the_pause("Read", "{\"description\":\"#\"}"), 0); /* no shell */
}

static void
test_the_setting_switches_it_off(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.cli_settings = "{\"pauseOnRepeat\":false}";
    for (int i = 0; i < 12; i++)
        call(&r, i, "Read", "{\"name\":\"a\"}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_ends(&r, "completed", "success", 0);
    assert_int_equal(scripted_requests(r.script), 13);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print_mode_ends_before_the_request_that_would_cross),
        cmocka_unit_test(test_a_budget_that_holds_nothing_sends_nothing),
        cmocka_unit_test(test_a_small_budget_holds_a_first_request),
        cmocka_unit_test(test_the_person_raises_it_and_the_turn_goes_on),
        cmocka_unit_test(test_settings_answer_the_question_too),
        cmocka_unit_test(test_two_limits_are_two_questions),
        cmocka_unit_test(test_a_small_raise_is_shown),
        cmocka_unit_test(test_the_person_stops_and_the_session_stays_usable),
        cmocka_unit_test(test_an_interrupt_and_a_command_end_the_dialog_too),
        cmocka_unit_test(test_a_day_is_counted_over_all_sessions),
        cmocka_unit_test(test_an_unknown_price_is_told_once_and_passes),
        cmocka_unit_test(test_the_same_call_three_times_pauses_and_the_model_is_told),
        cmocka_unit_test(test_failing_by_turns_ends_within_six_calls),
        cmocka_unit_test(test_a_command_that_waits_first_has_ten),
        cmocka_unit_test(test_a_command_in_other_words_is_the_same_command),
        cmocka_unit_test(test_blanks_and_remarks_make_no_other_command),
        cmocka_unit_test(test_the_setting_switches_it_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
