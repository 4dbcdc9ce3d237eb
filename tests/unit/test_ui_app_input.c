/* What is typed, on the whole screen: prompts, commands, completion, answers, pickers and pages. */
#include "app_rig.h"

static void
typed_while_running_is_steered(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hold");
    keys(&r, "also this\r");
    assert_true(told(&r, "steer also this\n"));
    assert_true(shows(&r, "queued"));
    keys(&r, "\x1b");
    assert_true(told(&r, "cancel user"));
    leave(&r);
}

static void
commands_and_modes(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    keys(&r, "/clear\r");
    assert_true(told(&r, "command /clear\n"));
    keys(&r, "!ls -l\r");
    assert_true(told(&r, "command !ls -l\n"));
    settle(&r);
    submit(&r, "/etc/hosts is odd");
    keys(&r, "\x1b[Z");
    assert_true(told(&r, "mode acceptEdits\n"));
    keys(&r, "\x1b"
             "a");
    assert_true(told(&r, "mode auto\n"));
    keys(&r, "\x18"
             "a");
    assert_true(told(&r, "mode acceptEdits\n"));
    keys(&r, "/help\r");
    assert_true(shows(&r, "Shift+Tab"));
    keys(&r, "q/exit\r");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
}

static void
a_request_takes_the_focus_only_when_nobody_types(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "ask");
    /* typed on: the letters are text, not answers */
    keys(&r, "yan");
    assert_true(shows(&r, "rm -rf build"));
    keys(&r, "\x15"); /* the prompt is empty, but a key came just now */
    keys(&r, "\x1b"
             "3");
    (void)pty_until(&r.p, r.p.out.len, NULL, 350); /* past the guard against a stray key */
    assert_false(r.log.len && strstr(buf_cstr(&r.log), "answer"));
    keys(&r, "y");
    assert_true(told(&r, "answer once\n"));
    leave(&r);
}

static void
a_request_takes_the_focus_after_a_second(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "ask");
    assert_true(shows(&r, "rm -rf build"));
    assert_true(pty_until(&r.p, 0, "\xe2\x96\xb8 permission", 5000));
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 400);
    keys(&r, "y");
    assert_true(told(&r, "answer once\n"));
    leave(&r);
}

static void
an_untrusted_folder_is_asked_about(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.untrusted = true};
    run_start(&r, &c);
    assert_true(shows(&r, "y trust"));
    /* a word that starts with y is no answer */
    submit(&r, "yes please");
    assert_null(strstr(buf_cstr(&r.log), "trust"));
    settle(&r);
    keys(&r, "/trust\r");
    assert_true(pty_until(&r.p, r.p.out.len, "y trust it", 5000));
    (void)pty_until(&r.p, r.p.out.len, NULL, 350); /* past the guard against a stray key */
    size_t from = r.p.out.len;
    keys(&r, "y");
    assert_true(pty_until(&r.p, from, "Enter trusts", 5000));
    keys(&r, "\r");
    assert_true(told(&r, "trust"));
    settle(&r);
    leave(&r);
}

static void
history_keys_and_recording(void **state)
{
    (void)state;
    struct run r;
    char *history = temp_file(
        "{\"t\":1,\"text\":\"old prompt\"}\nbroken\n{\"t\":2,\"text\":\"two\\nlines\"}\n");
    char *own = temp_file("{\"bindings\":[{\"bindings\":{\"ctrl+q\":\"app:help\"}}]}");
    char *events = temp_file("");
    struct child c = {.history = history, .keys = own, .events = events};
    run_start(&r, &c);
    keys(&r, "\x1b[A");
    keys(&r, "\x1b[A\x1b[A\x1b[A\r"); /* through both lines of the second, to the first */
    assert_true(told(&r, "submit old prompt\n"));
    settle(&r);
    keys(&r, "\x12"
             "lines\r\r");
    assert_true(told(&r, "submit two\nlines\n"));
    keys(&r, "\x11");
    assert_true(shows(&r, "Shift+Tab"));
    keys(&r, "q\x04");
    assert_int_equal(run_end(&r), 0);
    char bytes[65536];
    FILE *f = fopen(events, "r");
    size_t n = fread(bytes, 1, sizeof(bytes) - 1, f);
    bytes[n] = '\0';
    fclose(f);
    assert_non_null(strstr(bytes, "fake-session"));
    assert_non_null(strstr(bytes, "old prompt"));
    f = fopen(history, "r");
    n = fread(bytes, 1, sizeof(bytes) - 1, f);
    bytes[n] = '\0';
    fclose(f);
    assert_non_null(strstr(bytes + 60, "old prompt"));
    unlink(history);
    unlink(own);
    unlink(events);
    free(history);
    free(own);
    free(events);
    run_finish(&r);
}

