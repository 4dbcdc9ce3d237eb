#include "unit/approval_rig.h"

#define ONE(why) "[{\"layer\":\"L2\",\"decision\":\"ask\",\"reason\":\"" why "\"}]"
#define RM                                                                                         \
    "[{\"layer\":\"L1\",\"decision\":\"ask\",\"reason\":\"destructive\",\"part\":\"rm -rf "        \
    "build\"},"                                                                                    \
    "{\"layer\":\"rules\",\"decision\":\"allow\",\"rule\":\"Bash(make:*)\",\"file\":\"/p/.yare/"   \
    "settings.json\",\"line\":7,"                                                                  \
    "\"reason\":\"allowed\",\"part\":\"make\"}]"

static void
ask_search(const char *tool, const char *input)
{
    struct buf line;
    buf_init(&line, BUF_MAX);
    buf_addf(
        &line,
        "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"%s\",\"input\":", tool);
    json_quote(&line, str_from(input));
    buf_adds(&line, ",\"rules\":[],\"decision\":{\"decision\":\"ask\",\"liftable_by\":\"person\","
                    "\"findings\":[]}}");
    apply(&v, buf_cstr(&line));
    buf_release(&line);
}

static void
a_search_is_shown_in_words(void **state)
{
    (void)state;
    ask_search("Grep", "{\"pattern\":\"a.*b\\\"\",\"path\":\"/"
                       "etc\",\"glob\":\"*.c\",\"-i\":true,\"head_limit\":5}");
    draw();
    assert_shows(&c, "> pattern    a.*b\"\n> path       /etc\n> glob       *.c\n> -i         "
                     "true\n> head_limit 5");
}

/* A value must not draw a line that looks like another key. */
static void
a_search_with_odd_words_stays_json(void **state)
{
    (void)state;
    ask_search("Grep", "{\"pattern\":\"a\\npath src\",\"path\":\"/etc\"}");
    draw();
    assert_shows(&c, "> {\"pattern\":\"a\\npath src\"");
}

static void
the_answer_goes_to_what_is_shown(void **state)
{
    (void)state;
    ask(7, "rm -rf build && make", RM, "[\"Bash(rm -rf build)\"]");
    draw();
    assert_shows(&c, "$ rm -rf build && make");
    assert_shows(&c, "  ask  rm -rf build\n       L1 tool: destructive\n  ok   make");
    /* another one comes, the oldest even: the pane does not change */
    ask(3, "ls", "[]", "[]");
    draw();
    assert_int_equal(a.shown, 7);
    struct op *op = press('y');
    assert_non_null(op);
    assert_true(used);
    assert_int_equal(op->kind, OP_PERM_ANSWER);
    assert_int_equal(op->perm.ask_id, 7);
    assert_int_equal(op->perm.answer, PERM_ANSWER_ONCE);
    assert_null(op->perm.edited_input);
    op_free(op);
    assert_int_equal(a.shown,
                     3); /* answered ones are not shown again though the engine has not said so */
    struct buf b;
    buf_init(&b, 100);
    approval_title(&a, &v, &b);
    assert_string_equal(buf_cstr(&b), "permission 1 of 1");
    buf_release(&b);
}

static void
early_keys_do_nothing(void **state)
{
    (void)state;
    ask(1, "rm -rf build && make", RM, "[\"Bash(rm -rf build)\"]");
    draw();
    now += 299;
    assert_null(approval_key(&a, &v, 'y', STR(""), now, &used));
    assert_true(used);
    assert_null(approval_key(&a, &v, YK_ENTER, STR(""), now, &used));
    assert_true(used);
    assert_null(approval_key(&a, &v, 'c' | KM_CTRL, STR(""), now, &used));
    assert_false(used); /* interrupting is always possible */
    assert_null(approval_key(&a, &v, YK_ESC, STR(""), now, &used));
    assert_false(used);
    now += 1;
    struct op *op = approval_key(&a, &v, 'y', STR(""), now, &used);
    assert_non_null(op);
    op_free(op);
    /* the next request starts anew */
    ask(2, "ls", "[]", "[]");
    draw();
    now += 100;
    assert_null(approval_key(&a, &v, 'y', STR(""), now, &used));
    assert_true(used);
}

