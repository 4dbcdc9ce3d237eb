/* Auto mode: when the classifier is given up, the rules it sets aside, repeated refusals, and the bill. */
#include "engine/afk_rig.h"

/* ---- limits ---- */

static void
test_three_blocks_fall_back_to_asking(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    reply_call(&r, "t1", "alpha");
    reply_call(&r, "t2", "beta");
    reply_call(&r, "t3", "gamma");
    reply_call(&r, "t4", "delta");
    reply_call(&r, "t5", "epsilon");
    rig_says(&r, "done");
    for (int i = 0; i < 3; i++)
        scripted_judge_says(r.script, BLOCK);
    scripted_judge_says(r.script, ALLOW);
    go(&r, "go");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_string_equal(ask->u.ask.tool_use_id, "t4");
    assert_non_null(
        strstr(classifier_said(&ask->u.ask.decision)->reason, "after 3 blocks in a row"));
    assert_int_equal(scripted_judge_requests(r.script), 3);
    assert_non_null(notice_with(&r, "from now on you are asked"));
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_result(&r); /* the answer brought it back: t5 was judged */
    assert_int_equal(scripted_judge_requests(r.script), 4);
    assert_int_equal(toys_runs(), 2);
    rig_end(&r);
}

/* An allow in between begins the row anew. */
static void
test_only_blocks_in_a_row_count(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    static const char *const commands[] = {"alpha", "beta", "gamma", "delta", "epsilon"};
    static const char *const said[] = {BLOCK, BLOCK, ALLOW, BLOCK, BLOCK};
    char ids[][3] = {"t1", "t2", "t3", "t4", "t5"};
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        reply_call(&r, ids[i], commands[i]);
        scripted_judge_says(r.script, said[i]);
    }
    rig_says(&r, "done");
    go(&r, "go");
    rig_result(&r);
    assert_int_equal(scripted_judge_requests(r.script), 5);
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
    assert_null(notice_with(&r, "from now on you are asked"));
    rig_end(&r);
}

static void
test_nobody_answers_while_away(void **state)
{
    (void)state;
    struct rig r;
    init_call(&r, "make x", ASK);
    rig_put_settings(&r, "{\"afk\":{\"max_wait\":1}}");
    go(&r, "go");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    const struct event *d = rig_kind(&r, EV_PERM_DECIDED);
    assert_false(d->u.decided.allowed);
    assert_string_equal(d->u.decided.who, "afk.max_wait");
    assert_int_equal(d->u.decided.ask_id, ask->u.ask.id);
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_non_null(strstr(rig_last_message(&r, 1), "not approved while away"));
    assert_int_equal(toys_runs(), 0);
    rig_end(&r);
}

/* What the person answered is over: the time that it would have waited ends nothing, and the next one has its own. */
static void
test_an_answer_ends_the_wait_of_its_own_request(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    rig_put_settings(&r, "{\"afk\":{\"max_wait\":1}}");
    reply_call(&r, "t1", "make x");
    reply_call(&r, "t2", "deploy y");
    rig_says(&r, "done");
    scripted_judge_says(r.script, ASK);
    scripted_judge_says(r.script, ASK);
    go(&r, "go");
    const struct event *one = rig_kind(&r, EV_PERM_ASK);
    rig_answer(&r, one->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    const struct event *d = rig_kind(&r, EV_PERM_DECIDED);
    assert_string_equal(d->u.decided.who, "person");
    d = rig_kind(&r, EV_PERM_DECIDED);
    assert_string_equal(d->u.decided.who, "afk.max_wait");
    assert_string_equal(d->u.decided.tool_use_id, "t2");
    assert_true(d->u.decided.waited_ms >= 1000);
    rig_result(&r);
    assert_int_equal(rig_count(&r, EV_PERM_DECIDED), 2);
    assert_int_equal(toys_runs(), 1);
    rig_end(&r);
}

/* Never three in a row, but twenty in all. */
static void
test_twenty_blocks_in_all_fall_back_too(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    for (int i = 0; i < 31; i++) {
        char id[16], command[32];
        snprintf(id, sizeof id, "t%d", i);
        snprintf(command, sizeof command, "program%d", i);
        reply_call(&r, id, command);
        if (i < 29)
            scripted_judge_says(r.script, i % 3 == 2 ? ALLOW : BLOCK);
    }
    rig_says(&r, "done");
    go(&r, "go");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_string_equal(ask->u.ask.tool_use_id, "t29");
    assert_non_null(strstr(classifier_said(&ask->u.ask.decision)->reason, "or 20 in all"));
    assert_int_equal(scripted_judge_requests(r.script), 29);
    assert_non_null(notice_with(&r, "20 in all"));
    rig_stop(&r);
    rig_end(&r);
}

/* Nobody can be asked: it says so once, and what the classifier would have judged is denied. */
static void
test_three_blocks_in_print_mode_deny_the_rest(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    r.cfg.interactive = false;
    r.cfg.print_mode = true;
    static const char *const commands[] = {"alpha", "beta", "gamma", "delta", "epsilon"};
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        reply_call(&r, commands[i], commands[i]);
    rig_says(&r, "done");
    for (int i = 0; i < 3; i++)
        scripted_judge_says(r.script, BLOCK);
    scripted_judge_says(r.script, ALLOW); /* would let the fourth through */
    go(&r, "go");
    assert_int_equal(rig_result(&r)->u.result.exit_code, 0);
    assert_int_equal(scripted_judge_requests(r.script), 3);
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
    assert_int_equal(toys_runs(), 0);
    const struct event *said =
        notice_with(&r, "is not asked any more: what no rule allows is denied");
    assert_non_null(said);
    size_t times = 0;
    for (size_t i = 0; i < r.n; i++)
        times += r.ev[i]->kind == EV_NOTICE && strstr(r.ev[i]->u.notice.text, "blocks") == NULL &&
                 strstr(r.ev[i]->u.notice.text, "is not asked any more") != NULL;
    assert_int_equal(times, 1);
    assert_non_null(strstr(rig_last_message(&r, 4), "3 blocks in a row")); /* the model knows why */
    rig_end(&r);
}

static void
test_with_nobody_there_what_asks_is_denied(void **state)
{
    (void)state;
    static const char *const said[] = {ALLOW, ASK, BLOCK, "junk"};
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct rig r;
        init(&r);
        r.cfg.interactive = false;
        r.cfg.print_mode = true;
        reply_call(&r, "t1", "make x");
        rig_says(&r, "done");
        scripted_judge_says(r.script, said[i]);
        go(&r, "go");
        assert_int_equal(rig_result(&r)->u.result.exit_code, 0);
        assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
        assert_int_equal(toys_runs(), i == 0);
        rig_end(&r);
    }
}

