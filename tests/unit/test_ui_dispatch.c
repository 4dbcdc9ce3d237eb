/* To whom a key goes: the whole screen on a canvas, with an engine that keeps what it is told. */
#include "unit/app_keys_rig.h"

#include "base/json.h"
#include "ui/transcript_private.h"

static void
an_edited_command_that_is_asked_again_keeps_the_focus(void **state)
{
    (void)state;
    edit();
    later(100);
    assert_int_equal(a.focus, PANE_APPROVAL);
    press("y"); /* too early for anything, and no word of a prompt */
    apply(&a.view, "{\"event\":\"perm_ask\",\"id\":8,\"tool_use_id\":\"t7\",\"tool\":\"Bash\","
                   "\"command\":\"makex\","
                   "\"input\":\"{\\\"command\\\":\\\"makex\\\"}\"}");
    draw();
    assert_int_equal(a.focus, PANE_APPROVAL);
    assert_true(input_empty(&a.input));
    assert_int_equal(engine.told->perm.ask_id, 7);
    press("y"); /* within the guard */
    assert_int_equal(engine.told->perm.ask_id, 7);
    later(400);
    press("y");
    later(KEY_HOLD_MS);
    assert_int_equal(engine.told->perm.ask_id, 8);
    assert_int_equal(engine.told->perm.answer, PERM_ANSWER_ONCE);
}

static void
an_edited_command_that_runs_gives_the_focus_back(void **state)
{
    (void)state;
    edit();
    take("{\"event\":\"perm_decided\",\"ask_id\":0,\"tool_use_id\":\"t7\",\"tool\":\"Bash\","
         "\"who\":\"chain\",\"allowed\":true}");
    draw();
    assert_int_equal(a.focus, PANE_PROMPT);
}

static void
an_edited_command_that_never_comes_back_gives_the_focus_back(void **state)
{
    (void)state;
    edit();
    later(999);
    assert_int_equal(a.focus, PANE_APPROVAL);
    later(1);
    assert_int_equal(a.focus, PANE_PROMPT);
}

/* Recalled, a command does not open its list: Up goes on to what is older. */
static void
history_goes_past_commands_and_files(void **state)
{
    (void)state;
    static const char *const said[] = {"oldest", "read @src/x.c", "/help"};
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        (void)history_add(&a.history, str_from(said[i]), &err);
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "/help"));
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "read @src/x.c"));
    press("up");
    assert_true(str_is(buf_str(&a.input.text), "oldest"));
    press("down");
    press("down");
    assert_true(str_is(buf_str(&a.input.text), "/help"));
}

/* What the tour wrote into the prompt is not the person's: Ctrl+D leaves, as its first words say. */
static void
the_tours_own_words_do_not_hold_one_back(void **state)
{
    (void)state;
    options.tour = true;
    take("{\"event\":\"session\",\"id\":\"s1\",\"trusted\":true}");
    app_tour_speak(&a);
    press("enter");
    assert_true(str_is(buf_str(&a.input.text), "find colour in notes"));
    press("x");
    press("ctrl+d");
    assert_false(a.quit);
    press("backspace");
    press("ctrl+d");
    options.tour = false;
    assert_true(a.quit);
}

static void
up_takes_back_what_is_queued(void **state)
{
    (void)state;
    char answer[128];
    app_queue_add(&a, "first", QUEUE_STEERED);
    app_queue_add(&a, "second", QUEUE_STEERED);
    press("up");
    assert_int_equal(told(), OP_UNSTEER);
    assert_string_equal(engine.told->text, "second");
    for (int late = 0; late < 2; late++) {
        snprintf(answer, sizeof answer,
                 "{\"event\":\"answer\",\"seq\":%llu,\"json\":\"{\\\"taken_back\\\":%s}\"}",
                 (unsigned long long)engine.told->seq, late ? "false" : "true");
        take(answer);
        draw();
        assert_int_equal(a.n_queued, 1);
        if (late)
            break;
        assert_shows(&a.canvas, "second");
        press("ctrl+u");
        assert_true(input_empty(&a.input));
        press("up");
        assert_string_equal(engine.told->text, "first");
    }
    assert_true(input_empty(&a.input));
    assert_shows(&a.canvas, "too late");
}

