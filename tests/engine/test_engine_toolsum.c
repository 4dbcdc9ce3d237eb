/* A line over a finished batch of calls: written beside the next request, dropped when it comes late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "model/catalog.h"

static void
begin(struct rig *r)
{
    struct err err = {0};
    rig_init(r);
    char *path = fs_join(r->dir, "models.json");
    assert_true(
        fs_write_atomic(path,
                        STR("{\"models\":[{\"id\":\"tiny\",\"provider\":\"scripted\",\"small\":"
                            "true,\"context\":100000,\"max_output\":1000},"
                            "{\"id\":\"scripted\",\"provider\":\"scripted\",\"context\":100000,"
                            "\"max_output\":8000}]}"),
                        0600, &err));
    catalog_load(path, &err);
    assert_string_equal(err.text, "");
    free(path);
}

static void
batch(struct rig *r, size_t n)
{
    static const char *const ids[] = {"t1", "t2", "t3"};
    scripted_reply(r->script);
    for (size_t i = 0; i < n; i++)
        scripted_tool(r->script, ids[i], "Read", "{\"name\":\"a\"}");
    scripted_end(r->script, STOP_TOOL_USE);
}

/* Asks for the batch and waits for its line, which comes while the model's next answer waits behind gate 1. */
static const struct event *
read_until_line(struct rig *r)
{
    rig_says_behind(r, 1, "done");
    rig_start(r);
    rig_post(r, OP_SUBMIT, "read them");
    return rig_kind(r, EV_TOOL_SUMMARY);
}

static void
test_a_line_comes_over_the_batch(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    batch(&r, 3);
    scripted_side_says(r.script, "**Read three files.**\nmore");
    const struct event *e = read_until_line(&r);
    assert_string_equal(e->u.tool_summary.text, "Read three files");
    assert_string_equal(e->u.tool_summary.calls, "[\"t1\",\"t2\",\"t3\"]");
    scripted_open_gate(r.script, 1);
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    const struct scripted_request *q = scripted_side_request(r.script, 0);
    assert_string_equal(q->model, "tiny");
    assert_non_null(strstr(q->messages[0], "3. Read "));
    rig_end(&r);
}

/* An answer that was cut off: its line ends open, unless another one had begun. */
static void
test_a_line_that_was_cut_off_says_so(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Read three files and cou", "Read three files and cou..."},
        {"Read three files\nand cou", "Read three files"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        begin(&r);
        batch(&r, 3);
        scripted_side_reply(r.script);
        scripted_text(r.script, rows[i][0]);
        scripted_end(r.script, STOP_MAX_TOKENS);
        assert_string_equal(read_until_line(&r)->u.tool_summary.text, rows[i][1]);
        scripted_open_gate(r.script, 1);
        assert_string_equal(rig_result(&r)->u.result.exit, "completed");
        rig_end(&r);
    }
}

/* Its session is opened again, then forked: the line stands there as before. */
static void
test_the_line_is_there_again_when_resumed(void **state)
{
    (void)state;
    struct rig r;
    char id[37];
    begin(&r);
    batch(&r, 3);
    scripted_side_says(r.script, "Read three files");
    read_until_line(&r);
    scripted_open_gate(r.script, 1);
    rig_result(&r);
    for (int fork = 0; fork < 3; fork++) {
        snprintf(id, sizeof id, "%s", engine_session_id(r.e));
        rig_stop(&r);
        r.cfg.resume_id = id;
        r.cfg.fork = fork == 1;
        rig_start(&r);
        const struct event *e = rig_kind(&r, EV_TOOL_SUMMARY);
        assert_string_equal(e->u.tool_summary.text, "Read three files");
        assert_string_equal(e->u.tool_summary.calls, "[\"t1\",\"t2\",\"t3\"]");
    }
    assert_int_equal(rig_count(&r, EV_TOOL_SUMMARY), 4);
    rig_end(&r);
}

