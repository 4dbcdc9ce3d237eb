/* Compactions that fail, and what is done when the server finds a conversation too long. */
#include <sched.h>

#include "engine/compact_rig.h"

/* A rig with two answers to come, and the prompts for them. */
static void
begin_two(struct rig *r)
{
    begin(r, 100000);
    says(r, "one", 500);
    says(r, "two", 600);
}

static void
submit_two(struct rig *r)
{
    rig_start(r);
    rig_submit(r, "a");
    rig_submit(r, "b");
}

/* The server takes no question beside the loop. */
static void
side_is_refused(struct rig *r)
{
    const struct err down = http(401, "authentication_error", "the key is not valid");
    scripted_side_fail(r->script, &down);
}

/* ---- when it fails ---- */

static void
test_a_failed_summary_leaves_the_history_unchanged(void **state)
{
    (void)state;
    struct rig r;
    begin_two(&r);
    side_is_refused(&r);
    scripted_side_says(r.script, "   ");
    scripted_side_reply(r.script);
    scripted_text(r.script, "I cannot do that");
    scripted_end(r.script, STOP_REFUSAL);
    scripted_side_says(r.script, "Sure!");
    rig_start(&r);
    rig_submit(&r, "a");
    expect_unchanged(&r, "the key is not valid");
    expect_unchanged(&r, "empty");
    expect_unchanged(&r, "refused");
    expect_unchanged(&r, "no summary");
    rig_submit(&r, "b"); /* rig_end checks that it extends the first */
    assert_int_equal(rig_last_request(&r)->n_messages, 3);
    rig_end(&r);
}

static void
test_the_turn_goes_on_when_the_summary_fails(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    says(&r, "one", 90000);
    for (int i = 0; i < 4; i++) {
        says(&r, "went on", 90000);
        side_is_refused(&r);
    }
    rig_start(&r);
    rig_submit(&r, "a");
    for (int i = 0; i < 3; i++)
        assert_string_equal(rig_submit(&r, "b")->u.result.exit, "completed");
    rig_post(&r, OP_COMMAND, "/context");
    rig_until(&r, is_notice, "it failed three times in a row");
    assert_string_equal(rig_submit(&r, "c")->u.result.exit, "completed");
    assert_int_equal(scripted_side_requests(r.script), 3);
    rig_end(&r);
}

/* A summary that ends at its limit of length has lost its later sections without a word. */
static void
side_is_cut(struct rig *r, const char *text)
{
    scripted_side_reply(r->script);
    if (text)
        scripted_text(r->script, text);
    scripted_end(r->script, STOP_MAX_TOKENS);
}

static void
test_a_summary_that_is_cut_off_is_asked_for_once_more(void **state)
{
    (void)state;
    struct rig r;
    begin_two(&r);
    side_is_cut(&r, "## Task\nMake the parser.\n## State\nThe first");
    scripted_side_says(r.script, SUMMARY);
    says(&r, "three", 700);
    submit_two(&r);
    const struct event *e = compact(&r, "the names");
    assert_false(e->u.compact.failed);
    assert_lacks(e->u.compact.text, "cut off");
    assert_int_equal(scripted_side_requests(r.script), 2);
    const char *q = scripted_side_request(r.script, 1)->messages[0];
    assert_has(q, "cut off");
    assert_has(q, "the names");
    assert_lacks(scripted_side_request(r.script, 0)->messages[0], "cut off");
    rig_submit(&r, "c");
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "Run the linter.");
    assert_lacks(m, "Make the parser.\\n");
    rig_end(&r);
}

static void
test_a_summary_cut_off_twice_is_pieced_and_told(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    says(&r, "one", 500);
    says(&r, "the heron is in src/bird.c", 600);
    side_is_cut(&r, "## Task\nMake the parser.\n## Decisions\nThe first");
    side_is_cut(&r, "## Task\nShorter.\n## Decisions\nThe sec");
    says(&r, "three", 700);
    submit_two(&r);
    const struct event *e = compact(&r, NULL);
    assert_false(e->u.compact.failed);
    assert_has(e->u.compact.text, "the model's summary was cut off");
    assert_int_equal(scripted_side_requests(r.script), 2);
    rig_submit(&r, "c");
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "Shorter.");
    assert_has(m, "The sec\\n(The summary was cut off here.)");
    assert_has(m, "(Extracts, since the summary was cut off before this.)");
    assert_has(m, "the heron is in src/bird.c");
    rig_end(&r);
}