/* The focus comes to a request that was on the screen for long, just when a word is begun. */
static void
the_focus_starts_the_wait_too(void **state)
{
    (void)state;
    ask(1, "ls", "[]", "[]");
    approval_sync(&a, &v, now);
    approval_draw(&a, &v, &c, (struct rect){0, 0, 44, 14}, false, false, now);
    now += 60000;
    assert_null(approval_key(&a, &v, 'y', STR(""), now, &used)); /* not yet drawn with the focus */
    assert_true(used);
    draw();
    now += 200;
    assert_null(approval_key(&a, &v, 'y', STR(""), now, &used));
    assert_true(used);
    now += 100;
    op_free(approval_key(&a, &v, 'y', STR(""), now, &used));
    assert_int_equal(a.shown, 0);
}

static void
without_a_request_keys_pass(void **state)
{
    (void)state;
    draw();
    assert_null(approval_key(&a, &v, 'y', STR(""), now, &used));
    assert_false(used);
    ask(1, "ls", "[]", "[]");
    draw();
    apply(&v, "{\"event\":\"perm_decided\",\"ask_id\":1}");
    now += 1000;
    assert_null(approval_key(&a, &v, 'y', STR(""), now,
                             &used)); /* decided elsewhere before the pane was drawn */
    draw();
    assert_shows(&c, "nothing waits");
}

static void
esc_never_answers(void **state)
{
    (void)state;
    ask(1, "rm -rf build && make", RM, "[\"Bash(rm -rf build)\"]");
    press_none(YK_ESC);
    assert_false(used);
    for (const char *k = "wan"; *k; k++) {
        press_none(*k);
        press_none(YK_ESC);
        assert_true(used);
        press_none(YK_ESC);
        assert_false(used);
    }
    press_none('e');
    press_none(YK_ESC);
    assert_true(used);
    assert_int_equal(v.n_asks, 1);
    press_none(YK_ENTER); /* neither does Enter */
    press_none('x');      /* nor what begins a sentence, which is the app's */
    assert_false(used);
    press_none('p' | KM_ALT);
    assert_false(used);
}

static void
always_is_shown_first(void **state)
{
    (void)state;
    ask(1, "rm -rf build && make", RM, "[\"Bash(rm -rf build)\",\"Bash(second)\"]");
    draw();
    assert_shows(&c, "a always");
    press_none('a');
    assert_shows(&c, "Bash(rm -rf build)");
    assert_shows(&c, "Bash(second)");
    assert_shows(&c, "/p/.yare/settings.local.json");
    press_none('y');
    assert_shows(&c, "Enter saves");
    struct op *op = press(YK_ENTER);
    assert_int_equal(op->perm.answer, PERM_ANSWER_ALWAYS);
    op_free(op);
}

static void
always_needs_rules(void **state)
{
    (void)state;
    ask(1, "python x.py", "[]", "[]");
    free(v.asks[0].ev->u.ask.rules_why);
    v.asks[0].ev->u.ask.rules_why = xstrdup("an interpreter runs anything");
    draw();
    assert_hides(&c, "a always");
    press_none('a');
    assert_false(a.confirm_always);
    assert_shows(&c, "interpreter runs");
}

static void
no_takes_a_reason(void **state)
{
    (void)state;
    ask(1, "ls", "[]", "[]");
    press_none('n');
    for (const char *k = "yes, but"; *k; k++)
        press_none(*k);
    assert_shows(&c, "yes, but");
    assert_true(c.cursor_y >= 0);
    press_none(YK_BACKSPACE);
    struct op *op = press(YK_ENTER);
    assert_int_equal(op->perm.answer, PERM_ANSWER_NO);
    assert_string_equal(op->perm.reason, "yes, bu");
    op_free(op);
    ask(2, "ls", "[]", "[]");
    press_none('n');
    op = press(YK_ENTER);
    assert_int_equal(op->perm.answer, PERM_ANSWER_NO);
    assert_int_equal(op->perm.ask_id, 2);
    assert_null(op->perm.reason);
    op_free(op);
}

