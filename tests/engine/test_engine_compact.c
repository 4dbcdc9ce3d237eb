/* Compaction through the whole engine: what survives it, when it comes, and what its failures leave. */
#include "engine/compact_rig.h"

/* ---- what it leaves ---- */

static void
test_a_summary_takes_the_conversations_place(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_put(&r, "CLAUDE.md", "Always say please.");
    says(&r, "an answer that is long gone", 5000);
    says(&r, "another answer", 6000);
    says(&r, "it went on", 300);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "count the columns");
    rig_submit(&r, "and the lines");
    rig_post(&r, OP_COMMAND, "/pin the API must stay");
    rig_until(&r, is_notice, "pinned");
    const struct event *e = compact(&r, "the error text");
    assert_false(e->u.compact.failed);
    assert_string_equal(e->u.compact.tier, "person");
    assert_has(e->u.compact.text, "compacted 6.");
    assert_has(e->u.compact.text, " tokens");
    assert_true(e->u.compact.after < e->u.compact.before);
    const struct scripted_request *q = scripted_side_request(r.script, 0);
    assert_int_equal(q->n_messages, 1);
    assert_has(q->messages[0], "an answer that is long gone");
    assert_has(q->messages[0], "the error text");
    assert_lacks(q->messages[0], "Always say please"); /* it is read again */
    assert_has(q->system, "## Next step");
    rig_submit(&r, "go on");
    q = rig_last_request(&r);
    assert_int_equal(q->n_messages, 3);
    assert_has(q->messages[0], OPEN);
    assert_has(q->messages[0], "Always say please.");
    assert_has(q->messages[0], "1. the API must stay");
    assert_has(q->messages[0], "## Next step\\nRun the linter.");
    assert_has(q->messages[0], "<person-message>\\nand the lines\\n</person-message>");
    assert_lacks(q->messages[0], "long gone");
    assert_has(q->messages[2], "go on");
    rig_end(&r);
}

static void
test_root_memory_is_read_again_from_disk(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_put(&r, "CLAUDE.md", "the first rules");
    says(&r, "hello", 500);
    says(&r, "hello again", 500);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "hi");
    rig_put(&r, "CLAUDE.md", "the second rules");
    compact(&r, NULL);
    rig_submit(&r, "hi again");
    assert_has(rig_last_request(&r)->messages[0], "the second rules");
    assert_lacks(rig_last_request(&r)->messages[0], "the first rules");
    /* and when it is by extracts, because the server refused the length */
    struct err down = http(401, "authentication_error", "the key is not valid");
    struct err long_one = http(400, "prompt_too_long", "prompt is too long");
    scripted_fail_start(r.script, &long_one);
    scripted_side_fail(r.script, &down);
    says(&r, "it fits", 300);
    rig_put(&r, "CLAUDE.md", "the third rules");
    assert_string_equal(rig_submit(&r, "once more")->u.result.exit, "completed");
    assert_true(rig_saw_transition(&r, "reactive_compact_retry"));
    assert_has(rig_last_request(&r)->messages[0], "the third rules");
    assert_lacks(rig_last_request(&r)->messages[0], "the second rules");
    rig_end(&r);
}

static void
test_files_read_last_are_given_again(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_put(&r, "a.c", "int before;");
    rig_put(&r, "secret.c", "int hidden;");
    rig_put_settings(&r, "{\"permissions\":{\"deny\":[\"Read(secret.c)\"]}}");
    char *in_a = xasprintf("{\"name\":\"a\",\"file_path\":\"%s/a.c\"}", r.root);
    char *in_secret = xasprintf("{\"name\":\"s\",\"file_path\":\"%s/secret.c\"}", r.root);
    calls(&r, "t1", in_a, 500);
    calls(&r, "t2", in_secret, 600);
    says(&r, "read them", 700);
    says(&r, "went on", 100);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "read them");
    rig_put(&r, "a.c", "int after;");
    compact(&r, NULL);
    rig_submit(&r, "go on");
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "int after;");
    assert_lacks(m, "int hidden;");
    assert_has(m, "secret.c"); /* by its name */
    free(in_a);
    free(in_secret);
    rig_end(&r);
}

static void
test_the_newest_message_is_never_cut(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 20000);
    char *big = xmalloc(30001);
    memset(big, 'b', 30000);
    big[30000] = '\0';
    memcpy(big + 29990, "the end", 7);
    says(&r, "one", 500);
    says(&r, "two", 9000);
    says(&r, "three", 500);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "small talk");
    rig_submit(&r, big);
    compact(&r, NULL);
    rig_submit(&r, "go on");
    assert_has(rig_last_request(&r)->messages[0], big);
    free(big);
    rig_end(&r);
}

