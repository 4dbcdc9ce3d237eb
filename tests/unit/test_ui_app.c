/* The program on its terminal: how it starts and ends, what it writes, any size, an engine that comes late or not. */
#include "app_rig.h"

/* What stands on the normal screen after the other one was left. */
static struct str
left_behind(const struct run *r)
{
    static const char back[] = "\x1b[?1049l";
    struct str all = buf_str(&r->p.out);
    size_t at = 0;
    for (size_t i = 0; i < all.len; i++)
        if (str_starts(str_sub(all, i, all.len), back))
            at = i + sizeof(back) - 1;
    return str_sub(all, at, all.len);
}

static void
a_prompt_is_sent_and_the_answer_left_behind(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hello there");
    assert_true(shows(&r, "you said:"));
    quit_twice(&r, 0);
    /* on the normal screen, after the other one was left */
    struct str last = left_behind(&r);
    assert_true(str_contains(last, STR("you said: hello there")));
    assert_true(str_contains(last, STR("yare resume fake-session")));
    assert_true(told(&r, "stop"));
    run_finish(&r);
}

static void
ctrl_c_interrupts_clears_and_quits(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hold");
    keys(&r, "\x03");
    assert_true(told(&r, "cancel user\n"));
    settle(&r);
    keys(&r, "some text\x03");
    keys(&r, "\x03");
    assert_true(pty_until(&r.p, 0, "quits", 5000));
    assert_int_equal(waitpid(r.p.pid, NULL, WNOHANG), 0);
    keys(&r, "\x03");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
}

static void
escape_interrupts(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hold");
    keys(&r, "\x1b");
    assert_true(told(&r, "cancel user\n"));
    leave(&r);
}

static void
signals_end_it_cleanly(void **state)
{
    (void)state;
    static const struct {
        int sig, code;
    } ways[] = {{SIGTERM, 143}, {SIGHUP, 143}, {SIGINT, 130}};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct run r;
        struct child c = {0};
        run_start(&r, &c);
        assert_int_equal(kill(r.p.pid, ways[i].sig), 0);
        assert_int_equal(run_end(&r), ways[i].code);
        run_finish(&r);
    }
    struct run r;
    run_plain(&r);
    submit(&r, "hold");
    (void)kill(r.p.pid, SIGINT);
    assert_true(told(&r, "cancel user"));
    (void)kill(r.p.pid, SIGTERM);
    assert_true(told(&r, "cancel term"));
    assert_int_equal(run_end(&r), 143);
    run_finish(&r);
}

static void
an_engine_that_fails_is_said(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.fails = true};
    run_start(&r, &c);
    assert_int_equal(run_end(&r),
                     1); /* nobody has written anything: the screen would be of no use */
    assert_false(str_contains(left_behind(&r), STR("yare resume")));
    run_finish(&r);
}

static void
typed_before_the_engine_is_kept(void **state)
{
    (void)state;
    struct run r;
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    struct child c = {.gate = gate};
    run_start(&r, &c);
    keys(&r, "early bird\r");
    assert_true(shows(&r, "queued"));
    keys(&r, "/compact\r");
    keys(&r, "second\r");
    keys(&r, "left over");
    assert_true(shows(&r, "left over"));
    assert_true(shows(&r, "starting"));
    assert_int_equal(r.log.len, 0);
    assert_int_equal(write(gate[1], "g", 1), 1);
    assert_true(told(&r, "submit early bird\n"));
    assert_true(told(&r, "command /compact\n"));
    assert_true(told(&r, "submit second\n"));
    assert_true(shows(&r, "you said:"));
    const char *log = buf_cstr(&r.log);
    assert_true(strstr(log, "early bird") < strstr(log, "/compact"));
    keys(&r, "\x03"); /* what was not sent is still in the prompt: this clears it */
    leave(&r);
    close(gate[0]);
    close(gate[1]);
}

static void
quitting_does_not_wait_for_the_engine(void **state)
{
    (void)state;
    static const char *const ways[] = {"\x04", "\x03\x03", "some text\r\x04"};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct run r;
        int gate[2];
        assert_int_equal(pipe(gate), 0);
        struct child c = {.gate = gate};
        run_start(&r, &c);
        keys(&r, ways[i]);
        assert_int_equal(run_end(&r), 0);
        assert_false(told(&r, "submit"));
        run_finish(&r);
        close(gate[0]);
        close(gate[1]);
    }
}