static void
a_command_can_be_edited(void **state)
{
    (void)state;
    ask(1, "make test", "[]", "[]");
    press_none('e');
    assert_shows(&c, "make test");
    assert_int_equal(c.cursor_x, 2 + 9);
    press_none(YK_HOME);
    draw();
    now += 1000;
    assert_null(approval_key(&a, &v, YK_PASTE, STR("nice "), now, &used));
    struct op *op = press(YK_ENTER);
    assert_int_equal(op->perm.answer, PERM_ANSWER_ONCE);
    assert_string_equal(op->perm.edited_input,
                        "{\"command\":\"nice make test\",\"description\":\"d\\\"q\"}");
    op_free(op);
    ask(2, "ls", "[]", "[]");
    press_none('e');
    op = press(YK_ENTER); /* nothing changed */
    assert_null(op->perm.edited_input);
    op_free(op);
    ask(3, "x", "[]", "[]");
    press_none('e');
    press_none(YK_BACKSPACE);
    press_none(YK_ENTER);
    assert_shows(&c, "empty command");
}

static void
other_requests_are_looked_at(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++)
        ask(i, "ls", "[]", "[]");
    press_none('j');
    assert_int_equal(a.shown, 2);
    press_none('j');
    press_none('j');
    assert_int_equal(a.shown, 1);
    press_none('k');
    assert_int_equal(a.shown, 3);
    struct op *op = press('y');
    assert_int_equal(op->perm.ask_id, 3);
    op_free(op);
    assert_int_equal(a.shown, 1);
    apply(&v, "{\"event\":\"perm_decided\",\"ask_id\":1}");
    draw();
    assert_int_equal(a.shown, 2);
    press_none('j');
    assert_shows(&c, "no other request");
}

static void
asked_again_under_the_same_id(void **state)
{
    (void)state;
    ask(1, "ls", "[]", "[]");
    op_free(press('y'));
    draw();
    assert_shows(&c, "answered");
    ask(1, "ls -l", "[]", "[]");
    draw();
    assert_shows(&c, "$ ls -l");
}

/* A long command: head, tail and what asks stay on the screen, whatever the size; "always" goes. */
static void
long_commands_are_folded_honestly(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "START ");
    for (int i = 0; i < 300; i++)
        buf_addf(&b, "; echo %d", i);
    buf_adds(&b, " && rm -rf build && FINISH");
    ask(1, buf_cstr(&b), RM, "[\"Bash(rm -rf build)\"]");
    static const int sizes[][2] = {{36, 8}, {40, 10}, {60, 20}, {30, 7}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        canvas_resize(&c, sizes[i][0], sizes[i][1]);
        draw();
        assert_shows(&c, "$ START");
        assert_shows(&c, "FINISH");
        assert_shows(&c, "rm -rf build");
        assert_hides(&c, "a always");
        assert_true(a.folded);
    }
    canvas_resize(&c, 60, 20);
    press_none('a');
    assert_false(a.confirm_always);
    assert_shows(&c, "before all of it was seen");
    press_none('w');
    assert_shows(&c, "more, PgDn");
    for (int i = 0; i < 200; i++)
        press_none(YK_PGDN);
    assert_shows(&c, "verdict ask; only a person's yes lets it run");
    /* the same in a pane that holds all of it */
    press_none(YK_ESC);
    canvas_resize(&c, 200, 60);
    draw();
    assert_shows(&c, "a always");
    buf_release(&b);
}

static void
many_parts_are_counted(void **state)
{
    (void)state;
    struct buf f, cmd;
    buf_init(&f, BUF_MAX);
    buf_init(&cmd, BUF_MAX);
    for (int i = 0; i < 40; i++) {
        buf_addf(&f,
                 "%s{\"layer\":\"L1\",\"decision\":\"ask\",\"reason\":\"r\",\"part\":\"rm %d\"}",
                 i ? "," : "[", i);
        buf_addf(&cmd, "%srm %d", i ? "; " : "", i);
    }
    buf_addc(&f, ']');
    ask(1, buf_cstr(&cmd), buf_cstr(&f), "[\"x\"]");
    draw();
    assert_shows(&c, "more ask, w shows all");
    assert_hides(&c, "a always");
    press_none('w');
    for (int i = 0; i < 100; i++)
        press_none(YK_PGDN);
    assert_shows(&c, "rm 39");
    buf_release(&f);
    buf_release(&cmd);
}

static void
the_whole_chain_names_rule_and_place(void **state)
{
    (void)state;
    ask(1, "rm -rf build && make", RM, "[]");
    v.asks[0].ev->u.ask.decision.findings[0].confidence = 0.5;
    canvas_resize(&c, 60, 30);
    press_none('w');
    assert_shows(&c, "ask  L1 tool  destructive");
    assert_shows(&c, "confidence 0.50");
    assert_shows(&c, "rule Bash(make:*)");
    assert_shows(&c, "/p/.yare/settings.json:7");
}