static void
test_twenty_compactions_stay_bounded(void **state)
{
    (void)state;
    struct rig r;
    size_t largest = 0;
    begin(&r, 50000);
    /* a model that writes all it can, and copies the summary before into its own */
    struct buf long_one;
    buf_init(&long_one, BUF_MAX);
    buf_adds(&long_one, "## Task\nunique task line number one of the summary\n## State\n");
    for (int i = 0; i < 2000; i++)
        buf_addf(&long_one, "a line of the state of things, number %d\n", i);
    buf_adds(&long_one,
             "## Task\nunique task line number one of the summary\n## Next step\nmore\n");
    char *talk = xmalloc(24001);
    memset(talk, 't', 24000);
    talk[24000] = '\0';
    for (int i = 0; i < 20; i++) {
        says(&r, talk, 30000);
        scripted_side_says(r.script, buf_cstr(&long_one));
    }
    says(&r, "end", 100);
    rig_start(&r);
    rig_post(&r, OP_COMMAND, "/pin the port is 4711");
    rig_until(&r, is_notice, "4711");
    for (int i = 0; i < 20; i++) {
        rig_submit(&r, "do it");
        assert_false(compact(&r, NULL)->u.compact.failed);
    }
    rig_submit(&r, "end");
    for (size_t i = 1; i < scripted_requests(r.script); i++) {
        const char *m = scripted_request(r.script, i)->messages[0];
        size_t n = strlen(m);
        assert_has(m, "the port is 4711");
        const char *once = strstr(m, "unique task line");
        assert_non_null(once);
        assert_null(strstr(once + 1, "unique task line"));
        assert_null(strstr(strstr(m, OPEN) + 1, OPEN));
        largest = n > largest ? n : largest;
    }
    /* 8 % of 50,000 tokens of 4 bytes, and what stands beside it */
    assert_true(largest < 16000 + 4000);
    assert_true(strlen(rig_last_request(&r)->messages[0]) <
                strlen(scripted_request(r.script, 3)->messages[0]) + 2000);
    buf_release(&long_one);
    free(talk);
    rig_end(&r);
}

/* ---- when it comes ---- */

static void
test_it_comes_at_the_limit_and_never_before(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 1000000);
    says(&r, "one", 840000);
    says(&r, "two", 850100);
    says(&r, "three", 1000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_submit(&r, "b");
    assert_int_equal(compactions(&r), 0);
    rig_submit(&r, "c");
    assert_int_equal(compactions(&r), 1);
    assert_has(rig_last_request(&r)->messages[0], "<person-message>\\nc\\n</person-message>");
    rig_end(&r);
}

static void
test_the_limit_is_a_setting(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_put_settings(&r, "{\"compact\":{\"at\":60}}");
    says(&r, "one", 61000);
    says(&r, "two", 61000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_submit(&r, "b");
    assert_int_equal(compactions(&r), 1);
    rig_put_settings(&r, "{\"autoCompactEnabled\":false,\"compact\":{\"at\":60}}");
    rig_submit(&r, "c");
    assert_int_equal(compactions(&r), 1);
    rig_end(&r);
}

static void
test_a_window_that_the_person_set_wins(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 50000);
    r.cfg.model = "claude-opus-5-5"; /* a million by the catalogue */
    says(&r, "one", 40000);
    says(&r, "two", 45000);
    says(&r, "three", 1000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_submit(&r, "b");
    assert_int_equal(compactions(&r), 0);
    rig_submit(&r, "c");
    assert_int_equal(compactions(&r), 1);
    rig_end(&r);
}

static void
test_it_is_checked_before_each_request_of_a_turn(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    calls(&r, "t1", "{\"name\":\"a\"}", 20000);
    calls(&r, "t2", "{\"name\":\"b\",\"size\":9000}", 90000);
    says(&r, "done", 3000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    const struct event *e = rig_submit(&r, "read both");
    assert_string_equal(e->u.result.exit, "completed");
    assert_int_equal(compactions(&r), 1);
    assert_int_equal(scripted_requests(r.script), 3);
    const struct scripted_request *q = rig_last_request(&r);
    assert_int_equal(q->n_messages, 1);
    assert_has(q->messages[0], "You are in the middle of this work");
    assert_lacks(q->messages[0], "tool_use");
    assert_has(scripted_side_request(r.script, 0)->messages[0], "xxxxxxxx");
    rig_end(&r);
}

static void
test_what_must_stay_over_the_limit_stops_with_sizes(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 20000);
    char *rules = xmalloc(80001);
    memset(rules, 'r', 80000);
    rules[80000] = '\0';
    rig_put(&r, "CLAUDE.md", rules);
    says(&r, "one", 18500);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    const struct event *e = rig_submit(&r, "b");
    free(rules);
    assert_string_equal(e->u.result.exit, "prompt_too_long");
    assert_has(e->u.result.errors, "instruction files ");
    assert_int_equal(scripted_side_requests(r.script) <= 1, 1);
    assert_int_equal(scripted_requests(r.script) <= 1, 1);
    rig_end(&r);
}

/* ---- afterwards ---- */

static void
test_a_resumed_session_sends_the_same(void **state)
{
    (void)state;
    struct rig r;
    char id[37];
    begin(&r, 100000);
    rig_put(&r, "CLAUDE.md", "rules");
    says(&r, "one", 500);
    says(&r, "two", 600);
    says(&r, "three", 700);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_post(&r, OP_COMMAND, "/pin a fact that stays");
    rig_until(&r, is_notice, "a fact that stays");
    compact(&r, NULL);
    rig_submit(&r, "b");
    char *first = xstrdup(rig_last_request(&r)->messages[0]);
    snprintf(id, sizeof id, "%s", engine_session_id(r.e));
    rig_stop(&r);
    r.cfg.resume_id = id;
    rig_start(&r);
    rig_post(&r, OP_COMMAND, "/pin");
    rig_until(&r, is_notice, "1  a fact that stays");
    rig_submit(&r, "c");
    assert_string_equal(rig_last_request(&r)->messages[0], first);
    assert_int_equal(rig_last_request(&r)->n_messages, 5);
    size_t lines = 0;
    for (size_t i = 0; i < r.n; i++)
        lines += r.ev[i]->kind == EV_COMPACT && r.ev[i]->u.compact.text &&
                 strstr(r.ev[i]->u.compact.text, "compacted ") != NULL;
    assert_true(lines >= 2); /* as it happened, and when the session was shown again */
    free(first);
    rig_end(&r);
}

static void
test_a_fork_of_a_compacted_session_goes_on_from_the_summary(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    says(&r, "one", 500);
    says(&r, "two", 600);
    says(&r, "three", 600);
    scripted_side_says(r.script, SUMMARY);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "the first words");
    rig_post(&r, OP_COMMAND, "/pin a fact that stays");
    rig_until(&r, is_notice, "a fact that stays");
    compact(&r, NULL);
    rig_post(&r, OP_COMMAND, "/fork");
    rig_until(&r, is_notice, "this is a copy");
    rig_submit(&r, "b");
    assert_has(rig_last_request(&r)->messages[0], "Run the linter.");
    assert_false(compact(&r, NULL)->u.compact.failed);
    rig_submit(&r, "c");
    assert_has(rig_last_request(&r)->messages[0], "a fact that stays");
    assert_has(rig_last_request(&r)->messages[0], "the first words");
    rig_end(&r);
}

