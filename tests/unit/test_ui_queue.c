/* What is typed while a turn runs: shown, in order, taken back, and never started by an interrupt. */
#include "unit/app_keys_rig.h"

#define RESULT(exit) "{\"event\":\"result\",\"subtype\":\"x\",\"exit\":\"" exit "\"}"

static void
said(const char *text)
{
    char json[256];
    snprintf(json, sizeof json, "{\"event\":\"user\",\"text\":\"%s\"}", text);
    take(json);
    draw();
}

static void
a_turn_runs(void)
{
    enter("work");
    said("work");
    assert_true(app_running(&a));
    buf_clear(&engine.log);
}

static void
a_shell_line_waits_in_sight_and_in_order(void **state)
{
    (void)state;
    a_turn_runs();
    enter("!echo A > qa");
    assert_string_equal(told_all(), "");
    assert_shows(&a.canvas, "queued: !echo A > qa");
    enter("list src");
    assert_string_equal(told_all(), "");
    assert_shows(&a.canvas, "queued (first of 2): !echo A > qa");
    take(RESULT("completed"));
    assert_string_equal(told_all(), "command !echo A > qa\n");
    said("!echo A > qa");
    assert_shows(&a.canvas, "queued: list src"); /* nothing joins it */
    take(RESULT("completed"));
    assert_string_equal(told_all(), "command !echo A > qa\nsubmit list src\n");
    assert_int_equal(a.n_queued, 0);
}

static void
a_prompt_before_it_joins_the_turn(void **state)
{
    (void)state;
    a_turn_runs();
    enter("first");
    enter("/clear");
    enter("second");
    assert_string_equal(told_all(), "steer first\n");
    /* it came too late to join: the engine makes a prompt of it, and what is behind it waits for that */
    take(RESULT("completed"));
    assert_string_equal(told_all(), "steer first\n");
    said("first");
    assert_int_equal(a.n_queued, 2);
    take(RESULT("completed"));
    assert_string_equal(told_all(), "steer first\ncommand /clear\nsubmit second\n");
}

static void
what_runs_beside_a_turn_does_not_wait(void **state)
{
    (void)state;
    a_turn_runs();
    enter("!make");
    enter("/mode plan");
    enter("/nosuch");
    assert_string_equal(told_all(), "command /mode plan\ncommand /nosuch\n");
}

static void
up_takes_back_any_of_them(void **state)
{
    (void)state;
    a_turn_runs();
    enter("!make");
    enter("/clear");
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "/clear"));
    press("ctrl+u");
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "!make"));
    assert_int_equal(a.n_queued, 0);
    take(RESULT("completed"));
    assert_string_equal(told_all(), "");
}

static void
an_interrupt_gives_prompts_back(void **state)
{
    (void)state;
    a_turn_runs();
    enter("one");
    enter("two");
    press("esc");
    assert_int_equal(engine.cancelled, 1);
    take(RESULT("aborted_streaming"));
    draw();
    assert_true(str_is(buf_str(&a.input.text), "one\ntwo"));
    assert_int_equal(a.n_queued, 0);
}

static void
an_interrupt_runs_no_command(void **state)
{
    (void)state;
    a_turn_runs();
    enter("!echo A > qa");
    enter("list src");
    press("ctrl+c");
    take(RESULT("aborted_tools"));
    later(5000);
    assert_string_equal(told_all(), "");
    /* two of a kind cannot be one line: they stay, and are shown */
    assert_true(input_empty(&a.input));
    assert_shows(&a.canvas, "not sent (last of 2, Up takes it back): list src");
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "list src"));
    press("enter"); /* goes by itself: what was kept is kept */
    assert_string_equal(told_all(), "submit list src\n");
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "!echo A > qa"));
}

/* Nothing comes into the prompt by itself but at the interrupt's own turn's end. */
static void
what_was_kept_waits_for_up(void **state)
{
    (void)state;
    a_turn_runs();
    enter("!echo A > qa");
    enter("list src");
    press("esc");
    take(RESULT("aborted_streaming"));
    press("up");
    press("enter");
    said("list src");
    take(RESULT("completed"));
    draw();
    assert_true(input_empty(&a.input));
    assert_shows(&a.canvas, "not sent, Up takes it back: !echo A > qa");
}

/* Up is the history's while there is text: the note says when it is not. */
static void
the_note_says_when_up_takes_back(void **state)
{
    (void)state;
    a_turn_runs();
    enter("READ it again");
    input_set(&a.input, STR("second"));
    press("esc");
    take(RESULT("aborted_streaming"));
    draw();
    assert_shows(&a.canvas, "not sent, Up in the empty prompt takes it back: READ it again");
    press("ctrl+u");
    draw();
    assert_shows(&a.canvas, "not sent, Up takes it back: READ it again");
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "READ it again"));
}

static void
what_is_typed_after_the_interrupt_is_sent(void **state)
{
    (void)state;
    a_turn_runs();
    enter("never mind this");
    press("esc");
    enter("do that");
    take(RESULT("aborted_streaming"));
    draw();
    assert_string_equal(told_all(), "steer never mind this\nsubmit do that\n");
    assert_true(str_is(buf_str(&a.input.text), "never mind this"));
}

/* The turn was over just before: what the engine made the next prompt is not given back as well. */
static void
an_interrupt_that_came_too_late(void **state)
{
    (void)state;
    a_turn_runs();
    enter("next");
    press("esc");
    take(RESULT("completed"));
    assert_true(input_empty(&a.input));
    said("next");
    assert_int_equal(a.n_queued, 0);
}

/* ---- Esc while a request waits ---- */

static void
esc_leaves_the_pane_and_then_interrupts(void **state)
{
    (void)state;
    a_turn_runs();
    ask(NULL);
    press("esc");
    assert_int_equal(a.focus, PANE_PROMPT);
    later(5000);
    assert_int_equal(a.focus, PANE_PROMPT); /* the pane was left on purpose */
    press("esc");
    assert_int_equal(engine.cancelled, 1);
}

static void
a_new_request_takes_the_focus_again(void **state)
{
    (void)state;
    a_turn_runs();
    ask(NULL);
    press("esc");
    later(5000);
    apply(&a.view, "{\"event\":\"perm_ask\",\"id\":8,\"tool\":\"Bash\",\"command\":\"ls\"}");
    draw();
    later(2000);
    assert_int_equal(a.focus, PANE_APPROVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_shell_line_waits_in_sight_and_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_prompt_before_it_joins_the_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(what_runs_beside_a_turn_does_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(up_takes_back_any_of_them, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_gives_prompts_back, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_runs_no_command, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_kept_waits_for_up, setup, teardown),
        cmocka_unit_test_setup_teardown(the_note_says_when_up_takes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_typed_after_the_interrupt_is_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_that_came_too_late, setup, teardown),
        cmocka_unit_test_setup_teardown(esc_leaves_the_pane_and_then_interrupts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_request_takes_the_focus_again, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