/* ---- rules that are set aside ---- */

static void
test_broad_rules_are_set_aside_and_told(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    r.cfg.mode = PERM_DEFAULT;
    rig_put_settings(&r, "{\"permissions\":{\"allow\":[\"Bash(*)\",\"Bash(git log:*)\"]}}");
    reply_call(&r, "t1", "make x");
    rig_says(&r, "done");
    reply_call(&r, "t2", "make x");
    rig_says(&r, "done");
    scripted_judge_says(r.script, ALLOW);
    go(&r, "go");
    rig_result(&r);
    assert_int_equal(scripted_judge_requests(r.script), 0);
    set_mode(&r, PERM_AUTO);
    rig_submit(&r, "again");
    assert_int_equal(scripted_judge_requests(r.script), 1);
    const struct event *n = notice_with(&r, "sets aside");
    assert_non_null(n);
    assert_non_null(strstr(n->u.notice.text, "Bash(*)"));
    assert_null(strstr(n->u.notice.text, "git log"));
    rig_end(&r);
}

/* ---- repeated refusals, in every mode ---- */

static void
test_the_third_refusal_of_a_kind_stops_it(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    r.cfg.mode = PERM_DEFAULT;
    reply_call(&r, "t1", "npm publish a");
    reply_call(&r, "t2", "npm publish b");
    reply_call(&r, "t3", "npm publish c");
    reply_call(&r, "t4", "npm publish d");
    reply_call(&r, "t5", "make x");
    rig_says(&r, "done");
    reply_call(&r, "t6", "npm publish e");
    rig_says(&r, "done");
    go(&r, "go");
    for (int i = 0; i < 4; i++) {
        const struct event *ask = rig_kind(&r, EV_PERM_ASK);
        assert_string_not_equal(ask->u.ask.tool_use_id, "t4");
        rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, NULL, NULL);
    }
    rig_result(&r);
    assert_non_null(strstr(rig_last_message(&r, 4), "were refused 3 times in this turn"));
    assert_non_null(notice_with(&r, "refused 3 times: "));
    rig_post(&r, OP_SUBMIT, "again");
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_string_equal(ask->u.ask.tool_use_id, "t6");
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, NULL, NULL);
    rig_result(&r);
    rig_end(&r);
}

static void
test_a_deny_rule_that_is_run_into_stops_too(void **state)
{
    (void)state;
    struct rig r;
    init(&r);
    r.cfg.mode = PERM_DEFAULT;
    rig_put_settings(&r, "{\"permissions\":{\"deny\":[\"Bash(curl:*)\"]}}");
    reply_call(&r, "t1", "curl a");
    reply_call(&r, "t2", "curl b");
    reply_call(&r, "t3", "curl c");
    reply_call(&r, "t4", "curl d");
    rig_says(&r, "done");
    go(&r, "go");
    rig_result(&r);
    assert_null(strstr(rig_last_message(&r, 3), "were refused 3 times"));
    assert_non_null(strstr(rig_last_message(&r, 4), "were refused 3 times"));
    assert_non_null(notice_with(&r, "denied 3 times by a rule: Bash(curl:*)"));
    rig_end(&r);
}

/* ---- the bill ---- */

static void
test_it_is_paid_for(void **state)
{
    (void)state;
    struct rig r;
    init_call(&r, "make x", ALLOW);
    go(&r, "go");
    rig_result(&r);
    struct cJSON *t = rig_ask(&r, QUERY_METERS, NULL);
    int main_requests = 0, judged = 0;
    for (const struct cJSON *q = json_first(json_at(t, "requests")); q; q = json_next(q)) {
        main_requests += strcmp(json_cstr(q, "purpose", ""), "main") == 0;
        judged += strcmp(json_cstr(q, "purpose", ""), "classifier") == 0;
    }
    assert_int_equal(main_requests, 2);
    assert_int_equal(judged, 1);
    json_free(t);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_blocks_fall_back_to_asking),
        cmocka_unit_test(test_only_blocks_in_a_row_count),
        cmocka_unit_test(test_nobody_answers_while_away),
        cmocka_unit_test(test_an_answer_ends_the_wait_of_its_own_request),
        cmocka_unit_test(test_twenty_blocks_in_all_fall_back_too),
        cmocka_unit_test(test_three_blocks_in_print_mode_deny_the_rest),
        cmocka_unit_test(test_with_nobody_there_what_asks_is_denied),
        cmocka_unit_test(test_broad_rules_are_set_aside_and_told),
        cmocka_unit_test(test_the_third_refusal_of_a_kind_stops_it),
        cmocka_unit_test(test_a_deny_rule_that_is_run_into_stops_too),
        cmocka_unit_test(test_it_is_paid_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