static void
test_the_summary_is_paid_for_under_its_purpose(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    r.cfg.model = "claude-haiku-4-5";
    says(&r, "one", 500);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    compact(&r, NULL);
    struct op *op = op_new(OP_QUERY, NULL);
    op->query = QUERY_METERS;
    engine_post(r.e, op);
    const char *json = rig_kind(&r, EV_ANSWER)->u.answer.json;
    assert_has(json, "\"purpose\":\"compact\"");
    assert_has(json, "\"requests\":2");
    rig_end(&r);
}

static void
test_nothing_to_compact_is_said(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_start(&r);
    expect_unchanged(&r, "nothing that could get shorter");
    rig_end(&r);
}

static void
test_pins_are_files_facts_and_messages(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_put(&r, "api.h", "int api(void);");
    says(&r, "one", 500);
    says(&r, "two", 500);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "do it exactly like this");
    rig_post(&r, OP_COMMAND, "/pin last");
    rig_until(&r, is_notice, "message: do it exactly");
    rig_post(&r, OP_COMMAND, "/pin api.h");
    rig_until(&r, is_notice, "/api.h");
    rig_post(&r, OP_COMMAND, "/pin nosuch.h");
    rig_until(&r, is_notice, "is no file");
    rig_post(&r, OP_COMMAND, "/pin a fact to drop");
    rig_until(&r, is_notice, "3  a fact to drop");
    rig_post(&r, OP_COMMAND, "/pin remove 3");
    rig_until(&r, is_notice, "still pinned");
    rig_post(&r, OP_COMMAND, "/pin remove 9");
    rig_until(&r, is_notice, "there is no pin 9");
    compact(&r, NULL);
    rig_submit(&r, "go on");
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "1. do it exactly like this");
    assert_has(m, "int api(void);");
    assert_lacks(m, "a fact to drop");
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_summary_takes_the_conversations_place),
        cmocka_unit_test(test_root_memory_is_read_again_from_disk),
        cmocka_unit_test(test_files_read_last_are_given_again),
        cmocka_unit_test(test_the_newest_message_is_never_cut),
        cmocka_unit_test(test_twenty_compactions_stay_bounded),
        cmocka_unit_test(test_it_comes_at_the_limit_and_never_before),
        cmocka_unit_test(test_the_limit_is_a_setting),
        cmocka_unit_test(test_a_window_that_the_person_set_wins),
        cmocka_unit_test(test_it_is_checked_before_each_request_of_a_turn),
        cmocka_unit_test(test_what_must_stay_over_the_limit_stops_with_sizes),
        cmocka_unit_test(test_a_resumed_session_sends_the_same),
        cmocka_unit_test(test_a_fork_of_a_compacted_session_goes_on_from_the_summary),
        cmocka_unit_test(test_the_summary_is_paid_for_under_its_purpose),
        cmocka_unit_test(test_nothing_to_compact_is_said),
        cmocka_unit_test(test_pins_are_files_facts_and_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