static void
paste_and_enter_submit_once(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    keys(&r, "\x1b[200~one\ntwo\x1b[201~\r");
    assert_true(told(&r, "submit one\ntwo\n"));
    assert_true(shows(&r, "you said: one"));
    size_t count = 0;
    for (const char *s = buf_cstr(&r.log); (s = strstr(s, "submit")); s++)
        count++;
    assert_int_equal(count, 1);
    leave(&r);
}

static void
commands_and_files_complete(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    keys(&r, "/comp");
    assert_true(shows(&r, "shrink the conversation"));
    keys(&r, "\t\r");
    assert_true(told(&r, "command /compact"));
    keys(&r, "see @par");
    assert_true(told(&r, "query \n"));
    assert_true(shows(&r, "@src/parse.c"));
    keys(&r, "\x1b[B\r\r");
    assert_true(told(&r, "submit see @src/parse.c \n"));
    settle(&r);
    /* Enter sends what was typed when nothing was chosen */
    keys(&r, "@lex");
    settle(&r);
    keys(&r, "\r");
    assert_true(told(&r, "submit @lex\n"));
    settle(&r);
    leave(&r);
}

static void
the_editor_writes_the_prompt(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    setenv("VISUAL", "sh -c 'printf from-the-editor > \"$1\"' editor", 1);
    run_start(&r, &c);
    keys(&r, "before\x07");
    assert_true(shows(&r, "from-the-editor"));
    keys(&r, "\r");
    assert_true(told(&r, "submit from-the-editor\n"));
    keys(&r, "\x04");
    assert_int_equal(run_end(&r), 0);
    unsetenv("VISUAL");
    run_finish(&r);
}

/* Nothing is done unasked: an offer is a line until its key comes. */
static void
an_offer_waits_for_its_key(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    keys(&r, "offer\r");
    assert_true(shows(&r, "a server answers nearby"));
    settle(&r);
    submit(&r, "yes I type y and n");
    assert_int_equal(times_told(&r, "connect"), 0);
    keys(&r, "\x1b"
             "y");
    assert_true(told(&r, "command /connect nearby\n"));
    settle(&r);
    keys(&r, "\x1b"
             "y"); /* it is gone */
    submit(&r, "offer");
    settle(&r);
    keys(&r, "\x1b"
             "n");
    settle(&r);
    keys(&r, "\x1b"
             "y");
    settle(&r);
    assert_int_equal(times_told(&r, "connect"), 1);
    leave(&r);
}

static void
a_model_is_picked(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    keys(&r, "half a prompt\x1b"
             "p");
    assert_true(shows(&r, "model-b"));
    settle(&r);
    keys(&r, "\x1b[B\r");
    assert_true(told(&r, "command /model model-c\n"));
    settle(&r);
    keys(&r, "\r"); /* what was typed is still there */
    assert_true(told(&r, "submit half a prompt\n"));
    settle(&r);
    keys(&r, "/model model-x\r"); /* with an argument it is the engine's */
    assert_true(told(&r, "command /model model-x\n"));
    leave(&r);
}

static void
an_open_page_follows_the_turns(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hold");
    keys(&r, "/state\r");
    assert_true(shows(&r, "12345"));
    settle(&r);
    size_t before = times_told(&r, "query");
    (void)kill(r.p.pid, SIGINT); /* the turn ends while the page stands */
    assert_true(told(&r, "cancel user\n"));
    settle(&r);
    keys(&r, "qend\r");
    assert_true(told(&r, "submit end\n"));
    assert_true(times_told(&r, "query") > before);
    settle(&r);
    leave(&r);
}

static void
trust_shows_what_waits_for_it(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.untrusted = true};
    run_start(&r, &c);
    assert_true(shows(&r, "Bash(make:*)"));
    (void)pty_until(&r.p, r.p.out.len, NULL, 350); /* past the guard against a stray key */
    keys(&r, "n");
    assert_true(shows(&r, "restricted"));
    submit(&r, "y later");
    assert_int_equal(times_told(&r, "trust"), 0);
    leave(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_while_running_is_steered),
        cmocka_unit_test(commands_and_modes),
        cmocka_unit_test(a_request_takes_the_focus_only_when_nobody_types),
        cmocka_unit_test(a_request_takes_the_focus_after_a_second),
        cmocka_unit_test(an_untrusted_folder_is_asked_about),
        cmocka_unit_test(history_keys_and_recording),
        cmocka_unit_test(paste_and_enter_submit_once),
        cmocka_unit_test(commands_and_files_complete),
        cmocka_unit_test(the_editor_writes_the_prompt),
        cmocka_unit_test(an_offer_waits_for_its_key),
        cmocka_unit_test(a_model_is_picked),
        cmocka_unit_test(an_open_page_follows_the_turns),
        cmocka_unit_test(trust_shows_what_waits_for_it),
    };
    app_rig_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