static void
a_start_that_fails_late_gives_the_prompt_back(void **state)
{
    (void)state;
    struct run r;
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    struct child c = {.gate = gate, .fails = true};
    run_start(&r, &c);
    keys(&r, "do not lose me\r");
    assert_true(shows(&r, "queued"));
    size_t before = r.p.out.len;
    assert_int_equal(write(gate[1], "g", 1), 1);
    assert_true(shows(&r, "xyz"));
    assert_true(pty_until(&r.p, before, "do not lose me", 5000));
    keys(&r, "\r");
    assert_true(shows(&r, "not running"));
    keys(&r, "\x03");
    quit_twice(&r, 0);
    run_finish(&r);
    close(gate[0]);
    close(gate[1]);
}

static long
wake_ups(pid_t pid)
{
    char name[64], line[256];
    long n = 0;
    (void)snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
            n = strtol(line + 24, NULL, 10);
    if (f)
        fclose(f);
    return n;
}

static void
idle_means_asleep(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hi");
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 500);
    long before = wake_ups(r.p.pid);
    size_t bytes = r.p.out.len;
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 1500);
    assert_int_equal(wake_ups(r.p.pid), before);
    assert_int_equal(r.p.out.len, bytes);
    leave(&r);
}

static void
a_key_costs_few_bytes(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    submit(&r, "hello");
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 300);
    for (char k = 'a'; k < 'h'; k++) {
        size_t from = r.p.out.len;
        pty_send(&r.p, &k, 1);
        (void)pty_until(&r.p, from, "\x01never", 60);
        size_t cost = r.p.out.len - from;
        assert_true(cost >= 1 && cost <= 200);
    }
    keys(&r, "\x03\x04");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
}

static void
streams_within_the_frame_cap(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    keys(&r, "\x1b[?2026;2$y");
    keys(&r, "stream 5000\r");
    assert_true(shows(&r, "you said: stream"));
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 200);
    assert_true(r.p.out.len < 6 * 25000);
    size_t clears = 0;
    for (size_t i = 0; i + 4 < r.p.out.len; i++)
        clears += memcmp(r.p.out.data + i, "\x1b[2J", 4) == 0 ||
                  memcmp(r.p.out.data + i, "\x1b[3J", 4) == 0;
    assert_true(clears <= 1);
    leave(&r);
}

static void
any_size(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 2}, {10, 3}, {40, 12}, {20, 6}, {200, 60}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct run r;
        struct child c = {.prompt = "first"};
        run_start_at(&r, &c, sizes[i][0], sizes[i][1]);
        assert_true(told(&r, "submit first\n"));
        keys(&r, "ask\r"); /* behind the first turn or into it */
        assert_true(told(&r, " ask\n"));
        for (int k = 1; k < 100; k += 9) {
            struct winsize ws = {.ws_col = (unsigned short)(100 - k),
                                 .ws_row = (unsigned short)(k / 3 + 1)};
            (void)ioctl(r.p.fd, TIOCSWINSZ, &ws);
            keys(&r, "x\x0c");
            (void)pty_until(&r.p, r.p.out.len, "\x01never", 5);
        }
        (void)kill(r.p.pid, SIGTERM);
        assert_int_equal(run_end(&r), 143);
        run_finish(&r);
    }
}

/* A terminal that became small and large again before anybody looked has lost its cells, though the size is the one known. */
static void
a_resize_there_and_back_repaints(void **state)
{
    (void)state;
    struct run r;
    run_plain(&r);
    assert_true(shows(&r, "transcript"));
    settle(&r);
    size_t from = r.p.out.len;
    assert_int_equal(kill(r.p.pid, SIGWINCH), 0);
    assert_true(pty_until(&r.p, from, "transcript", 5000));
    leave(&r);
}