static void
esc_takes_the_marks_of_a_search_off(void **state)
{
    (void)state;
    say(&a.view, "a needle here");
    draw();
    press("ctrl+f");
    for (const char *c = "needle"; *c; c++)
        press((char[]){*c, 0});
    press("enter");
    assert_int_equal(a.focus, PANE_TRANSCRIPT);
    assert_true(a.transcript->search.some);
    press("esc");
    assert_int_equal(a.focus, PANE_PROMPT);
    assert_false(a.transcript->search.some);
    assert_int_equal(a.transcript->search.needle.len, 0);
}

/* ---- what holds anywhere ---- */

static void
modes_change_whatever_is_open(void **state)
{
    (void)state;
    static const char *const over[] = {"f1",     "alt+m", "alt+p", "ctrl+r",
                                       "ctrl+f", "alt+2", "alt+4"};
    for (size_t i = 0; i < ARRAY_LEN(over); i++) {
        enum perm_mode before = a.view.mode;
        press(over[i]);
        bool box = app_box_open(&a);
        enum line_mode line = a.line;
        press("shift+tab");
        if (a.view.mode == before)
            fail_msg("Shift+Tab after %s", over[i]);
        assert_int_equal(told(), OP_SET_MODE);
        a.view.mode = PERM_DEFAULT;
        press("alt+a");
        press("alt+a");
        press("ctrl+x a");
        assert_int_equal(a.view.mode, PERM_AUTO);
        press("ctrl+x a");
        assert_int_equal(app_box_open(&a), box);
        assert_int_equal(a.line, line);
        press("esc");
        press("alt+1");
    }
}

static void
afk_without_a_model_says_who_waits(void **state)
{
    (void)state;
    press("alt+a");
    assert_shows(&a.canvas, "the classifier decides for you");
    press("alt+a");
    a.view.offline = true;
    press("alt+a");
    assert_shows(&a.canvas, "requests wait for you");
}

static void
a_page_says_what_changed_behind_it(void **state)
{
    (void)state;
    press("alt+3"); /* nothing waits: that is said, and over with the page */
    assert_shows(&a.canvas, "nothing waits");
    press("f1");
    assert_hides(&a.canvas, "nothing waits");
    press("alt+a");
    assert_shows(&a.canvas, "AFK on");
    assert_hides(&a.canvas, "Esc closes");
    later(NOTE_MS + 1000);
    assert_hides(&a.canvas, "AFK on");
    assert_shows(&a.canvas, "Esc closes");
}

static void
fast_mode_has_a_key(void **state)
{
    (void)state;
    press("h");
    press("i");
    press("alt+o");
    assert_int_equal(told(), OP_COMMAND);
    assert_string_equal(engine.told->text, "/fast");
    assert_string_equal(buf_cstr(&a.input.text), "hi");
    a.engine = NULL;
    press("alt+o");
    draw();
    assert_shows(&a.canvas, "the speed stays as it is");
    assert_string_equal(buf_cstr(&a.input.text), "hi");
}

static void
afk_is_not_claimed_before_there_is_an_engine(void **state)
{
    (void)state;
    a.engine = NULL;
    press("alt+a");
    assert_hides(&a.canvas, "AFK on");
    a.engine = &engine;
    press("alt+a");
    assert_shows(&a.canvas, "AFK on");
    assert_int_equal(a.view.mode, PERM_AUTO);
}

/* ---- the person's own keys ---- */

static void
a_chord_holds_where_it_was_bound(void **state)
{
    (void)state;
    load("{\"bindings\":[{\"context\":\"Chat\",\"bindings\":{\"ctrl+x "
         "ctrl+t\":\"app:todos\",\"ctrl+x u\":"
         "\"prompt:killStart\"}},{\"context\":\"Transcript\",\"bindings\":{\"ctrl+x "
         "/\":\"transcript:find\"}},"
         "{\"context\":\"Confirmation\",\"bindings\":{\"ctrl+x y\":\"permission:once\"}}]}");
    press("ctrl+x ctrl+t");
    assert_true(a.view.show_todos);
    input_set(&a.input, STR("words"));
    press("ctrl+x u");
    assert_true(input_empty(&a.input));
    press("alt+2");
    press("ctrl+x /");
    assert_int_equal(a.line, LINE_SEARCH);
    press("esc");
    ask(NULL);
    press("ctrl+x y");
    assert_int_equal(told(), OP_PERM_ANSWER);
}