/* Thinking took all of it, twice: no summary, and the reason is the true one. */
static void
test_an_answer_that_was_all_thinking_is_no_summary(void **state)
{
    (void)state;
    struct rig r;
    begin_two(&r);
    side_is_cut(&r, NULL);
    side_is_cut(&r, "## Ta");
    side_is_cut(&r, NULL);
    scripted_side_says(r.script, SUMMARY);
    submit_two(&r);
    expect_unchanged(&r, "cut off at its limit of length");
    assert_int_equal(scripted_side_requests(r.script), 2);
    const struct event *e = compact(&r, NULL);
    assert_false(e->u.compact.failed);
    assert_lacks(e->u.compact.text, "cut off");
    assert_int_equal(scripted_side_requests(r.script), 4);
    rig_end(&r);
}

/* A server that is gone by then: the piece that there is counts, and is told as one. */
static void
test_a_broken_second_answer_leaves_the_first(void **state)
{
    (void)state;
    struct rig r;
    begin_two(&r);
    side_is_cut(&r, "## Task\nMake the parser.\n## Decisions\nThe first");
    side_is_refused(&r);
    says(&r, "three", 700);
    submit_two(&r);
    const struct event *e = compact(&r, NULL);
    assert_false(e->u.compact.failed);
    assert_has(e->u.compact.text, "the model's summary was cut off");
    rig_submit(&r, "c");
    assert_has(rig_last_request(&r)->messages[0], "The first\\n(The summary was cut off here.)");
    rig_end(&r);
}

/* One turn that fills the window again and again while the server answers but never writes a summary: extracts keep it going. */
static void
test_a_long_turn_goes_on_without_a_summary(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 20000);
    r.rewrites = true;
    static const int fill[] = {17500, 18000, 18500, 19900, 5000, 17500, 19900, 5000};
    char id[8], input[200];
    for (size_t i = 0; i < ARRAY_LEN(fill); i++) {
        snprintf(id, sizeof id, "t%zu", i);
        snprintf(input, sizeof input,
                 "{\"name\":\"part %zu\",\"file_path\":\"/x/part_%zu.c\",\"size\":4000}", i, i);
        calls(&r, id, input, fill[i]);
    }
    says(&r, "all parts were read", 6000);
    for (int i = 0; i < 12; i++)
        side_is_refused(&r);
    rig_put(&r, "CLAUDE.md", "Always count from one.\n");
    rig_start(&r);
    rig_post(&r, OP_COMMAND, "/pin the release is on Friday");
    const struct event *e = rig_submit(&r, "read every part, and name the heron");
    assert_string_equal(e->u.result.exit, "completed");
    /* three failures, then nobody is asked until the window was made room in; then once */
    assert_int_equal(scripted_side_requests(r.script), 4);
    size_t local = 0;
    for (size_t i = 0; i < r.n; i++)
        local += is_end(r.ev[i], NULL) && !r.ev[i]->u.compact.failed &&
                 strstr(r.ev[i]->u.compact.text, "without the model: its summaries failed");
    assert_int_equal(local, 2);
    assert_true(rig_told(&r, "extracts stand in for the model's summary") > 0);
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "No model wrote this summary");
    assert_has(m, "Always count from one.");
    assert_has(m, "the release is on Friday");
    assert_has(m, "<person-message>\\nread every part, and name the heron\\n</person-message>");
    assert_has(m, "Read /x/part_1.c"); /* of the first compaction, in the second */
    rig_end(&r);
}

