#include "unit/ui_help.h"

#include "ui/fmt.h"

static struct view v;
static struct canvas c;
static struct clock_fake now;

static int
setup(void **state)
{
    (void)state;
    now = (struct clock_fake){.mono_us = 1000000000};
    clock_set_fake(&now);
    view_init(&v);
    canvas_init(&c, 34, 6);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    view_release(&v);
    canvas_release(&c);
    clock_set_fake(NULL);
    return 0;
}

static void
draw(bool strip, bool focus, int selected, bool ascii)
{
    canvas_clear(&c);
    activity_draw(&v, &c, (struct rect){0, 0, c.w, strip ? 1 : c.h}, strip, focus, selected, ascii,
                  clock_mono_ms());
}

static void
expect(const char *want)
{
    char *s = dumped(&c);
    assert_string_equal(s, want);
    free(s);
}

static void
rows_say_what_runs(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"r\",\"name\":\"Read\",\"what\":\"src/"
              "parse.c\",\"state\":\"done\",\"elapsed_ms\":3}");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"b\",\"name\":\"Bash\",\"what\":"
              "\"make test\",\"state\":\"running\"}");
    now.mono_us += 12400000;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"delta\",\"id\":\"b\",\"state\":\"running\","
              "\"output\":\"PASS\\u001b[0m 41/60\",\"bytes\":1200000,\"elapsed_ms\":12400}");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"g\",\"name\":\"Grep\",\"what\":"
              "\"next\",\"summary\":\"17 in 4\",\"state\":\"done\"}");
    draw(false, false, 0, false);
    expect("● Bash  make test      12.4s 1.2MB\n"
           "  PASS^[[0m 41/60\n"
           "✓ Grep  next               17 in 4\n"
           "✓ Read  src/parse.c            3ms\n\n");
    draw(false, false, 0, true);
    assert_shows(&c, "* Bash");
    assert_shows(&c, "+ Read");
    assert_string_equal(activity_at(&v, 0)->name, "Bash");
    assert_string_equal(activity_at(&v, 2)->name, "Read");
    assert_null(activity_at(&v, 3));
}

static void
names_and_numbers_never_leave_the_row(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"b\",\"agent\":\"explorer\","
              "\"name\":\"mcp__server__a_long_tool\","
              "\"what\":\"日本語の長い名前がここに来る\\nsecond\",\"state\":\"running\"}");
    for (int w = 1; w < 60; w++) {
        canvas_resize(&c, w + 1, 6);
        canvas_fill(&c, (struct rect){w, 0, 1, 6}, ST_BORDER, "|");
        activity_draw(&v, &c, (struct rect){0, 0, w, 6}, false, true, 0, false, clock_mono_ms());
        for (int y = 0; y < 6; y++)
            assert_string_equal(c.cells[y * (w + 1) + w].text, "|");
    }
}

static void
the_strip_is_one_line(void **state)
{
    (void)state;
    canvas_resize(&c, 60, 3);
    draw(true, false, 0, false);
    expect("\n\n");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"b\",\"name\":\"Bash\",\"what\":"
              "\"make\",\"state\":\"running\"}");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"d\",\"name\":\"Bash\",\"what\":"
              "\"ls\",\"state\":\"asking\"}");
    now.mono_us += 2000000;
    draw(true, false, 0, false);
    assert_shows(&c, "● Bash  make  2.0s  +1 more ──");
}

static void
the_selected_one_is_seen(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++)
        applyf(&v,
               "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"t%d\",\"name\":\"Bash\",\"what\":"
               "\"number %02d\",\"state\":\"done\"}",
               i, i);
    for (int i = 0; i < 30; i++) {
        char want[32];
        snprintf(want, sizeof want, "number %02d", 29 - i);
        draw(false, true, i, false);
        assert_shows(&c, want);
    }
    draw(false, true, 99, false);
    struct rect r = {0, 0, c.w, c.h};
    assert_int_equal(activity_place(&v, r, false, true, 0, 2), 2);
    assert_int_equal(activity_place(&v, r, false, true, 29, c.h - 1), 29);
    assert_int_equal(activity_place(&v, r, true, true, 7, 0), 7);
    assert_int_equal(activity_place(&v, r, false, false, 0, -1), -1);
}