static void
a_pane_may_have_keys_for_what_holds_anywhere(void **state)
{
    (void)state;
    load("{\"bindings\":[{\"context\":\"Transcript\",\"bindings\":{\"q\":\"app:pane1\",\"t\":\"app:"
         "todos\"}},"
         "{\"context\":\"Activity\",\"bindings\":{\"t\":\"app:todos\"}}]}");
    press("alt+2");
    press("t");
    assert_true(a.view.show_todos);
    press("q");
    assert_int_equal(a.focus, PANE_PROMPT);
    assert_true(input_empty(&a.input));
    press("alt+4");
    press("t");
    assert_false(a.view.show_todos);
    assert_true(input_empty(&a.input));
}

static void
the_permission_keys_can_be_changed(void **state)
{
    (void)state;
    load("{\"bindings\":[{\"context\":\"Confirmation\",\"bindings\":{\"o\":\"permission:once\","
         "\"y\":null,"
         "\"r\":\"permission:no\"}}]}");
    ask(NULL);
    assert_shows(&a.canvas, "o once");
    assert_shows(&a.canvas, "r no");
    press("y"); /* means nothing here: the beginning of a word */
    assert_null(engine.told);
    assert_string_equal(buf_cstr(&a.input.text), "y");
    press("backspace");
    press("alt+3");
    press("r");
    assert_true(a.approval.typing_reason);
    press("esc");
    press("o");
    later(KEY_HOLD_MS);
    assert_int_equal(told(), OP_PERM_ANSWER);
    assert_int_equal(engine.told->perm.answer, PERM_ANSWER_ONCE);
}

/* Where the pane took the focus by itself, who begins a sentence has not answered, edited or scrolled anything. */
static void
a_sentence_is_no_answer(void **state)
{
    static const char *const typed[] = {"yes",      "add one", "hello there", "edit it",
                                        "no wait",  "jump up", "xylophone",   "can you stop",
                                        "why that", "oops",    "yy",          "a b",
                                        "/cost",    "kk now",  "{x}"};
    (void)state;
    ask_unasked(NULL);
    for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
        assert_int_equal(a.focus, PANE_APPROVAL);
        for (const char *p = typed[i]; *p; p++)
            app_key(&a, *p, STR(""), clock_mono_ms());
        draw();
        assert_string_equal(buf_cstr(&a.input.text), typed[i]);
        assert_int_equal(a.focus, PANE_PROMPT);
        assert_false(approval_typing(&a.approval));
        assert_false(a.approval.confirm_always);
        assert_false(approval_full(&a.approval));
        assert_null(engine.told);
        press("esc"); /* what completes */
        input_clear(&a.input);
        later(2000);
        later(2000);
    }
}

/* A changed command is asked about anew; who goes on with a sentence has not gone to that request. */
static void
a_sentence_behind_an_edit_is_no_answer(void **state)
{
    (void)state;
    ask(NULL);
    press("e");
    press("x");
    press("enter");
    assert_int_equal(told(), OP_PERM_ANSWER);
    assert_non_null(engine.told->perm.edited_input);
    op_free(engine.told);
    engine.told = NULL;
    take("{\"event\":\"perm_decided\",\"id\":7,\"who\":\"edited\",\"verdict\":\"ask\"}");
    take("{\"event\":\"perm_ask\",\"id\":8,\"tool_use_id\":\"t7\",\"tool\":\"Bash\",\"command\":"
         "\"makex\",\"input\":\"{\\\"command\\\":\\\"makex\\\"}\"}");
    draw();
    later(2000);
    assert_shows(&a.canvas, "makex");
    for (const char *p = "try with y"; *p; p++)
        app_key(&a, *p, STR(""), clock_mono_ms());
    draw();
    assert_null(engine.told);
    assert_string_equal(buf_cstr(&a.input.text), "try with y");
}

/* Who looked at a request has the pane; what is typed then begins with a letter that is none of its keys, and goes on with some that are. */
static void
a_sentence_behind_a_look_is_no_answer(void **state)
{
    static const char *const looks[][2] = {{"w", "w"}, {"a", "esc"}, {"n", "esc"}, {"e", "esc"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        ask(NULL);
        press(looks[i][0]);
        press(looks[i][1]);
        for (const char *p = "try that"; *p; p++) {
            later(100);
            app_key(&a, *p, STR(""), clock_mono_ms());
            draw();
        }
        assert_null(engine.told);
        assert_string_equal(buf_cstr(&a.input.text), "try that");
        input_clear(&a.input);
    }
}

static void
a_sentence_is_whole_at_any_size(void **state)
{
    static const int sizes[][2] = {{40, 12}, {60, 16}, {100, 30}, {120, 36}};
    (void)state;
    ask_unasked(NULL);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        canvas_resize(&a.canvas, sizes[i][0], sizes[i][1]);
        later(2000);
        later(2000);
        assert_int_equal(a.focus, PANE_APPROVAL);
        press("n");
        later(50);
        press("o");
        later(KEY_HOLD_MS);
        assert_string_equal(buf_cstr(&a.input.text), "no");
        assert_null(engine.told);
        input_clear(&a.input);
    }
}

