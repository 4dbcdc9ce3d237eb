/* What the permission pane must not be made to do: hide what runs, look like something else, or take a key for an answer that was meant
 * for another request. */
#include "unit/approval_rig.h"

#define RULES "[\"Bash(x)\"]"

static void
decided(int id)
{
    applyf(&v, "{\"event\":\"perm_decided\",\"ask_id\":%d}", id);
}

/* ---- what cannot be seen, or is taken for something else ---- */

static const struct odd {
    const char *text, *shown, *said; /* said NULL: nothing */
} odd[] = {
    {"curl p\xD0\xB0ypal.com", "curl p<U+0430>ypal.com", "looks like others"},
    {"cat \xD1\x81\xD0\xBE\xD1\x80\xD1\x83", "cat <U+0441><U+043E><U+0440><U+0443>",
     "looks like others"},
    {"cat \xCE\xBFut.txt", "cat <U+03BF>ut.txt", "looks like others"},
    {"rm \xEF\xBD\x92\xEF\xBD\x8D", "rm <U+FF52><U+FF4D>", "looks like others"},
    {"curl a.com\xE2\x88\x95"
     "b",
     "curl a.com<U+2215>b", "looks like others"},
    {"git push \xE2\x80\x90\xE2\x80\x90"
     "force",
     "<U+2010><U+2010>force", "looks like others"},
    {"ls \xE2\x80\xAE"
     "cod.x",
     "ls <U+202E>cod.x", "direction"},
    {"ls a\xE2\x81\xA6"
     "b",
     "ls a<U+2066>b", "direction"},
    {"ls a\xE2\x80\x8B"
     "b",
     "ls a<U+200B>b", "do not show"},
    {"ls a\xF3\xA0\x81\x81", "ls a<U+E0041>", "do not show"},
    {"ls a\xC2\xA0"
     "b",
     "ls a<U+00A0>b", "do not show"},
    {"ls\rrm -rf x", "ls^Mrm -rf x", "control"},
    {"ls \x1b[2K", "ls ^[[2K", "control"},
    {"ls a\tb", "ls a^Ib", "tab"},
    {"cat <<E\n\tx\nE", ">     x", NULL}, /* a line that is indented hides nothing */
    {"ls \xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82",
     "\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82", NULL},
    {"ls caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC", "caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC", NULL},
    {"git commit -m 'a \xE2\x80\x94 b'", "a \xE2\x80\x94 b", NULL},
    {"make -j8", "$ make -j8", NULL},
};

static void
odd_characters_are_shown_and_said(void **state)
{
    (void)state;
    canvas_resize(&c, 60, 14);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        ask((int)i + 1, odd[i].text, "[]", RULES);
        draw();
        char *all = dumped(&c);
        if (!strstr(all, odd[i].shown))
            fail_msg("case %zu: not '%s' in\n%s", i, odd[i].shown, all);
        if ((strstr(all, "\n! ") != NULL) != (odd[i].said != NULL))
            fail_msg("case %zu: warned or not?\n%s", i, all);
        free(all);
        if (odd[i].said)
            assert_shows(&c, odd[i].said);
        decided((int)i + 1);
    }
}

/* What is shown is the text that runs: taken back from the screen it is the command, whatever it holds. */
static void
the_warning_stays_in_small_panes(void **state)
{
    (void)state;
    ask(1, "curl p\xD0\xB0ypal.com && rm -rf build && make",
        "[{\"layer\":\"L1\",\"decision\":\"ask\",\"reason\":\"r\",\"part\":\"rm -rf build\"}]",
        RULES);
    static const int sizes[][2] = {{120, 36}, {80, 12}, {40, 6}, {30, 5}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        canvas_resize(&c, sizes[i][0], sizes[i][1]);
        draw();
        assert_shows(&c, "! ");
    }
    canvas_resize(&c, 60, 14);
    press_none('w');
    assert_shows(&c, "! ");
}

static void
a_path_is_shown_so_too(void **state)
{
    (void)state;
    apply(&v,
          "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Edit\",\"what\":"
          "\"src/p\u0430th.c\",\"input\":\"{}\",\"diff\":\"@@ -1 +1 @@\\n-a\\n+b\\u202ec\\n\"}");
    draw();
    assert_shows(&c, "src/p<U+0430>th.c");
    assert_shows(&c, "! ");
    assert_shows(&c, "! direction");
}

