#include "unit/ui_help.h"

static bool
inside(struct rect r, int w, int h)
{
    if (r.w == 0 || r.h == 0)
        return r.w >= 0 && r.h >= 0;
    return r.x >= 0 && r.y >= 0 && r.w > 0 && r.h > 0 && r.x + r.w <= w && r.y + r.h <= h;
}

static bool
apart(struct rect a, struct rect b)
{
    return !a.h || !b.h || !a.w || !b.w || a.x + a.w <= b.x || b.x + b.w <= a.x ||
           a.y + a.h <= b.y || b.y + b.h <= a.y;
}

static void
check_size(const struct view *v, int w, int h, int rows)
{
    struct layout l;
    layout_make(v, w, h, rows, &l);
    const struct rect all[] = {l.transcript, l.activity, l.approval, l.todos, l.prompt, l.status};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!inside(all[i], w, h))
            fail_msg("pane %zu at %dx%d: %d,%d %dx%d", i, w, h, all[i].x, all[i].y, all[i].w,
                     all[i].h);
        for (size_t k = 0; k < i; k++)
            if (!apart(all[i], all[k]))
                fail_msg("panes %zu and %zu overlap at %dx%d", k, i, w, h);
    }
    assert_true(l.prompt.h >= 1);
    assert_true(l.prompt.h <= (h / 3 > 1 ? h / 3 : 1));
    if (v->n_asks && h >= 3)
        assert_true(l.approval.h >= 1);
    if (h >= 8 && !v->n_asks)
        assert_true(l.transcript.h >= 1);
}

static void
no_size_breaks_it(void **state)
{
    (void)state;
    struct view v;
    view_init(&v);
    for (int what = 0; what < 8; what++) {
        v.show_todos = what & 1;
        v.full = what & 2;
        if (what == 4)
            apply(&v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Bash\","
                      "\"command\":\"make\"}");
        for (int w = 1; w <= 130; w++)
            for (int h = 1; h <= 70; h++)
                check_size(&v, w, h, 1 + (w + h) % 40);
    }
    struct layout l;
    layout_make(&v, 0, 5, 1, &l);
    assert_int_equal(l.prompt.h, 0);
    layout_make(&v, -3, -5, 1, &l);
    assert_int_equal(l.prompt.h, 0);
    view_release(&v);
}

static void
places_are_those_of_the_paper(void **state)
{
    (void)state;
    struct view v;
    struct layout l;
    view_init(&v);
    layout_make(&v, 100, 30, 1, &l);
    assert_true(l.side_x > 0);
    assert_true(100 - l.side_x >= 32);
    assert_false(l.strip);
    layout_make(&v, 99, 30, 1, &l);
    assert_int_equal(l.side_x, -1);
    assert_true(l.strip);
    assert_int_equal(l.activity.h, 1);
    assert_int_equal(l.activity.y, l.prompt.y - 1);
    layout_make(&v, 60, 16, 1, &l);
    assert_false(l.tiny);
    layout_make(&v, 59, 16, 1, &l);
    assert_true(l.tiny);
    layout_make(&v, 60, 15, 1, &l);
    assert_true(l.tiny);
    assert_int_equal(l.activity.y, l.prompt.y - 1); /* on the rule, drawn while it has the focus */
    assert_true(l.transcript.h > 0);
    apply(&v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Bash\","
              "\"command\":\"make\"}");
    layout_make(&v, 60, 15, 1, &l);
    assert_int_equal(l.transcript.h, 0); /* it is replaced until answered */
    layout_make(&v, 80, 24, 1, &l);
    assert_true(l.approval.y > l.transcript.y + l.transcript.h);
    assert_true(l.approval.h >= l.transcript.h - 1);
    view_release(&v);
}

static void
the_side_column_does_not_jump(void **state)
{
    (void)state;
    struct view v;
    struct layout a, b;
    view_init(&v);
    apply(&v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Bash\","
              "\"command\":\"make\"}");
    layout_make(&v, 120, 40, 1, &a);
    for (int i = 0; i < 20; i++)
        applyf(&v,
               "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"x%d\",\"name\":\"Bash\",\"state\":"
               "\"running\"}",
               i);
    layout_make(&v, 120, 40, 1, &b);
    assert_memory_equal(&a.approval, &b.approval, sizeof(a.approval));
    view_release(&v);
}

/* What is asked comes first, but what runs stays in sight; where there is no column beside, half is half. */
static void
the_pane_beside_grows_to_the_request(void **state)
{
    (void)state;
    struct view v;
    struct layout l;
    view_init(&v);
    apply(&v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Bash\","
              "\"command\":\"make\"}");
    layout_make(&v, 120, 40, 1, &l);
    int before = l.approval.h, both = l.approval.h + l.activity.h;
    v.ask_rows = before - 1;
    layout_make(&v, 120, 40, 1, &l);
    assert_int_equal(l.approval.h, before);
    v.ask_rows = before + 2;
    layout_make(&v, 120, 40, 1, &l);
    assert_int_equal(l.approval.h, before + 2);
    assert_int_equal(l.approval.h + l.activity.h, both);
    v.ask_rows = 1000;
    layout_make(&v, 120, 40, 1, &l);
    assert_int_equal(l.activity.h, 3);
    assert_int_equal(l.approval.h, both - 3);
    layout_make(&v, 80, 24, 1, &l);
    int half = l.approval.h;
    v.ask_rows = 0;
    layout_make(&v, 80, 24, 1, &l);
    assert_int_equal(l.approval.h, half);
    view_release(&v);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_size_breaks_it),
        cmocka_unit_test(places_are_those_of_the_paper),
        cmocka_unit_test(the_side_column_does_not_jump),
        cmocka_unit_test(the_pane_beside_grows_to_the_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
