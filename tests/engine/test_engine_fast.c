/* Fast mode: what the wire says of it, what it costs, and what becomes of it where it cannot be had. */
#include "engine/wire_rig.h"

#define BETA "fast-mode-2026-02-01"
#define OPUS "claude-opus-5-5"
#define USAGE(speed)                                                                               \
    "{\"text\":\"done\"},{\"usage\":{\"input_tokens\":1000000,\"output_tokens\":0,\"speed\":"      \
    "\"" speed "\"}}"
#define FAST USAGE("fast")
#define USUAL USAGE("standard")

static void
begin(struct session *s, const char *model, const char *settings, const char *const *responses,
      size_t n)
{
    begin_wire(s, model, responses, n);
    s->r.cfg.cli_settings = settings;
    s->r.cfg.context_window = 100000000; /* nothing is compacted here */
    start_engine(s);
}

static void
expect(const struct session *s, size_t request, const char *speed, const char *betas)
{
    struct cJSON *t = wire_server_logged(&s->srv, request);
    assert_non_null(t);
    assert_true(json_is_null(json_at(t, "illegal")));
    assert_string_equal(json_cstr(t, "body.speed", ""), speed);
    assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), betas);
    json_free(t);
}

static double
cost(const struct session *s)
{
    double usd = 0;
    for (size_t i = 0; i < s->r.n; i++)
        if (s->r.ev[i]->kind == EV_RESULT)
            usd = s->r.ev[i]->u.result.cost_usd;
    return usd;
}

static bool
is_near(double a, double b)
{
    return a > b - 0.0001 && a < b + 0.0001;
}

/* The header stays once it was named, the member of the body and the price go with the switch. */
static void
test_on_and_off(void **state)
{
    (void)state;
    static const char *const script[] = {USUAL, FAST, USUAL, FAST, USUAL};
    struct session s;
    begin(&s, OPUS, NULL, script, ARRAY_LEN(script));
    turn_with(&s, "one");
    assert_true(is_near(cost(&s), 4));
    rig_post(&s.r, OP_COMMAND, "/fast on");
    assert_true(rig_kind(&s.r, EV_SESSION)->u.session.fast);
    turn_with(&s, "two");
    assert_int_equal(rig_told(&s.r, "for 2 times the price"), 1);
    assert_true(is_near(cost(&s), 4 + 8));
    rig_post(&s.r, OP_COMMAND, "/fast off");
    assert_false(rig_kind(&s.r, EV_SESSION)->u.session.fast);
    turn_with(&s, "three");
    assert_true(is_near(cost(&s), 4 + 8 + 4));
    rig_post(&s.r, OP_COMMAND, "/fast");
    turn_with(&s, "four");
    rig_post(&s.r, OP_COMMAND, "/fast");
    rig_kind(&s.r, EV_SESSION);
    rig_post(&s.r, OP_COMMAND, "/clear");
    rig_kind(&s.r, EV_SESSION);
    turn_with(&s, "something else");
    expect(&s, 0, "", "");
    expect(&s, 1, "fast", BETA);
    expect(&s, 2, "", BETA);
    expect(&s, 3, "fast", BETA);
    expect(&s, 4, "", "");
    end_wire(&s);
}

static void
test_the_setting_and_a_resumed_session(void **state)
{
    (void)state;
    static const char *const script[] = {FAST, FAST, USUAL};
    struct session s;
    begin(&s, OPUS, "{\"fastMode\":true}", script, ARRAY_LEN(script));
    turn_with(&s, "one");
    char *id = xstrdup(engine_session_id(s.r.e));
    rig_stop(&s.r);
    s.r.cfg.resume_id = id;
    start_engine(&s);
    turn_with(&s, "two");
    /* what the journal says of the first is at its price, too, in the sum and in its row */
    assert_true(is_near(cost(&s), 16));
    struct cJSON *m = rig_ask(&s.r, QUERY_METERS, "");
    assert_int_equal(json_len(json_at(m, "requests")), 2);
    for (const struct cJSON *k = json_first(json_at(m, "requests")); k; k = json_next(k))
        assert_true(is_near(json_num(k, "cost_usd", 0), 8));
    json_free(m);
    rig_stop(&s.r);
    s.r.cfg.cli_settings = NULL;
    start_engine(&s);
    turn_with(&s, "three");
    expect(&s, 0, "fast", BETA);
    expect(&s, 1, "fast", BETA);
    expect(&s, 2, "", BETA); /* it was named before: leaving it out would void the cache */
    free(id);
    end_wire(&s);
}

