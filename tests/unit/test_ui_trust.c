/* Who may switch a folder's own settings on: a person who sees which, and nobody by a key that was meant for something else. */
#include "unit/app_keys_rig.h"

#define HELD                                                                                       \
    "{\"event\":\"answer\",\"seq\":4398046511104,\"json\":\"{\\\"held\\\":[{\\\"what\\\":"         \
    "\\\"allow "                                                                                   \
    "rules\\\",\\\"file\\\":\\\".yare/"                                                            \
    "settings.json\\\",\\\"items\\\":[\\\"Bash(make:*)\\\"]}]}\"}"
#define LONG                                                                                       \
    "{\"event\":\"answer\",\"seq\":4398046511104,\"json\":\"{\\\"held\\\":[{\\\"what\\\":"         \
    "\\\"allow rules\\\",\\\"file\\\":\\\"x\\\",\\\"items\\\":[\\\"one\\\",\\\"two\\\","           \
    "\\\"three\\\",\\\"four\\\",\\\"five\\\",\\\"six\\\",\\\"seven\\\",\\\"eight\\\","             \
    "\\\"nine\\\"]}]}\"}"
#define NOTHING "{\"event\":\"answer\",\"seq\":4398046511104,\"json\":\"{\\\"held\\\":[]}\"}"

static void
untrusted(const char *answer)
{
    take("{\"event\":\"session\",\"id\":\"s1\",\"trusted\":false}");
    draw();
    if (answer)
        take(answer);
    draw();
}

/* What gives rights away is never one letter and a pause: that is how a slow sentence begins. */
static void
a_y_waits_for_enter_where_settings_are_listed(void **state)
{
    (void)state;
    untrusted(HELD);
    assert_shows(&a.canvas, "Bash(make:*)");
    later(TRUST_GUARD_MS);
    press("y");
    later(60000);
    assert_string_equal(told_all(), "");
    assert_shows(&a.canvas, "Enter trusts it");
    press("down"); /* what is listed can still be gone through */
    press("enter");
    assert_string_equal(told_all(), "trust \n");
}

static void
a_slow_sentence_trusts_nothing(void **state)
{
    (void)state;
    untrusted(HELD);
    later(TRUST_GUARD_MS);
    press("y");
    later(5000);
    press("o");
    press("u");
    assert_string_equal(told_all(), "");
    assert_true(str_is(buf_str(&a.input.text), "you"));
    assert_false(a.view.trusted);
}

static void
esc_takes_the_y_back(void **state)
{
    (void)state;
    untrusted(HELD);
    later(TRUST_GUARD_MS);
    press("y");
    press("esc");
    assert_shows(&a.canvas, "y trust it");
    later(5000);
    press("enter");
    assert_null(strstr(told_all(), "trust"));
}

/* The keyboard was ahead of the screen. */
static void
a_y_behind_which_the_box_came_up_is_text(void **state)
{
    (void)state;
    untrusted(NOTHING);
    later(TRUST_GUARD_MS - 1);
    press("y");
    later(5000);
    assert_string_equal(told_all(), "");
    assert_true(str_is(buf_str(&a.input.text), "y"));
}

static void
a_lone_y_is_enough_where_nothing_is_switched_on(void **state)
{
    (void)state;
    untrusted(NOTHING);
    later(TRUST_GUARD_MS);
    press("y");
    later(TRUST_HOLD_MS);
    assert_string_equal(told_all(), "trust \n");
}

/* A list longer than the box is gone through before it is switched on. */
static void
a_yes_waits_for_the_rest_of_the_list(void **state)
{
    (void)state;
    canvas_resize(&a.canvas, 40, 12);
    untrusted(LONG);
    assert_hides(&a.canvas, "nine");
    later(TRUST_GUARD_MS);
    press("y");
    assert_shows(&a.canvas, "PgDn first");
    press("enter");
    assert_string_equal(told_all(), "");
    press("pagedown");
    press("pagedown");
    assert_shows(&a.canvas, "nine");
    press("enter");
    assert_string_equal(told_all(), "trust \n");
}