/* Extracts miss more than a model does: far more of what the person wrote stands beside them, word for word. */
static void
test_extracts_keep_more_of_what_the_person_wrote(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 40000);
    r.rewrites = true;
    struct err long_one = http(400, "prompt_too_long", "prompt is too long: 30000 > 20000");
    char *words = xmalloc(1501);
    for (int i = 0; i < 13; i++)
        says(&r, "yes", 2000 + i * 2000);
    for (int i = 0; i < 4; i++)
        scripted_side_fail(r.script, &long_one);
    rig_start(&r);
    for (int i = 0; i < 12; i++) {
        for (size_t k = 0; k < 1500; k++)
            words[k] = k % 9 == 8 ? ' ' : (char)('a' + i);
        words[1500] = '\0';
        rig_submit(&r, words);
    }
    free(words);
    assert_has(compact(&r, NULL)->u.compact.text, "without the model");
    assert_string_equal(rig_submit(&r, "and now?")->u.result.exit, "completed");
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "No model wrote this summary");
    size_t n = 0;
    for (const char *at = m; (at = strstr(at, "<person-message>\\n")) != NULL; at++)
        n++;
    assert_true(n >= 10);
    rig_end(&r);
}

/* The person asks for one, and the server writes it: all is as it was. */
static void
test_a_summary_after_all_closes_the_breaker(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    r.rewrites = true;
    for (int i = 0; i < 5; i++)
        says(&r, "one", 90000);
    says(&r, "two", 90000);
    says(&r, "three", 5000);
    for (int i = 0; i < 3; i++)
        side_is_refused(&r);
    scripted_side_says(r.script, SUMMARY);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    for (int i = 0; i < 5; i++)
        rig_submit(&r, "a");
    assert_int_equal(scripted_side_requests(r.script), 3);
    assert_false(compact(&r, NULL)->u.compact.failed);
    rig_submit(&r, "b");
    rig_submit(&r, "c"); /* it comes by itself again */
    assert_int_equal(scripted_side_requests(r.script), 5);
    assert_has(rig_last_request(&r)->messages[0], "Run the linter.");
    rig_end(&r);
}

static void
test_a_curable_failure_is_tried_again(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    struct err down = http(529, "overloaded_error", "overloaded");
    says(&r, "one", 500);
    scripted_side_fail(r.script, &down);
    scripted_side_fail(r.script, &down);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    assert_false(compact(&r, NULL)->u.compact.failed);
    assert_int_equal(scripted_side_requests(r.script), 3);
    rig_end(&r);
}

static void
test_the_breaker_opens_when_little_is_freed(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 20000);
    r.rewrites = true;
    rig_put_settings(&r, "{\"compact\":{\"at\":90}}");
    char *rules = xmalloc(44001);
    for (size_t i = 0; i < 44000; i++)
        rules[i] = i % 50 == 49 ? '\n' : 'r';
    rules[44000] = '\0';
    rig_put(&r, "CLAUDE.md", rules);
    says(&r, "one", 5000);
    says(&r, "two", 18200);
    for (int i = 0; i < 6; i++) {
        says(&r, "went on", i % 2 ? 18200 : 17000);
        scripted_side_says(r.script, SUMMARY);
    }
    rig_start(&r);
    rig_submit(&r, "a");
    rig_submit(&r, "a");
    for (int i = 0; i < 6; i++)
        assert_string_equal(rig_submit(&r, "b")->u.result.exit, "completed");
    free(rules);
    assert_int_equal(scripted_side_requests(r.script), 2);
    assert_int_equal(compactions(&r), 2);
    assert_int_equal(rig_told(&r, "the last two freed less than a fifth"), 1);
    rig_end(&r);
}

static void
test_a_full_conversation_compacts_without_a_model(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 20000);
    struct err long_one = http(400, "prompt_too_long", "prompt is too long: 30000 > 20000");
    struct err down = http(500, "api_error", "down");
    calls(&r, "t1", "{\"name\":\"columns_of_the_parser\",\"file_path\":\"/x/parse.c\"}", 5000);
    says(&r, "the function next_token() in src/parse.c loses the column after a newline.", 20500);
    says(&r, "went on", 500);
    for (int i = 0; i < 8; i++)
        scripted_side_fail(r.script, i < 4 ? &long_one : &down);
    rig_start(&r);
    rig_submit(&r, "count the columns");
    const struct event *e = compact(&r, NULL);
    assert_false(e->u.compact.failed);
    assert_has(e->u.compact.text, "by extracts");
    rig_submit(&r, "go on");
    const char *m = rig_last_request(&r)->messages[0];
    assert_has(m, "## State");
    assert_has(m, "next_token() in src/parse.c");
    assert_has(m, "Read /x/parse.c");
    assert_has(m, "count the columns");
    rig_end(&r);
}