/* curses thinks the cursor still in the only column; tmux has it behind that, where what is written is lost. */
static void
one_column_is_begun_anew(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start_at(&r, &c, 1, 1);
    settle(&r);
    size_t from = r.p.out.len;
    keys(&r, "\x1bOP");
    assert_true(pty_until(&r.p, from, "mk", 5000)); /* "keys anywhere" */
    char *cr = memchr(r.p.out.data + from, '\r', r.p.out.len - from);
    assert_non_null(cr);
    assert_non_null(memmem(cr, (size_t)(r.p.out.data + r.p.out.len - cr), "mk", 2));
    keys(&r, "q");
    leave(&r);
}

/* Without a UTF-8 locale only ASCII goes out. */
static void
ascii_where_the_locale_says_so(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    setenv("LC_ALL", "C", 1);
    run_start(&r, &c);
    keys(&r, "\xe6\x97\xa5 \xc3\xa9 ask\r");
    assert_true(told(&r, "submit \xe6\x97\xa5 \xc3\xa9 ask\n"));
    assert_true(shows(&r, "you said"));
    keys(&r, "/help\r");
    assert_true(shows(&r, "Shift+Tab"));
    for (size_t i = 0; i < r.p.out.len; i++)
        assert_true((unsigned char)r.p.out.data[i] < 0x80);
    keys(&r, "q\x04");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
    setenv("LC_ALL", "C.UTF-8", 1);
}

static bool
wrote(const struct run *r, const char *bytes)
{
    return r->p.out.len && memmem(r->p.out.data, r->p.out.len, bytes, strlen(bytes));
}

/* Says one address and leaves; what was written stays in r->p.out until run_finish. */
static void
run_with_settings(struct run *r, struct child *c)
{
    run_start(r, c);
    submit(r, "https://example.org/x");
    assert_true(shows(r, "you said"));
    settle(r);
    keys(r, "\x04");
    assert_int_equal(run_end(r), 0);
}

static void
settings_say_what_the_terminal_gets(void **state)
{
    (void)state;
    struct run r;
    struct child none = {.settings = "{}"},
                 plain = {.settings = "{\"hyperlinks\":false,\"exit_lines\":0}"},
                 wide = {.settings = "{\"ambiguous_width\":2}"};
    run_with_settings(&r, &none);
    assert_true(wrote(&r, "\x1b]8;;https://example.org/x"));
    assert_false(wrote(&r, "+-"));
    assert_true(str_contains(left_behind(&r), STR("you said")));
    run_finish(&r);
    run_with_settings(&r, &plain);
    assert_false(wrote(&r, "\x1b]8;;"));
    assert_false(str_contains(left_behind(&r), STR("you said")));
    run_finish(&r);
    run_with_settings(&r, &wide);
    assert_true(wrote(&r, "+-"));
    run_finish(&r);
}

static void
variables_win_over_settings(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.settings = "{\"hyperlinks\":false,\"exit_lines\":0,\"ambiguous_width\":2}"};
    setenv("YARE_HYPERLINKS", "1", 1);
    setenv("YARE_EXIT_LINES", "3", 1);
    setenv("YARE_AMBIGUOUS_WIDTH", "1", 1);
    run_with_settings(&r, &c);
    app_rig_environment();
    assert_true(wrote(&r, "\x1b]8;;https://example.org/x"));
    assert_false(wrote(&r, "+-"));
    assert_true(str_contains(left_behind(&r), STR("you said")));
    run_finish(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_sent_and_the_answer_left_behind),
        cmocka_unit_test(ctrl_c_interrupts_clears_and_quits),
        cmocka_unit_test(escape_interrupts),
        cmocka_unit_test(signals_end_it_cleanly),
        cmocka_unit_test(an_engine_that_fails_is_said),
        cmocka_unit_test(typed_before_the_engine_is_kept),
        cmocka_unit_test(quitting_does_not_wait_for_the_engine),
        cmocka_unit_test(a_start_that_fails_late_gives_the_prompt_back),
        cmocka_unit_test(idle_means_asleep),
        cmocka_unit_test(a_key_costs_few_bytes),
        cmocka_unit_test(streams_within_the_frame_cap),
        cmocka_unit_test(any_size),
        cmocka_unit_test(a_resize_there_and_back_repaints),
        cmocka_unit_test(one_column_is_begun_anew),
        cmocka_unit_test(ascii_where_the_locale_says_so),
        cmocka_unit_test(settings_say_what_the_terminal_gets),
        cmocka_unit_test(variables_win_over_settings),
    };
    app_rig_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