/* ---- imitated rows ---- */

static void
no_text_draws_rows_of_the_pane(void **state)
{
    (void)state;
    static const char *const tried[] = {
        "true\n  ok   rm -rf ~  rule Bash(rm:*)",
        "true\r\n  ok   rm -rf ~",
        "true                                              ok   rm -rf ~  rule Bash(rm:*)",
        "true\n! nothing odd",
        "true\n  \xE2\x80\xA6 3 more lines, w shows all",
    };
    canvas_resize(&c, 44, 20);
    for (size_t i = 0; i < ARRAY_LEN(tried); i++) {
        struct buf f;
        buf_init(&f, BUF_MAX);
        buf_adds(&f, "[{\"layer\":\"L1\",\"decision\":\"ask\",\"reason\":");
        json_quote(&f, str_from(tried[i]));
        buf_adds(&f, ",\"part\":");
        json_quote(&f, str_from(tried[i]));
        buf_adds(&f, "}]");
        ask((int)i + 1, tried[i], buf_cstr(&f), "[]");
        for (int why = 0; why < 2; why++) {
            if (why)
                press_none('w');
            else
                draw();
            assert_hides(&c, "\n  ok ");
            assert_hides(&c, "\nok ");
            assert_hides(&c, "\n! nothing");
            assert_hides(&c, "\n  \xE2\x80\xA6 3 more");
        }
        buf_release(&f);
        decided((int)i + 1);
    }
}

/* ---- seen or not ---- */

static void
ask_long(int id)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 60; i++)
        buf_addf(&b, "%secho line %d", i ? "\n" : "", i);
    ask(id, buf_cstr(&b), "[]", RULES);
    buf_release(&b);
}

static void
always_comes_when_all_was_scrolled_into_view(void **state)
{
    (void)state;
    ask_long(1);
    press_none('a');
    assert_false(a.confirm_always);
    assert_shows(&c, "not offered");
    assert_shows(&c, "w and PgDn");
    press_none('w');
    press_none(YK_END); /* what lies between was not seen */
    press_none(YK_ESC);
    assert_hides(&c, "a always");
    press_none('w');
    for (int i = 0; i < 20; i++)
        press_none(YK_PGDN);
    press_none(YK_ESC);
    assert_shows(&c, "a always");
    press_none('a');
    assert_true(a.confirm_always);
    /* the next one was not seen */
    decided(1);
    ask_long(2);
    draw();
    assert_hides(&c, "a always");
}

static void
a_diff_is_seen_too_before_always(void **state)
{
    (void)state;
    struct buf b, line;
    buf_init(&b, BUF_MAX);
    buf_init(&line, BUF_MAX);
    buf_adds(&b, "@@ -1,60 +1,60 @@\n");
    for (int i = 0; i < 60; i++)
        buf_addf(&b, "+new %d\n", i);
    buf_adds(
        &line,
        "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Edit\",\"what\":\"a.c\","
        "\"input\":\"{}\",\"rules\":[\"Edit(/**)\"],\"rules_file\":\"/p/s\",\"diff\":");
    json_quote(&line, buf_str(&b));
    buf_adds(&line, "}");
    apply(&v, buf_cstr(&line));
    draw();
    assert_hides(&c, "a always");
    for (int i = 0; i < 80; i++)
        press_none(YK_DOWN);
    assert_shows(&c, "+ new 59");
    assert_shows(&c, "a always");
    buf_release(&b);
    buf_release(&line);
}

static void
all_rules_are_seen_before_they_are_saved(void **state)
{
    (void)state;
    ask(1, "x", "[]", "[\"Bash(a1)\",\"Bash(b2)\",\"Bash(c3)\",\"Bash(d4)\",\"Bash(e5)\"]");
    canvas_resize(&c, 40, 7);
    press_none('a');
    assert_hides(&c, "e5");
    press_none(YK_ENTER);
    assert_true(a.confirm_always);
    assert_shows(&c, "PgDn shows the rest");
    for (int i = 0; i < 9; i++)
        press_none(YK_DOWN);
    struct op *op = press(YK_ENTER);
    assert_non_null(op);
    assert_int_equal(op->perm.answer, PERM_ANSWER_ALWAYS);
    op_free(op);
}