static void
test_a_long_question_is_asked_in_parts(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 10000);
    char *talk = xmalloc(7001);
    for (size_t i = 0; i < 7000; i++)
        talk[i] = i % 40 == 39 ? ' ' : 'w';
    talk[7000] = '\0';
    for (int i = 0; i < 8; i++)
        says(&r, talk, 1000);
    for (int i = 0; i < 8; i++)
        scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_put_settings(&r, "{\"autoCompactEnabled\":false}");
    for (int i = 0; i < 8; i++)
        rig_submit(&r, talk);
    const struct event *e = compact(&r, NULL);
    free(talk);
    assert_false(e->u.compact.failed);
    assert_false(strstr(e->u.compact.text, "extracts"));
    size_t n = scripted_side_requests(r.script);
    assert_true(n > 1);
    assert_has(scripted_side_request(r.script, 0)->messages[0], "part 1 of");
    assert_has(scripted_side_request(r.script, n - 1)->messages[0],
               "Make the parser count columns");
    for (size_t i = 0; i < n; i++)
        assert_true(strlen(scripted_side_request(r.script, i)->messages[0]) < 40000);
    rig_end(&r);
}

static void
side_stops_halfway(struct rig *r)
{
    scripted_side_reply(r->script);
    scripted_open_text(r->script, "## Task\nhalf a summary");
    scripted_gate(r->script, 3);
    scripted_end(r->script, STOP_END_TURN);
}

/* Cancels it and asks on: the one prompt so far stands as it was. */
static void
expect_interrupted(struct rig *r)
{
    engine_cancel(r->e, CANCEL_USER);
    const struct event *e = rig_until(r, is_end, NULL);
    assert_true(e->u.compact.failed);
    assert_has(e->u.compact.text, "interrupted");
    rig_submit(r, "b");
    assert_int_equal(rig_last_request(r)->n_messages, 3);
    rig_end(r);
}

static void
test_cancelled_in_the_middle_nothing_changes(void **state)
{
    (void)state;
    struct rig r;
    begin_two(&r);
    side_stops_halfway(&r);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_post(&r, OP_COMPACT, NULL);
    rig_kind(&r, EV_COMPACT); /* it began */
    expect_interrupted(&r);
}

/* The first answer was cut off, the shorter one is being written: half a summary does not take the conversation's place. */
static void
test_cancelled_while_it_is_asked_for_again_nothing_changes(void **state)
{
    (void)state;
    struct rig r;
    begin_two(&r);
    side_is_cut(&r, "## Task\nMake the parser.\n## State\nThe first");
    side_stops_halfway(&r);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_post(&r, OP_COMPACT, NULL);
    while (scripted_side_requests(r.script) < 2)
        sched_yield();
    expect_interrupted(&r);
}

/* ---- too long for the server ---- */

static void
test_too_long_compacts_once_and_goes_on(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    struct err long_one = http(400, "prompt_too_long", "prompt is too long");
    says(&r, "one", 5000);
    scripted_fail_start(r.script, &long_one);
    says(&r, "it fits", 300);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    const struct event *e = rig_submit(&r, "b");
    assert_string_equal(e->u.result.exit, "completed");
    assert_true(rig_saw_transition(&r, "reactive_compact_retry"));
    assert_has(rig_last_request(&r)->messages[0], "<person-message>\\nb\\n</person-message>");
    rig_end(&r);
}

static void
test_still_too_long_ends_with_sizes(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    struct err long_one = http(413, "request_too_large", "too large");
    says(&r, "one", 80000);
    for (int i = 0; i < 3; i++)
        scripted_fail_start(r.script, &long_one);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    const struct event *e = rig_submit(&r, "b");
    assert_string_equal(e->u.result.exit, "prompt_too_long");
    assert_int_equal(scripted_side_requests(r.script), 1);
    assert_has(e->u.result.errors, "messages");
    rig_end(&r);
}