/* Also within the time in which no key can be meant for the request. */
static void
what_the_guard_meets_is_not_lost(void **state)
{
    (void)state;
    ask_unasked(NULL);
    a.approval.shown_since_ms = clock_mono_ms();
    press("h");
    press("i");
    assert_string_equal(buf_cstr(&a.input.text), "hi");
    input_clear(&a.input);
    later(2000);
    a.approval.shown_since_ms = clock_mono_ms();
    press("y");
    later(KEY_HOLD_MS);
    assert_string_equal(buf_cstr(&a.input.text), "y");
    assert_null(engine.told);
}

static void
a_paste_lands_in_the_prompt(void **state)
{
    (void)state;
    ask_unasked(NULL);
    app_key(&a, YK_PASTE, STR("some text"), clock_mono_ms());
    assert_string_equal(buf_cstr(&a.input.text), "some text");
    assert_int_equal(a.focus, PANE_PROMPT);
}

static void
a_letter_taken_back_is_nothing(void **state)
{
    (void)state;
    ask_unasked(NULL);
    press("e");
    press("backspace");
    later(KEY_HOLD_MS);
    assert_false(approval_typing(&a.approval));
    assert_true(input_empty(&a.input));
}

static void
a_lone_letter_is_a_key_of_the_pane(void **state)
{
    (void)state;
    ask_unasked(NULL);
    press("e");
    later(KEY_HOLD_MS - 50);
    assert_false(approval_typing(&a.approval));
    later(50);
    assert_true(approval_typing(&a.approval));
    press("esc");
    press("y"); /* the person is there: nothing waits */
    assert_int_equal(told(), OP_PERM_ANSWER);
    assert_int_equal(engine.told->perm.answer, PERM_ANSWER_ONCE);
}

static void
a_letter_that_means_nothing_there_is_text(void **state)
{
    (void)state;
    ask_unasked(NULL);
    press("h");
    later(KEY_HOLD_MS);
    press("o");
    assert_string_equal(buf_cstr(&a.input.text), "ho");
}

static void
a_pane_that_was_chosen_acts_at_once(void **state)
{
    (void)state;
    ask_unasked(NULL);
    press("alt+3");
    press("n");
    assert_true(a.approval.typing_reason);
    press("esc");
    press("y");
    assert_int_equal(told(), OP_PERM_ANSWER);
}

static void
escape_twice_says_what_it_will_do_one_day(void **state)
{
    (void)state;
    press("esc");
    press("esc");
    assert_null(engine.told);
    assert_shows(&a.canvas, "rewind is not available yet");
}

/* ---- the mouse over a diff ---- */

static void
the_wheel_scrolls_what_is_seen(void **state)
{
    (void)state;
    struct buf b, text;
    buf_init(&b, BUF_MAX);
    buf_init(&text, BUF_MAX);
    for (int i = 0; i < 200; i++)
        buf_addf(&text, "+line %d\n", i);
    json_quote(&b, buf_str(&text));
    for (int i = 0; i < 100; i++)
        say(&a.view, "a line of the transcript\n\n");
    ask(buf_cstr(&b));
    press("enter");
    assert_true(approval_full(&a.approval));
    int before = a.approval.scroll;
    app_key(&a, YK_WHEEL_DOWN, STR(""), clock_mono_ms());
    draw();
    assert_true(a.approval.scroll > before);
    /* a press goes through to nothing */
    app_key(&a, YK_MOUSE_DOWN, STR(""), clock_mono_ms());
    app_key(&a, YK_MOUSE_UP, STR(""), clock_mono_ms());
    assert_int_equal(a.focus, PANE_APPROVAL);
    assert_true(approval_full(&a.approval));
    buf_release(&b);
    buf_release(&text);
}

/* ---- pastes into fields ---- */