/* The box opens at the top again, and can be answered again. */
static void
a_list_left_at_its_end_begins_anew(void **state)
{
    (void)state;
    canvas_resize(&a.canvas, 40, 12);
    untrusted(LONG);
    press("pagedown");
    press("pagedown");
    press("esc");
    enter("/trust");
    take(LONG);
    draw();
    assert_shows(&a.canvas, "one");
    later(TRUST_GUARD_MS);
    press("y");
    press("pagedown");
    press("pagedown");
    press("enter");
    assert_non_null(strstr(told_all(), "trust \n"));
}

/* What was seen in a narrow box is not what stands in those rows of a wider one. */
static void
another_width_is_another_list(void **state)
{
    (void)state;
    canvas_resize(&a.canvas, 40, 12);
    untrusted(LONG);
    press("pagedown");
    press("pagedown");
    assert_true(trust_box_all_seen(&a.trust));
    canvas_resize(&a.canvas, 64, 8);
    draw();
    assert_false(trust_box_all_seen(&a.trust));
    assert_shows(&a.canvas, "It brings settings"); /* from the top */
}

/* Enter belongs to what is on the screen now. */
static void
a_box_that_went_away_takes_its_y_along(void **state)
{
    (void)state;
    untrusted(HELD);
    later(TRUST_GUARD_MS);
    press("y");
    apply(&a.view,
          "{\"event\":\"perm_ask\",\"id\":7,\"tool\":\"Bash\",\"command\":\"touch made\"}");
    draw();
    press("enter");
    assert_null(strstr(told_all(), "trust"));
    assert_false(a.view.trusted);
}

static void
a_y_before_the_list_came_is_text(void **state)
{
    (void)state;
    untrusted(NULL);
    press("y");
    later(TRUST_HOLD_MS);
    assert_string_equal(told_all(), "");
    assert_true(str_is(buf_str(&a.input.text), "y"));
}

static void
the_hint_is_no_key_target(void **state)
{
    (void)state;
    untrusted(HELD);
    enter("run touch made");
    take("{\"event\":\"user\",\"text\":\"run touch made\"}");
    draw();
    assert_shows(&a.canvas, "/trust to look at them");
    assert_hides(&a.canvas, "y trust");
    buf_clear(&engine.log);
    apply(&a.view,
          "{\"event\":\"perm_ask\",\"id\":7,\"tool\":\"Bash\",\"command\":\"touch made\"}");
    draw();
    later(450);
    press("y");
    later(TRUST_HOLD_MS);
    assert_string_equal(told_all(), "");
    assert_false(a.view.trusted);
}

/* The box would be in the way of what must be answered now. */
static void
a_request_goes_before_the_question(void **state)
{
    (void)state;
    untrusted(HELD);
    apply(&a.view,
          "{\"event\":\"perm_ask\",\"id\":7,\"tool\":\"Bash\",\"command\":\"touch made\"}");
    draw();
    press("y");
    later(TRUST_HOLD_MS);
    assert_null(strstr(told_all(), "trust"));
}

static void
the_command_opens_the_box_at_any_time(void **state)
{
    (void)state;
    untrusted(HELD);
    enter("hello");
    take("{\"event\":\"user\",\"text\":\"hello\"}");
    take("{\"event\":\"result\",\"subtype\":\"success\",\"exit\":\"completed\"}");
    enter("/trust");
    assert_null(strstr(told_all(), "trust"));
    assert_shows(&a.canvas, "Bash(make:*)");
    press("esc");
    assert_hides(&a.canvas, "Bash(make:*)");
    later(5000);
    assert_hides(&a.canvas, "/trust"); /* it was answered */
    enter("/trust");
    later(TRUST_GUARD_MS);
    press("y");
    press("enter");
    assert_non_null(strstr(told_all(), "trust \n"));
}

