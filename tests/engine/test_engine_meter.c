/* The meters against what was asked and answered: every request with its purpose, each figure the server's, none made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fakes/rig.h"

static size_t
with_purpose(const struct cJSON *m, const char *purpose)
{
    size_t n = 0;
    for (const struct cJSON *k = json_first(json_at(m, "requests")); k; k = json_next(k))
        n += str_is(json_str(k, "purpose"), purpose);
    return n;
}

static size_t
asked(const struct rig *r)
{
    return scripted_requests(r->script) + scripted_judge_requests(r->script) +
           scripted_side_requests(r->script);
}

/* In auto mode the classifier asks too: what the fakes were asked is what the page lists, and nothing is asked when nobody works. */
static void
test_every_request_has_its_row(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams.perm_check = NULL; /* the real chain */
    r.seams.bash_read_only = NULL;
    r.seams.perm_suggest = NULL;
    r.cfg.mode = PERM_AUTO;
    r.cfg.mode_given = true;
    r.cfg.sandbox = "off";
    r.cfg.model = "claude-opus-5-5";
    r.rewrites = true;
    rig_calls(&r, "t1", "Bash", "{\"command\":\"make x\"}");
    rig_says(&r, "done");
    scripted_judge_says(r.script,
                        "{\"verdict\":\"allow\",\"confidence\":0.95,\"reason\":\"fine\"}");
    scripted_side_says(r.script, "## Task\nbuild x\n## State\nit is built\n");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "build x");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    rig_post(&r, OP_COMPACT, NULL);
    while (rig_kind(&r, EV_COMPACT)->phase != PHASE_END)
        ;
    struct cJSON *m = rig_ask(&r, QUERY_METERS, NULL);
    assert_int_equal(with_purpose(m, "main"), scripted_requests(r.script));
    assert_int_equal(with_purpose(m, "classifier"), scripted_judge_requests(r.script));
    assert_int_equal(with_purpose(m, "compact"), scripted_side_requests(r.script));
    assert_int_equal(scripted_side_requests(r.script), 1);
    assert_int_equal(json_len(json_at(m, "requests")), asked(&r));
    size_t before = asked(&r);
    json_free(m);
    m = rig_ask(&r, QUERY_METERS, NULL); /* the engine has been round its loop, and asked nobody */
    assert_int_equal(asked(&r), before);
    json_free(m);
    rig_end(&r);
}

/* The rows of the models add up to the whole, whatever was switched in between. */
static void
test_models_add_up(void **state)
{
    (void)state;
    struct rig r;
    static const char *const ids[] = {"claude-opus-5-5", "claude-haiku-4-5", "no-such-model"};
    rig_init(&r);
    r.cfg.model = ids[0];
    for (int i = 0; i < 3; i++) {
        scripted_reply(r.script);
        scripted_text(r.script, "fine");
        scripted_cache(r.script, 30000 + i, 4000 + i);
        scripted_usage(r.script, 1000 + 100 * i, 10 + i);
        scripted_end(r.script, STOP_END_TURN);
    }
    rig_start(&r);
    for (int i = 0; i < 3; i++) {
        if (i)
            rig_post(&r, OP_SET_MODEL, ids[i]);
        rig_post(&r, OP_SUBMIT, "go");
        (void)rig_result(&r);
    }
    struct cJSON *m = rig_ask(&r, QUERY_METERS, NULL);
    int64_t in = 0, out = 0, read = 0, write = 0;
    size_t n = 0;
    for (const struct cJSON *k = json_first(json_at(m, "models")); k; k = json_next(k), n++) {
        in += json_int(k, "input", 0);
        out += json_int(k, "output", 0);
        read += json_int(k, "cache_read", 0);
        write += json_int(k, "cache_write", 0);
    }
    assert_int_equal(n, 3);
    assert_int_equal(in, 3300);
    assert_int_equal(out, 33);
    assert_int_equal(read, 90003);
    assert_int_equal(write, 12003);
    assert_true(json_is_null(json_at(m, "cost_usd"))); /* one of them has no price: never $0 */
    json_free(m);
    rig_end(&r);
}

/* Results that were cut before anybody had them were in no cache: they explain no break of it. */
static void
test_a_cut_result_breaks_no_cache(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.model = "claude-opus-5-5";
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\",\"size\":70000}");
    scripted_cache(r.script, 0, 50000);
    scripted_end(r.script, STOP_TOOL_USE);
    scripted_reply(r.script);
    scripted_text(r.script, "seen");
    scripted_cache(r.script, 0, 60000);
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "read it");
    const struct event *e = rig_kind(&r, EV_CACHE_BREAK);
    assert_string_equal(e->u.cache_break.reason, "the server no longer had it");
    assert_false(e->u.cache_break.expected);
    (void)rig_result(&r);
    assert_int_equal(rig_count(&r, EV_COMPACT), 2);
    rig_end(&r);
}

static void
test_no_usage_is_an_estimate_and_says_so(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "an answer of a server that counts nothing");
    scripted_end_with(r.script, STOP_END_TURN, 0, 0);
    rig_start(&r);
    rig_submit(&r, "count this");
    struct cJSON *m = rig_ask(&r, QUERY_METERS, NULL);
    assert_true(json_bool(m, "estimated", false));
    assert_true(json_bool(m, "requests.0.estimated", false));
    assert_true(json_int(m, "requests.0.input", 0) > 0);
    assert_true(json_int(m, "requests.0.output", 0) > 0);
    json_free(m);
    rig_end(&r);
}

/* A limit of the person's own wins over the catalogue: in the meter, and in what an answer may have. */
static void
test_an_own_limit_wins(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.cfg.model = "claude-opus-5-5"; /* a million by the catalogue */
    r.cfg.context_window = 40000;
    scripted_reply(r.script);
    scripted_text(r.script, "fine");
    scripted_usage(r.script, 31000, 10);
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    rig_submit(&r, "go");
    struct cJSON *m = rig_ask(&r, QUERY_METERS, NULL);
    assert_int_equal(json_int(m, "context.window", 0), 40000);
    assert_string_equal(json_cstr(m, "context.state", ""), "warn");
    json_free(m);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_request_has_its_row),
        cmocka_unit_test(test_models_add_up),
        cmocka_unit_test(test_a_cut_result_breaks_no_cache),
        cmocka_unit_test(test_no_usage_is_an_estimate_and_says_so),
        cmocka_unit_test(test_an_own_limit_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
