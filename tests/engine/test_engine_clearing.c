/* The tier that has the server clear old results, through the whole engine and its wire: the request asks for it, the history here stays
 * as it is (the server refuses a request that does not extend the one before), and what the answer says was cleared is accounted for. */
#include "engine/wire_rig.h"

#define BETA "context-management-2025-06-27"
#define MODEL "claude-sonnet-5-5"
#define WINDOW 20000
#define SAYS(tokens) "{\"text\":\"I have read it.\"},{\"usage\":{\"input_tokens\":" tokens "}}"
#define CLEARED                                                                                    \
    "{\"applied_edits\":[{\"type\":\"clear_tool_uses_20250919\",\"cleared_tool_uses\":3,"          \
    "\"cleared_input_tokens\":6000}]}"

static void
begin(struct session *s, const char *const *responses, size_t n)
{
    begin_wire(s, MODEL, responses, n);
    s->r.cfg.context_window = WINDOW;
    start_engine(s);
}

static void
turn(struct session *s)
{
    turn_with(s, "read on");
}

/* Does request n ask for it? With its beta, or not at all. */
static bool
asks_to_clear(const struct session *s, size_t n)
{
    struct cJSON *t = wire_server_logged(&s->srv, n);
    assert_non_null(t);
    assert_true(json_is_null(json_at(t, "illegal")));
    bool asks = json_at(t, "body.context_management") != NULL;
    assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), asks ? BETA : "");
    if (asks) {
        assert_int_equal(json_len(json_at(t, "body.context_management.edits")), 1);
        const struct cJSON *e = json_at(t, "body.context_management.edits.0");
        assert_string_equal(json_cstr(e, "type", ""), "clear_tool_uses_20250919");
        assert_int_equal(json_int(e, "trigger.value", 0), WINDOW * 68 / 100);
        assert_int_equal(json_int(e, "clear_at_least.value", 0), WINDOW / 10);
    }
    json_free(t);
    return asks;
}

/* The messages of request n are those of request n - 1 and two more, whatever the server leaves out of them. */
static void
expect_untouched(const struct session *s, size_t n)
{
    struct cJSON *one = wire_server_logged(&s->srv, n - 1), *two = wire_server_logged(&s->srv, n);
    size_t before = json_len(json_at(one, "body.messages"));
    assert_int_equal(json_len(json_at(two, "body.messages")), before + 2);
    json_free(one);
    json_free(two);
}

static const struct event *
micro_end(const struct session *s, size_t *ret_n)
{
    const struct event *last = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < s->r.n; i++) {
        const struct event *e = s->r.ev[i];
        if (e->kind != EV_COMPACT || e->phase != PHASE_END)
            continue;
        assert_string_equal(e->u.compact.tier, "micro"); /* no other tier has anything to do */
        last = e;
        ++*ret_n;
    }
    return last;
}

static void
test_the_request_asks_and_the_answer_is_accounted_for(void **state)
{
    (void)state;
    static const char *const script[] = {SAYS("5000"), SAYS("14500"), SAYS("9000") "," CLEARED,
                                         SAYS("9100") "," CLEARED, SAYS("9200")};
    struct session s;
    size_t n;
    begin(&s, script, ARRAY_LEN(script));
    turn(&s);
    turn(&s);
    micro_end(&s, &n);
    assert_int_equal(n, 0);
    turn(&s); /* 72 % full: asked for, and done */
    const struct event *e = micro_end(&s, &n);
    assert_int_equal(n, 1);
    assert_int_equal(e->u.compact.before - e->u.compact.after, 6000);
    assert_false(e->u.compact.failed);
    turn(&s); /* far below it, and still asked for; the same three uses are no news */
    micro_end(&s, &n);
    assert_int_equal(n, 1);
    assert_false(asks_to_clear(&s, 0));
    assert_false(asks_to_clear(&s, 1));
    assert_true(asks_to_clear(&s, 2));
    assert_true(asks_to_clear(&s, 3));
    for (size_t i = 1; i < 4; i++)
        expect_untouched(&s, i);
    struct cJSON *state_json = rig_ask(&s.r, QUERY_STATE, "");
    assert_true(json_bool(state_json, "extensions.latches.cache_editing", false));
    json_free(state_json);
    struct cJSON *meters = rig_ask(&s.r, QUERY_METERS, "");
    const struct cJSON *row = json_first(json_at(meters, "tiers"));
    while (row && strcmp(json_cstr(row, "name", ""), "micro") != 0)
        row = json_next(row);
    assert_non_null(row);
    assert_int_equal(json_int(row, "before", 0) - json_int(row, "after", 0), 6000);
    json_free(meters);
    end_wire(&s);
}