static void
notices_go_before_the_hint(void **state)
{
    (void)state;
    untrusted(HELD);
    enter("hello");
    take("{\"event\":\"user\",\"text\":\"hello\"}");
    app_note(&a, "mouse off");
    draw();
    assert_shows(&a.canvas, "mouse off");
    later(NOTE_MS);
    assert_shows(&a.canvas, "/trust to look at them");
    enter("!make");
    assert_shows(&a.canvas, "queued: !make");
}

static void
nothing_to_trust_no_hint(void **state)
{
    (void)state;
    untrusted(NOTHING);
    enter("hello");
    take("{\"event\":\"user\",\"text\":\"hello\"}");
    draw();
    assert_hides(&a.canvas, "This folder's own settings are off");
    later(NOTE_MS);
    assert_hides(&a.canvas, "/trust");
}

/* A request that waits fills a small window; who asks for the box gets it all the same. */
static void
the_box_finds_room_beside_a_request(void **state)
{
    (void)state;
    canvas_resize(&a.canvas, 40, 12);
    untrusted(HELD);
    enter("hello");
    take("{\"event\":\"user\",\"text\":\"hello\"}");
    apply(&a.view,
          "{\"event\":\"perm_ask\",\"id\":7,\"tool\":\"Bash\",\"command\":\"touch made\"}");
    draw();
    assert_shows(&a.canvas, "touch made");
    press("alt+1");
    enter("/trust");
    assert_shows(&a.canvas, "trust this folder?");
    assert_shows(&a.canvas, "Bash(make:*)");
    assert_hides(&a.canvas, "too small");
    press("esc");
    assert_shows(&a.canvas, "touch made");
    enter("/trust");
    later(TRUST_GUARD_MS);
    press("y");
    press("enter");
    assert_non_null(strstr(told_all(), "trust \n"));
}

/* The box does not go away without a word, and the status line goes on saying it. */
static void
a_box_that_typing_closes_says_so(void **state)
{
    (void)state;
    untrusted(NOTHING);
    assert_hides(&a.canvas, "for now");
    press("x");
    assert_shows(&a.canvas, "not trusted for now: /trust asks again");
    later(NOTE_MS);
    assert_hides(&a.canvas, "/trust");
    assert_shows(&a.canvas, "default ─ not trusted ─ ");
    take("{\"event\":\"session\",\"id\":\"s1\",\"trusted\":true}");
    draw();
    assert_hides(&a.canvas, "not trusted");
}

static void
warnings_do_not_keep_the_box_away(void **state)
{
    (void)state;
    take("{\"event\":\"notice\",\"text\":\"settings.json: a warning\"}");
    untrusted(HELD);
    assert_shows(&a.canvas, "Bash(make:*)");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_y_waits_for_enter_where_settings_are_listed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_slow_sentence_trusts_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(esc_takes_the_y_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_left_at_its_end_begins_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(another_width_is_another_list, setup, teardown),
        cmocka_unit_test_setup_teardown(a_y_behind_which_the_box_came_up_is_text, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lone_y_is_enough_where_nothing_is_switched_on, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_yes_waits_for_the_rest_of_the_list, setup, teardown),
        cmocka_unit_test_setup_teardown(a_box_that_went_away_takes_its_y_along, setup, teardown),
        cmocka_unit_test_setup_teardown(a_y_before_the_list_came_is_text, setup, teardown),
        cmocka_unit_test_setup_teardown(the_hint_is_no_key_target, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_goes_before_the_question, setup, teardown),
        cmocka_unit_test_setup_teardown(the_command_opens_the_box_at_any_time, setup, teardown),
        cmocka_unit_test_setup_teardown(notices_go_before_the_hint, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_trust_no_hint, setup, teardown),
        cmocka_unit_test_setup_teardown(the_box_finds_room_beside_a_request, setup, teardown),
        cmocka_unit_test_setup_teardown(a_box_that_typing_closes_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(warnings_do_not_keep_the_box_away, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