static void
test_a_late_line_is_dropped(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    batch(&r, 3);
    scripted_side_reply(r.script);
    scripted_gate(r.script, 2); /* never opened */
    scripted_end(r.script, STOP_END_TURN);
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "read them");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    rig_stop(&r);
    assert_int_equal(rig_count(&r, EV_TOOL_SUMMARY), 0);
    rig_end(&r);
}

static bool
counts(const struct event *e, const void *arg)
{
    return e->kind == EV_USAGE && e->u.usage.input == *(const int64_t *)arg;
}

/* The server has worked on it all the same: what it says that it cost is counted once it is said, to the token. */
static void
test_a_late_line_is_paid_for_all_the_same(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    batch(&r, 3); /* 100 tokens of input */
    scripted_side_reply(r.script);
    scripted_gate(r.script, 2);
    scripted_text(r.script, "Read three files");
    scripted_end_with(r.script, STOP_END_TURN, 777, 5);
    rig_says(&r, "done"); /* 100 more */
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "read them");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    scripted_open_gate(r.script, 2);
    const int64_t all = 100 + 100 + 777;
    assert_int_equal(rig_until(&r, counts, &all)->u.usage.output, 10 + 10 + 5);
    assert_int_equal(rig_count(&r, EV_TOOL_SUMMARY), 0);
    rig_end(&r);
}

/* A server that says no figures: an estimate, marked as one, never nothing. */
static void
test_a_call_without_figures_is_an_estimate(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    batch(&r, 3);
    scripted_side_reply(r.script);
    scripted_text(r.script, "Read three files");
    scripted_end_with(r.script, STOP_END_TURN, 0, 0);
    read_until_line(&r);
    scripted_open_gate(r.script, 1);
    rig_result(&r);
    struct cJSON *cost = rig_ask(&r, QUERY_METERS, "");
    const struct cJSON *row = NULL;
    for (const struct cJSON *k = json_first(json_at(cost, "requests")); k; k = json_next(k))
        if (strcmp(json_cstr(k, "purpose", ""), "tool-summary") == 0)
            row = k;
    assert_non_null(row);
    assert_true(json_int(row, "input", 0) > 20);
    assert_true(json_int(row, "output", 0) > 0);
    assert_true(json_bool(row, "estimated", false));
    json_free(cost);
    rig_end(&r);
}

/* n calls with these settings, in print mode or not: nobody is asked. */
static void
expect_none(size_t n, const char *settings, const char *model, bool print_mode)
{
    struct rig r;
    begin(&r);
    r.cfg.model = model;
    r.cfg.cli_settings = settings;
    r.cfg.print_mode = print_mode;
    batch(&r, n);
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "read them");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(scripted_side_requests(r.script), 0);
    rig_end(&r);
}

static void
test_few_calls_a_setting_an_unknown_model_and_print_mode_have_none(void **state)
{
    (void)state;
    expect_none(2, NULL, "scripted", false);
    expect_none(3, "{\"toolSummary\":false}", "scripted", false);
    expect_none(3, NULL, "unheard-of", false);
    expect_none(3, NULL, "scripted", true);
}

/* Where the small model may be missing the person can still want it. */
static void
test_a_setting_asks_an_unknown_server_too(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.model = "unheard-of";
    r.cfg.cli_settings = "{\"toolSummary\":true}";
    batch(&r, 3);
    scripted_side_says(r.script, "Read three files");
    read_until_line(&r);
    scripted_open_gate(r.script, 1);
    rig_result(&r);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_comes_over_the_batch),
        cmocka_unit_test(test_a_line_that_was_cut_off_says_so),
        cmocka_unit_test(test_the_line_is_there_again_when_resumed),
        cmocka_unit_test(test_a_late_line_is_dropped),
        cmocka_unit_test(test_a_late_line_is_paid_for_all_the_same),
        cmocka_unit_test(test_a_call_without_figures_is_an_estimate),
        cmocka_unit_test(test_few_calls_a_setting_an_unknown_model_and_print_mode_have_none),
        cmocka_unit_test(test_a_setting_asks_an_unknown_server_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