static void
test_a_resumed_session_asks_at_once_and_a_new_one_does_not(void **state)
{
    (void)state;
    static const char *const script[] = {SAYS("14500"), SAYS("9000") "," CLEARED, SAYS("9100"),
                                         SAYS("500"), SAYS("600")};
    struct session s;
    begin(&s, script, ARRAY_LEN(script));
    turn(&s);
    turn(&s);
    char *id = xstrdup(engine_session_id(s.r.e));
    rig_stop(&s.r);
    s.r.cfg.resume_id = id;
    start_engine(&s);
    turn(&s);
    rig_post(&s.r, OP_COMMAND, "/clear");
    rig_kind(&s.r, EV_SESSION);
    turn_with(&s, "something else");
    assert_true(asks_to_clear(&s, 1));
    assert_true(asks_to_clear(&s, 2));
    assert_false(asks_to_clear(&s, 3));
    free(id);
    end_wire(&s);
}

/* Much old thinking is cleared with it; a little is not worth what it costs the cache. */
static void
test_old_thinking_goes_where_there_is_much(void **state)
{
    (void)state;
    for (int much = 0; much < 2; much++) {
        char thought[3001], *turns[5];
        struct session s;
        memset(thought, 't', sizeof thought);
        thought[much ? 3000 : 30] = '\0';
        for (int i = 0; i < 5; i++)
            turns[i] =
                xasprintf("{\"thinking\":\"%s\"}," SAYS("%d"), thought, i < 3 ? 5000 : 14500);
        begin(&s, (const char *const *)turns, 5);
        for (int i = 0; i < 5; i++)
            turn(&s);
        struct cJSON *t = wire_server_logged(&s.srv, 4);
        assert_true(json_is_null(json_at(t, "illegal")));
        assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), BETA);
        assert_int_equal(json_len(json_at(t, "body.context_management.edits")), 1 + much);
        assert_string_equal(json_cstr(t, "body.context_management.edits.0.type", ""),
                            much ? "clear_thinking_20251015" : "clear_tool_uses_20250919");
        json_free(t);
        for (int i = 0; i < 5; i++)
            free(turns[i]);
        end_wire(&s);
    }
}

/* A server that does not take it: asked again at once without, and never again. */
static void
test_a_server_that_refuses_is_asked_without(void **state)
{
    (void)state;
    static const char *const script[] = {
        SAYS("14500"),
        "{\"status\":400,\"body\":{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_"
        "error\","
        "\"message\":\"context_management: Extra inputs are not permitted\"}}}",
        SAYS("14600"), SAYS("14700")};
    struct session s;
    size_t n;
    begin(&s, script, ARRAY_LEN(script));
    turn(&s);
    turn(&s);
    turn(&s);
    assert_true(asks_to_clear(&s, 1));
    assert_false(asks_to_clear(&s, 2));
    assert_false(asks_to_clear(&s, 3));
    micro_end(&s, &n);
    assert_int_equal(n, 0); /* nothing was cleared, and nothing is said to be */
    struct cJSON *state_json = rig_ask(&s.r, QUERY_STATE, "");
    assert_string_equal(json_cstr(state_json, "extensions.latches.refused.0", ""), "cache_editing");
    json_free(state_json);
    end_wire(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_request_asks_and_the_answer_is_accounted_for),
        cmocka_unit_test(test_a_resumed_session_asks_at_once_and_a_new_one_does_not),
        cmocka_unit_test(test_old_thinking_goes_where_there_is_much),
        cmocka_unit_test(test_a_server_that_refuses_is_asked_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