/* What a server counts and allows may be anything; numbers that cannot be tokens of this conversation change nothing. */
static void
test_odd_numbers_in_a_refusal_change_nothing(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "prompt is too long: 5 tokens > 4 maximum",
        "prompt is too long: 900000000000 tokens > 0 maximum",
        "prompt is too long: 1 tokens > 99999999999999999999 maximum",
        "prompt is too long: -4 tokens > -9 maximum",
        "prompt is too long: 210000 tokens > 1001 maximum",
        "prompt is too long: 99999999999999999999999 tokens > nan maximum",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct rig r;
        begin(&r, 100000);
        struct err long_one = http(400, "prompt_too_long", odd[i]);
        scripted_fail_start(r.script, &long_one);
        says(&r, "it goes on", 2000);
        says(&r, "and on", 86000);
        says(&r, "to the limit", 300);
        scripted_side_says(r.script, SUMMARY);
        rig_start(&r);
        assert_true(rig_submit(&r, "a")->u.result.is_error);
        assert_string_equal(rig_submit(&r, "b")->u.result.exit, "completed");
        assert_string_equal(rig_submit(&r, "c")->u.result.exit, "completed");
        assert_string_equal(rig_submit(&r, "d")->u.result.exit, "completed");
        for (size_t k = 0; k < r.n; k++)
            assert_true(r.ev[k]->kind != EV_CONTEXT || r.ev[k]->u.context.window == 100000);
        assert_int_equal(scripted_side_requests(r.script), 1); /* it still comes at the limit */
        rig_end(&r);
    }
}

static void
test_a_refusal_that_is_not_for_length_compacts_nothing(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    struct err gateway = http(413, "", "413 Request Entity Too Large (nginx)");
    struct err bad = http(400, "invalid_request_error", "tools.0.name: unknown");
    says(&r, "one", 900);
    scripted_fail_start(r.script, &gateway);
    scripted_fail_start(r.script, &bad);
    rig_start(&r);
    rig_submit(&r, "a");
    const struct event *e = rig_submit(&r, "b");
    assert_true(e->u.result.is_error);
    assert_has(e->u.result.errors, "a gateway refuses the request for its size");
    assert_has(e->u.result.errors, "413 Request Entity Too Large");
    assert_lacks(e->u.result.errors, "too long");
    assert_true(rig_submit(&r, "c")->u.result.is_error);
    assert_int_equal(compactions(&r), 0);
    assert_int_equal(scripted_side_requests(r.script), 0);
    rig_end(&r);
}

static void
test_a_full_window_in_an_answer_takes_the_same_way(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    says(&r, "one", 80000);
    scripted_reply(r.script);
    scripted_text(r.script, "half of an ans");
    scripted_end(r.script, STOP_CONTEXT_EXCEEDED);
    says(&r, "the rest", 300);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    const struct event *e = rig_submit(&r, "b");
    assert_string_equal(e->u.result.exit, "completed");
    assert_has(scripted_side_request(r.script, 0)->messages[0], "half of an ans");
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_summary_leaves_the_history_unchanged),
        cmocka_unit_test(test_the_turn_goes_on_when_the_summary_fails),
        cmocka_unit_test(test_a_summary_that_is_cut_off_is_asked_for_once_more),
        cmocka_unit_test(test_a_summary_cut_off_twice_is_pieced_and_told),
        cmocka_unit_test(test_an_answer_that_was_all_thinking_is_no_summary),
        cmocka_unit_test(test_a_broken_second_answer_leaves_the_first),
        cmocka_unit_test(test_a_long_turn_goes_on_without_a_summary),
        cmocka_unit_test(test_extracts_keep_more_of_what_the_person_wrote),
        cmocka_unit_test(test_a_summary_after_all_closes_the_breaker),
        cmocka_unit_test(test_a_curable_failure_is_tried_again),
        cmocka_unit_test(test_the_breaker_opens_when_little_is_freed),
        cmocka_unit_test(test_a_full_conversation_compacts_without_a_model),
        cmocka_unit_test(test_a_long_question_is_asked_in_parts),
        cmocka_unit_test(test_cancelled_in_the_middle_nothing_changes),
        cmocka_unit_test(test_cancelled_while_it_is_asked_for_again_nothing_changes),
        cmocka_unit_test(test_too_long_compacts_once_and_goes_on),
        cmocka_unit_test(test_still_too_long_ends_with_sizes),
        cmocka_unit_test(test_odd_numbers_in_a_refusal_change_nothing),
        cmocka_unit_test(test_a_refusal_that_is_not_for_length_compacts_nothing),
        cmocka_unit_test(test_a_full_window_in_an_answer_takes_the_same_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