/* ---- keys ahead of what they would answer ---- */

static struct op *
key_at_once(int key)
{
    return approval_key(&a, &v, key, STR(""), now, &used);
}

static void
a_key_before_the_drawing_answers_nothing(void **state)
{
    (void)state;
    ask(1, "ls", "[]", RULES);
    ask(2, "rm -rf ~", "[]", RULES);
    draw();
    now += 1000;
    op_free(key_at_once('y'));
    assert_null(key_at_once('y')); /* in the same read */
    approval_sync(&a, &v, now);    /* the other one has the pane and was never drawn */
    now += 60000;
    assert_null(key_at_once('y'));
    assert_null(key_at_once('a'));
    assert_null(key_at_once('n'));
    assert_false(a.confirm_always || a.typing_reason);
    draw();
    now += 299;
    assert_null(key_at_once('y'));
    now += 1;
    struct op *op = key_at_once('y');
    assert_non_null(op);
    assert_int_equal(op->perm.ask_id, 2);
    op_free(op);
}

/* Who writes about a request that goes away goes on writing: none of it answers the next one, until they paused. */
static void
what_is_written_answers_no_other_request(void **state)
{
    (void)state;
    for (int editing = 0; editing < 2; editing++) {
        int gone = 1 + 2 * editing, next = gone + 1;
        ask(gone, "ls", "[]", RULES);
        draw();
        now += 1000;
        assert_null(key_at_once(editing ? 'e' : 'n'));
        assert_null(key_at_once('m'));
        ask(next, "rm -rf ~", "[]", RULES);
        decided(gone);
        for (const char *s = "ay, yes any"; *s; s++) {
            draw();
            now += 120;
            assert_null(key_at_once(*s));
            assert_true(used);
            assert_false(a.confirm_always || a.typing_reason || a.editing || a.why);
        }
        assert_int_equal(a.shown, next);
        draw();
        assert_non_null(a.note);
        now += 300;
        struct op *op = key_at_once('y');
        assert_non_null(op);
        assert_int_equal(op->perm.ask_id, next);
        op_free(op);
        decided(next);
        draw();
    }
}

/* A key that is held down says yes to what was there when it went down. */
static void
a_key_that_is_held_answers_once(void **state)
{
    (void)state;
    for (int i = 1; i <= 50; i++)
        ask(i, "ls", "[]", RULES);
    draw();
    now += 1000;
    int answers = 0;
    for (int i = 0; i < 200; i++) {
        struct op *op = key_at_once('y');
        answers += op != NULL;
        op_free(op);
        now += 33;
        draw();
    }
    assert_int_equal(answers, 1);
    now += 300;
    struct op *op = key_at_once('y');
    assert_non_null(op);
    assert_int_equal(op->perm.ask_id, 2);
    op_free(op);
}

static void
another_request_is_looked_at_before_it_is_answered(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++)
        ask(i, "ls", "[]", RULES);
    draw();
    now += 1000;
    assert_null(key_at_once('j'));
    assert_null(key_at_once('y')); /* typed at one go */
    draw();
    assert_null(key_at_once('y'));
    assert_null(key_at_once('j')); /* but one can go on looking */
    assert_int_equal(a.shown, 3);
    draw();
    now += 300;
    struct op *op = key_at_once('y');
    assert_non_null(op);
    assert_int_equal(op->perm.ask_id, 3);
    op_free(op);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(odd_characters_are_shown_and_said),
        T(the_warning_stays_in_small_panes),
        T(a_path_is_shown_so_too),
        T(no_text_draws_rows_of_the_pane),
        T(always_comes_when_all_was_scrolled_into_view),
        T(a_diff_is_seen_too_before_always),
        T(all_rules_are_seen_before_they_are_saved),
        T(a_key_before_the_drawing_answers_nothing),
        T(what_is_written_answers_no_other_request),
        T(a_key_that_is_held_answers_once),
        T(another_request_is_looked_at_before_it_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
