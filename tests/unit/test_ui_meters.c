#include "unit/ui_help.h"

#include "base/text.h"

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
    canvas_init(&c, 120, 1);
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"trusted\":true,\"model\":\"claude-opus-5.5\","
              "\"mode\":"
              "\"default\",\"context_window\":200000}");
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
expect(int w, bool tiny, bool ascii, const char *want)
{
    canvas_resize(&c, w, 1);
    meters_draw(&v, &c, (struct rect){0, 0, w, 1}, tiny, ascii, clock_mono_ms());
    char *s = dumped(&c);
    assert_string_equal(s, want);
    free(s);
}

static void
busy(void)
{
    apply(&v, "{\"event\":\"usage\",\"input\":3200,\"output\":4100,\"cache_read\":87300,\"cache_"
              "write\":500,\"cost_usd\":0.42,\"budget_usd\":5}");
    apply(&v, "{\"event\":\"context\",\"used\":96000,\"window\":200000,\"state\":\"ok\"}");
    apply(&v, "{\"event\":\"turn\",\"phase\":\"end\",\"n\":7}");
}

static void
the_least_important_goes_first(void **state)
{
    (void)state;
    busy();
    expect(120, false, false,
           "default ─ opus-5.5 ─ ctx ▓▓▓▓▓░░░░░ 48% ─ in 91k (cache 96%) out 4.1k ─ $0.42 of $5 ─ "
           "turn 7");
    expect(90, false, false,
           "default ─ opus-5.5 ─ ctx ▓▓▓▓▓░░░░░ 48% ─ in 91k (cache 96%) out 4.1k ─ $0.42 of $5");
    expect(76, false, false,
           "default ─ opus-5.5 ─ ctx ▓▓▓▓▓░░░░░ 48% ─ in 91k out 4.1k ─ $0.42 of $5");
    expect(66, false, false, "default ─ opus-5.5 ─ ctx 48% ─ in 91k out 4.1k ─ $0.42 of $5");
    expect(50, false, false, "default ─ opus-5.5 ─ ctx 48% ─ $0.42 of $5");
    expect(40, true, false, "default  opus-5.5  ctx 48%  $0.42 of $5");
    expect(38, true, false, "default  ctx 48%  $0.42 of $5");
    expect(24, true, false, "default  ctx 48%  $0.42");
    expect(10, true, false, "default");
    expect(3, true, false, "def");
}

static void
no_width_breaks_it(void **state)
{
    (void)state;
    busy();
    apply(&v, "{\"event\":\"user\",\"text\":\"x\"}");
    for (int w = 1; w < 140; w++)
        for (int tiny = 0; tiny < 2; tiny++) {
            canvas_resize(&c, w + 1, 1);
            canvas_fill(&c, (struct rect){w, 0, 1, 1}, ST_BORDER, "|");
            meters_draw(&v, &c, (struct rect){0, 0, w, 1}, tiny, false, clock_mono_ms());
            assert_string_equal(c.cells[w].text, "|");
        }
}

static void
unknown_is_said(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"usage\",\"input\":10,\"output\":1,\"cost_usd\":-1,\"estimated\":true}");
    canvas_resize(&c, 120, 1);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, false, clock_mono_ms());
    assert_shows(&c, "in 10 (cache 0%) out 1 est ─ cost n/a");
    apply(&v, "{\"event\":\"context\",\"used\":180000,\"window\":200000,\"state\":\"warn\"}");
    canvas_clear(&c);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, true, clock_mono_ms());
    assert_shows(&c, "ctx #########. 90%!");
    apply(&v, "{\"event\":\"context\",\"used\":999999,\"window\":200000,\"state\":\"blocking\"}");
    canvas_clear(&c);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, true, clock_mono_ms());
    assert_shows(&c, "ctx ########## 500%!!");
}

static void
offline_is_no_model(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"trusted\":true,\"model\":\"offline\",\"mode\":"
              "\"plan\","
              "\"offline\":true}");
    canvas_resize(&c, 100, 1);
    meters_draw(&v, &c, (struct rect){0, 0, 100, 1}, false, false, clock_mono_ms());
    assert_shows(&c, "plan ─ offline pilot");
    assert_hides(&c, "$");
}

/* It costs more: said as long as the model itself is. */
static void
fast_stands_behind_the_model(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"trusted\":true,\"model\":\"claude-opus-5.5\","
              "\"fast\":true}");
    expect(60, true, false, "default  opus-5.5 fast  ctx ░░░░░░░░░░ 0%  $0");
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"trusted\":true,\"model\":\"claude-opus-5.5\","
              "\"fast\":false}");
    expect(60, true, false, "default  opus-5.5  ctx ░░░░░░░░░░ 0%  $0");
}

static void
work_shows_its_time(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"user\",\"text\":\"x\"}");
    now.mono_us += 65000000;
    canvas_resize(&c, 120, 1);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, true, clock_mono_ms());
    assert_shows(&c, " 1m05s");
    apply(&v, "{\"event\":\"retry\",\"attempt\":2,\"max_attempts\":10,\"delay_ms\":5000,\"err\":{"
              "\"number\":6,\"text\":\"overloaded\"}}");
    now.mono_us += 1500000;
    canvas_clear(&c);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, true, clock_mono_ms());
    assert_shows(&c, "retry 2 of 10 in 4s: overloaded");
    now.mono_us += 99000000;
    canvas_clear(&c);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, true, clock_mono_ms());
    assert_shows(&c, "retry 2 of 10 in 0s");
    canvas_resize(&c, 40, 1);
    meters_draw(&v, &c, (struct rect){0, 0, 40, 1}, true, true, clock_mono_ms());
    assert_shows(&c, "retry in 0s");
    apply(&v, "{\"event\":\"result\",\"exit\":\"completed\"}");
    canvas_resize(&c, 120, 1);
    meters_draw(&v, &c, (struct rect){0, 0, 120, 1}, false, true, clock_mono_ms());
    assert_hides(&c, "retry");
}

/* What is said at length in the transcript does not take the model's place. */
static void
a_long_reason_is_cut(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"session\",\"id\":\"1\",\"trusted\":true,\"model\":\"m-one\"}");
    apply(&v, "{\"event\":\"retry\",\"attempt\":3,\"max_attempts\":10,\"delay_ms\":5000,\"err\":{"
              "\"number\":6,"
              "\"text\":\"'127.0.0.1:8123': no connection (Failed to connect to 127.0.0.1 port "
              "8123 after 0 ms: "
              "Couldn't connect to server)\"}}");
    canvas_resize(&c, 118, 1);
    meters_draw(&v, &c, (struct rect){0, 0, 118, 1}, false, true, clock_mono_ms());
    assert_shows(&c, "m-one");
    assert_shows(&c, "retry 3 of 10 in 5s: '127.0.0.1:8123': no conn");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(the_least_important_goes_first),
        T(no_width_breaks_it),
        T(unknown_is_said),
        T(offline_is_no_model),
        T(fast_stands_behind_the_model),
        T(work_shows_its_time),
        T(a_long_reason_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