static void
a_field_holds_text_alone(void **state)
{
    (void)state;
    ask(NULL);
    press("n");
    app_key(&a, YK_PASTE, str_make("no\0t \xff th\r\nis", 14), clock_mono_ms());
    draw();
    press("enter");
    assert_int_equal(told(), OP_PERM_ANSWER);
    assert_string_equal(engine.told->perm.reason, "not \xef\xbf\xbd th\nis");
}

static void
a_paste_too_large_for_a_field_is_refused_in_sight(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 20000; i++)
        buf_adds(&b, "漢 line\n");
    ask(NULL);
    press("n");
    app_key(&a, YK_PASTE, buf_str(&b), clock_mono_ms());
    draw();
    assert_int_equal(a.approval.field.text.len, 0);
    assert_shows(&a.canvas, "too long for here");
    press("x");
    assert_hides(&a.canvas, "too long for here");
    assert_shows(&a.canvas, "x");
    buf_release(&b);
}

/* Keys and events of one poll: nothing of what was typed is an answer to what was not on the screen yet. */
static void
a_key_of_the_same_poll_answers_no_new_request(void **state)
{
    (void)state;
    static const char other[] = "{\"event\":\"perm_ask\",\"id\":8,\"tool_use_id\":\"t8\",\"tool\":"
                                "\"Bash\",\"command\":\"rm -rf x\","
                                "\"input\":\"{\\\"command\\\":\\\"rm -rf x\\\"}\",\"rules\":[]}";
    ask(NULL);
    take("{\"event\":\"perm_decided\",\"ask_id\":7,\"tool_use_id\":\"t7\",\"tool\":\"Bash\","
         "\"who\":\"person\",\"allowed\":false}");
    take(other);
    for (int i = 0; i < 4; i++) {
        app_key(&a, 'y', STR(""), clock_mono_ms());
        app_tick(&a, clock_mono_ms()); /* the request has the pane, nothing is drawn */
    }
    later(299);
    app_key(&a, 'y', STR(""), clock_mono_ms());
    assert_null(engine.told);
    assert_int_equal(a.view.n_asks, 1);
    assert_false(a.approval.typing_reason);
    later(5000);
    app_key(&a, 'y', STR(""), clock_mono_ms());
    later(5000); /* where the pane took the focus by itself the key waits for what follows */
    assert_int_equal(told(), OP_PERM_ANSWER);
    assert_int_equal(engine.told->perm.ask_id, 8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(modes_change_whatever_is_open, setup, teardown),
        cmocka_unit_test_setup_teardown(afk_without_a_model_says_who_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(a_page_says_what_changed_behind_it, setup, teardown),
        cmocka_unit_test_setup_teardown(fast_mode_has_a_key, setup, teardown),
        cmocka_unit_test_setup_teardown(afk_is_not_claimed_before_there_is_an_engine, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_chord_holds_where_it_was_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pane_may_have_keys_for_what_holds_anywhere, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_permission_keys_can_be_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sentence_is_no_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sentence_behind_an_edit_is_no_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sentence_behind_a_look_is_no_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(escape_twice_says_what_it_will_do_one_day, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sentence_is_whole_at_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_guard_meets_is_not_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(a_paste_lands_in_the_prompt, setup, teardown),
        cmocka_unit_test_setup_teardown(a_letter_taken_back_is_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_letter_that_means_nothing_there_is_text, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pane_that_was_chosen_acts_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lone_letter_is_a_key_of_the_pane, setup, teardown),
        cmocka_unit_test_setup_teardown(history_goes_past_commands_and_files, setup, teardown),
        cmocka_unit_test_setup_teardown(the_tours_own_words_do_not_hold_one_back, setup, teardown),
        cmocka_unit_test_setup_teardown(up_takes_back_what_is_queued, setup, teardown),
        cmocka_unit_test_setup_teardown(esc_takes_the_marks_of_a_search_off, setup, teardown),
        cmocka_unit_test_setup_teardown(an_edited_command_that_is_asked_again_keeps_the_focus,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_edited_command_that_runs_gives_the_focus_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            an_edited_command_that_never_comes_back_gives_the_focus_back, setup, teardown),
        cmocka_unit_test_setup_teardown(the_wheel_scrolls_what_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_field_holds_text_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_paste_too_large_for_a_field_is_refused_in_sight, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_key_of_the_same_poll_answers_no_new_request, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