/* A project's settings spend nobody's money. */
static void
test_a_projects_setting_does_not_count(void **state)
{
    (void)state;
    static const char *const script[] = {USUAL};
    struct session s;
    begin_wire(&s, OPUS, script, ARRAY_LEN(script));
    rig_put(&s.r, ".claude/settings.json", "{\"fastMode\":true}");
    s.r.cfg.trusted = true;
    start_engine(&s);
    turn_with(&s, "one");
    expect(&s, 0, "", "");
    end_wire(&s);
}

static void
test_a_model_without_it(void **state)
{
    (void)state;
    static const char *const script[] = {USUAL};
    struct session s;
    begin(&s, "claude-sonnet-5-5", NULL, script, ARRAY_LEN(script));
    rig_post(&s.r, OP_COMMAND, "/fast on");
    rig_post(&s.r, OP_COMMAND, "/fast maybe");
    turn_with(&s, "one");
    assert_int_equal(rig_told(&s.r, "this model has none. Models that have it: opus-5.5, opus-5"),
                     1);
    assert_int_equal(rig_told(&s.r, "/fast takes on or off, not 'maybe'"), 1);
    expect(&s, 0, "", "");
    end_wire(&s);
}

#define REFUSES(text)                                                                              \
    "{\"status\":400,\"body\":{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","  \
    "\"message\":\"" text "\"}}}"

/* Whatever it calls it: the header, the member, the thing. Other betas stay. */
static void
test_a_server_that_refuses_is_asked_without(void **state)
{
    (void)state;
    static const char *const refusals[] = {
        REFUSES("Unexpected value(s) `" BETA "` for the `anthropic-beta` header."),
        REFUSES("speed: Extra inputs are not permitted"),
        REFUSES("Fast mode is not available for this organization"),
    };
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const char *const script[] = {refusals[i], USUAL, USUAL};
        struct session s;
        begin(&s, OPUS, "{\"fastMode\":true}", script, ARRAY_LEN(script));
        struct op *op = op_new(OP_SET_MODE, NULL);
        op->mode = PERM_AUTO;
        engine_post(s.r.e, op);
        turn_with(&s, "one");
        turn_with(&s, "two");
        expect(&s, 0, "fast", "afk-mode-2026-01-31," BETA);
        expect(&s, 1, "", "afk-mode-2026-01-31");
        expect(&s, 2, "", "afk-mode-2026-01-31");
        assert_true(is_near(cost(&s), 8));
        rig_post(&s.r, OP_COMMAND, "/fast on");
        struct cJSON *state_json = rig_ask(&s.r, QUERY_STATE, "");
        assert_string_equal(json_cstr(state_json, "extensions.latches.refused.0", ""), "fast");
        json_free(state_json);
        assert_int_equal(rig_told(&s.r, "the server refused it"), 1);
        end_wire(&s);
    }
}

#define LIMITED(headers)                                                                           \
    "{\"status\":429,\"headers\":{" headers "},\"body\":{\"type\":\"error\",\"error\":{\"type\":"  \
    "\"rate_limit_error\",\"message\":\"This request would exceed the fast mode rate limit\"}}}"

/* Its limits are its own: the turn goes on at the usual speed at once; a short wait costs less than the cache does. */
static void
test_a_limit_of_its_own(void **state)
{
    (void)state;
    static const char *const script[] = {LIMITED("\"retry-after\":\"300\""), USUAL, USUAL};
    struct session s;
    begin(&s, OPUS, "{\"fastMode\":true}", script, ARRAY_LEN(script));
    turn_with(&s, "one");
    turn_with(&s, "two");
    expect(&s, 0, "fast", BETA);
    expect(&s, 1, "", BETA);
    expect(&s, 2, "", BETA);
    assert_int_equal(rig_told(&s.r, "at the usual speed for 10 min"), 1);
    assert_int_equal(rig_count(&s.r, EV_RETRY), 0);
    end_wire(&s);
}

static void
test_a_short_limit_is_waited_for(void **state)
{
    (void)state;
    static const char *const script[] = {LIMITED("\"retry-after\":\"1\""), FAST};
    struct session s;
    begin(&s, OPUS, "{\"fastMode\":true}", script, ARRAY_LEN(script));
    turn_with(&s, "one");
    expect(&s, 0, "fast", BETA);
    expect(&s, 1, "fast", BETA);
    assert_int_equal(rig_count(&s.r, EV_RETRY), 1);
    end_wire(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_and_off),
        cmocka_unit_test(test_the_setting_and_a_resumed_session),
        cmocka_unit_test(test_a_projects_setting_does_not_count),
        cmocka_unit_test(test_a_model_without_it),
        cmocka_unit_test(test_a_server_that_refuses_is_asked_without),
        cmocka_unit_test(test_a_limit_of_its_own),
        cmocka_unit_test(test_a_short_limit_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