#define TASK                                                                                       \
    "{\"event\":\"task\",\"json\":\"{\\\"task\\\":{\\\"id\\\":\\\"bash_1\\\",\\\"tool_use_id\\\":" \
    "\\\"b\\\",\\\"name\\\":\\\"Bash\\\",\\\"what\\\":\\\"make\\\",\\\"state\\\":\\\"%s\\\","      \
    "\\\"why\\\":\\\"%s\\\",\\\"bytes\\\":1000,\\\"elapsed_ms\\\":2000,\\\"last_line\\\":"         \
    "\\\"up\\\"},\\\"running\\\":1}\"}"

static void
commands_in_the_background_stay_listed(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"b\",\"name\":\"Bash\",\"what\":"
              "\"make\",\"state\":\"running\"}");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"b\",\"name\":\"Bash\",\"state\":"
              "\"done\",\"summary\":\"in the background: bash_1\"}");
    applyf(&v, TASK, "running", "running");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"r\",\"name\":\"Read\",\"what\":\"a."
              "c\",\"state\":\"running\"}");
    apply(&v, "{\"event\":\"result\",\"subtype\":\"success\",\"exit\":\"completed\"}");
    assert_int_equal(v.n_acts, 2);
    now.mono_us += 1000000;
    draw(false, false, 0, false);
    assert_shows(&c, "& Bash  bash_1: make    3.0s 1.0kB\n  up\n");
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"cleared\":true}");
    assert_int_equal(v.n_acts, 1);
    assert_true(view_set_processes(&v, "b", "11 make\n  12 cc"));
    assert_false(view_set_processes(&v, "b", "11 make\n  12 cc"));
    assert_false(view_set_processes(&v, "nobody", "1 x"));
    draw(false, false, 0, false);
    assert_hides(&c, "11 make"); /* no room for it */
    canvas_resize(&c, 34, 12);
    draw(false, false, 0, false);
    assert_shows(&c, "  up\n  └ 11 make\n  └   12 cc\n");
    applyf(&v, TASK, "failed", "exit 2");
    draw(false, false, 0, false);
    assert_shows(&c, "✗ Bash  bash_1: make        exit 2\n");
    assert_hides(&c, "11 make");
}

static void
check_fmt(void (*f)(struct buf *, int64_t), int64_t n, const char *want)
{
    struct buf b;
    buf_init(&b, 100);
    f(&b, n);
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static void
numbers(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        const char *want;
    } counts[] = {{0, "0"},         {-5, "0"},        {999, "999"},      {1000, "1.0k"},
                  {1249, "1.2k"},   {9949, "9.9k"},   {9950, "10k"},     {90900, "91k"},
                  {999499, "999k"}, {999500, "1.0M"}, {1200000, "1.2M"}, {INT64_MAX, "9.2E"}};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_fmt(fmt_count, counts[i].n, counts[i].want);
    check_fmt(fmt_bytes, 1200000, "1.2MB");
    check_fmt(fmt_bytes, 12, "12B");
    check_fmt(fmt_ms, 3, "3ms");
    check_fmt(fmt_ms, 12499, "12.4s");
    check_fmt(fmt_ms, 59999, "59.9s");
    check_fmt(fmt_ms, 125000, "2m05s");
    check_fmt(fmt_ms, 3723000, "1h02m");
    check_fmt(fmt_seconds, 3999, "3s");
    static const struct {
        double usd;
        const char *want;
    } prices[] = {{0, "$0"},           {0.42, "$0.42"}, {5, "$5"},
                  {0.0042, "$0.0042"}, {12.999, "$13"}, {0.01, "$0.01"},
                  {0.0124, "$0.012"},  {0.05, "$0.05"}, {0.00002, "<$0.0001"}};
    for (size_t i = 0; i < ARRAY_LEN(prices); i++) {
        struct buf b;
        buf_init(&b, 100);
        fmt_usd(&b, prices[i].usd);
        assert_string_equal(buf_cstr(&b), prices[i].want);
        buf_release(&b);
    }
}

/* No two states look alike, with or without colour, with or without UTF-8. */
static void
marks_differ(void **state)
{
    (void)state;
    for (int i = 0; i <= TOOL_CANCELLED; i++)
        for (int k = 0; k < i; k++)
            for (int ascii = 0; ascii < 2; ascii++)
                assert_string_not_equal(fmt_mark((enum tool_state)i, ascii),
                                        fmt_mark((enum tool_state)k, ascii));
    fmt_mark((enum tool_state)99, false);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(rows_say_what_runs),
        T(names_and_numbers_never_leave_the_row),
        T(the_strip_is_one_line),
        T(the_selected_one_is_seen),
        T(numbers),
        T(marks_differ),
        T(commands_in_the_background_stay_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