/* What the person sees is what runs: nothing hides, nothing imitates the pane's own rows. */
static void
commands_cannot_lie(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    strict_visible(&b, STR("a\r\nb\xE2\x80\x8D\x63\xCC\x81\x1b[0m\xE2\x80\xAE\xC2\xA0\xEF\xB8\x8F"),
                   false);
    assert_string_equal(buf_cstr(&b), "a^M\nb<U+200D>c<U+0301>^[[0m<U+202E><U+00A0><U+FE0F>");
    buf_clear(&b);
    strict_visible(&b, STR("rm caf\xC3\xA9?"), true);
    assert_string_equal(buf_cstr(&b), "rm caf<U+00E9>?"); /* not the pattern "caf??" */
    buf_release(&b);
    ask(1, "rm -rf ~\n  ok   rm -rf ~  rules Bash(rm:*)", "[]", "[]");
    draw();
    assert_shows(&c, "$ rm -rf ~\n>   ok");
    apply(&v, "{\"event\":\"perm_decided\",\"ask_id\":1}");
    ask(2, "rm -rf ~                                      ok   rm -rf ~ rules", "[]", "[]");
    draw();
    assert_shows(&c, "\n│ ");
    assert_hides(&c, "\n  ok");
}

static void
edits_show_their_diff(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Edit\",\"what\":"
              "\"src/a.c\",\"input\":\"{}\","
              "\"diff\":\"@@ -1,2 +1,2 @@\\n-old\\n+new\\n "
              "ctx\\n\",\"decision\":{\"decision\":\"ask\",\"findings\":[]}}");
    draw();
    assert_shows(&c, "src/a.c");
    assert_shows(&c, "- old");
    assert_hides(&c, "e edit");
    press_none(YK_ENTER);
    assert_true(a.diff_open);
    assert_shows(&c, "+ new");
    assert_shows(&c, "src/a.c"); /* whoever says yes here sees to which file */
    press_none('e');
    assert_false(a.editing);
}

static void
no_size_is_too_small(void **state)
{
    (void)state;
    ask(1, "rm -rf build && make", RM, "[\"Bash(rm -rf build)\"]");
    ask(2, "日本語 && ls", "[]", "[]");
    static const char keys[] = "wwajnk";
    for (int w = 1; w <= 14; w++)
        for (int h = 1; h <= 8; h++) {
            canvas_resize(&c, w, h);
            for (const char *k = keys; *k; k++) {
                op_free(press(*k));
                draw();
                op_free(press(YK_ESC));
            }
            op_free(press('e'));
            draw();
            op_free(press(YK_ESC));
        }
}

static void
a_lone_argument_needs_no_braces(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Read\",\"what\":"
              "\"/etc/hosts\","
              "\"input\":\"{\\\"file_path\\\":\\\"/etc/hosts\\\"}\"}");
    apply(&v, "{\"event\":\"perm_ask\",\"id\":2,\"tool_use_id\":\"u\",\"tool\":\"Read\",\"what\":"
              "\"/etc/hosts\","
              "\"input\":\"{\\\"file_path\\\":\\\"/etc/hosts\\\",\\\"limit\\\":3}\"}");
    draw();
    assert_shows(&c, "> /etc/hosts\n");
    press_none('j');
    assert_shows(&c, "> {\"file_path\":\"/etc/hosts\",\"limit\":3}");
}

static void
the_smallest_panes_say_what_is_asked(void **state)
{
    (void)state;
    ask(7, "rm -rf build && make", RM, "[\"Bash(rm -rf build)\"]");
    canvas_resize(&c, 20, 3);
    draw();
    assert_shows(&c, "$ rm -rf b");
    assert_shows(&c, "ask  rm -rf build");
    assert_shows(&c, "y n w e");
    canvas_resize(&c, 10, 1);
    draw();
    assert_shows(&c, "y n $ r");
    press_none('a');
    assert_false(a.confirm_always);
    canvas_resize(&c, 10, 2);
    draw();
    assert_shows(&c, "$ rm ");
    assert_shows(&c, "y n w e");
    press_none('n');
    press_none('x');
    assert_shows(&c, "reason: x\nEnter Esc");
    canvas_resize(&c, 20, 1);
    draw();
    assert_shows(&c, "reason: x");
    canvas_resize(&c, 1, 1);
    draw();
}

/* The same request under the same number, in other words: another mode, or trust. */
static void
what_is_written_outlives_a_new_telling(void **state)
{
    (void)state;
    ask(1, "make", "[]", "[]");
    press_none('n');
    press_none('o');
    press_none('k');
    ask(1, "make", ONE("other reasons"), "[\"Bash(make:*)\"]");
    draw();
    assert_shows(&c, "other reasons");
    assert_shows(&c, "ok");
    assert_hides(&c, "another request");
    struct op *op = press(YK_ENTER);
    assert_non_null(op);
    assert_int_equal(op->perm.answer, PERM_ANSWER_NO);
    assert_string_equal(op->perm.reason, "ok");
    op_free(op);
}

static void
always_answers_the_offer_that_was_seen(void **state)
{
    (void)state;
    ask(1, "make", "[]", "[\"Bash(make:*)\"]");
    press_none('a');
    assert_shows(&c, "Bash(make:*)");
    struct event *e = event_new(EV_PERM_ASK);
    e->u.ask.id = 1;
    e->u.ask.offer = 7;
    e->u.ask.tool = xstrdup("Bash");
    e->u.ask.command = xstrdup("make");
    e->u.ask.rules = xcalloc(5, sizeof *e->u.ask.rules);
    e->u.ask.rules[0] = xstrdup("Bash(make all)");
    e->u.ask.n_rules = 1;
    v.asks[0].since_ms = 5;
    view_apply(&v, e);
    assert_int_equal(v.asks[0].since_ms, 5); /* it has waited all along */
    press_none(YK_ENTER);                    /* was meant for what is gone */
    press_none('a');
    assert_shows(&c, "Bash(make all)");
    struct op *op = press(YK_ENTER);
    assert_non_null(op);
    assert_int_equal(op->perm.answer, PERM_ANSWER_ALWAYS);
    assert_true(op->perm.offer == 7);
    op_free(op);
}

/* A finding that names no part of the command speaks of all of it: no row is left without a subject. */
static void
an_empty_part_is_the_whole_request(void **state)
{
    (void)state;
    ask(1, "touch a && git push",
        "[{\"layer\":\"L2\",\"decision\":\"ask\",\"part\":\"touch a\",\"reason\":\"it changes\"},"
        "{\"layer\":\"L5\",\"decision\":\"ask\",\"part\":\"\",\"reason\":\"it connects\"}]",
        "[]");
    draw();
    assert_shows(&c, "ask  L5 reach: it connects");
}

/* A long reason has the whole width, its beginning too. */
static void
a_long_reason_is_seen_whole(void **state)
{
    (void)state;
    canvas_resize(&c, 40, 8);
    ask(1, "make", ONE("some reason"), "[]");
    press_none('n');
    assert_shows(&c, "reason (may be empty):");
    const char *reason = "a rather long reason that does not fit into one row of this pane";
    for (size_t i = 0; reason[i]; i++)
        press_none(reason[i]);
    assert_shows(&c, "a rather long reason that does not fit i");
    assert_shows(&c, "nto one row of this pane");
    assert_shows(&c, "$ make");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_search_is_shown_in_words),
        T(a_search_with_odd_words_stays_json),
        T(the_answer_goes_to_what_is_shown),
        T(early_keys_do_nothing),
        T(the_focus_starts_the_wait_too),
        T(without_a_request_keys_pass),
        T(esc_never_answers),
        T(always_is_shown_first),
        T(always_needs_rules),
        T(no_takes_a_reason),
        T(a_command_can_be_edited),
        T(other_requests_are_looked_at),
        T(asked_again_under_the_same_id),
        T(long_commands_are_folded_honestly),
        T(many_parts_are_counted),
        T(the_whole_chain_names_rule_and_place),
        T(commands_cannot_lie),
        T(edits_show_their_diff),
        T(no_size_is_too_small),
        T(the_smallest_panes_say_what_is_asked),
        T(a_lone_argument_needs_no_braces),
        T(what_is_written_outlives_a_new_telling),
        T(always_answers_the_offer_that_was_seen),
        T(an_empty_part_is_the_whole_request),
        T(a_long_reason_is_seen_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
