/* Compaction through the whole engine: what survives it, when it comes, and what its failures leave. */
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

#define OPEN "The conversation before this was compacted"
#define SUMMARY                                                                                    \
    "## Task\nMake the parser count columns.\n## Constraints\nNo new files.\n## Files\n"           \
    "src/parse.c: next_token() changed\n## State\nTests pass.\n## Next step\nRun the linter.\n"

/* ---- the rig of these tests ---- */

static void
begin(struct rig *r, int64_t window)
{
    rig_init(r);
    r->cfg.context_window = window;
}

/* An answer, with enough in it that it can get shorter, after which the server counts `tokens` in the context. */
static void
says(struct rig *r, const char *text, int64_t tokens)
{
    static char filler[6001];
    for (size_t i = 0; i + 1 < sizeof filler; i++)
        filler[i] = i % 60 == 59 ? '\n' : i % 7 == 6 ? ' ' : 'w';
    scripted_reply(r->script);
    scripted_text(r->script, text);
    scripted_text(r->script, filler);
    scripted_usage(r->script, tokens, 10);
    scripted_end(r->script, STOP_END_TURN);
}

static void
calls(struct rig *r, const char *id, const char *input, int64_t tokens)
{
    scripted_reply(r->script);
    scripted_tool(r->script, id, "Read", input);
    scripted_usage(r->script, tokens, 10);
    scripted_end(r->script, STOP_TOOL_USE);
}

static bool
is_end(const struct event *e, const void *arg)
{
    (void)arg;
    return e->kind == EV_COMPACT && e->phase == PHASE_END &&
           (strcmp(e->u.compact.tier, "auto") == 0 || strcmp(e->u.compact.tier, "person") == 0 ||
            strcmp(e->u.compact.tier, "reactive") == 0);
}

static const struct event *
compact(struct rig *r, const char *keep)
{
    rig_post(r, OP_COMPACT, keep);
    return rig_until(r, is_end, NULL);
}

static size_t
compactions(const struct rig *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += is_end(r->ev[i], NULL);
    return n;
}

static void
assert_has(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not in: %s", what, text);
}

static void
assert_lacks(const char *text, const char *what)
{
    if (strstr(text, what))
        fail_msg("'%s' is in: %s", what, text);
}

static struct err
http(int status, const char *kind, const char *text)
{
    struct err e = {.code = ERR_HTTP, .http = status, .retryable = status >= 500};
    snprintf(e.kind, sizeof e.kind, "%s", kind);
    snprintf(e.text, sizeof e.text, "%s", text);
    return e;
}

static bool
is_notice(const struct event *e, const void *arg)
{
    return e->kind == EV_NOTICE && strstr(e->u.notice.text, arg);
}

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
    rig_put_settings(&r, "{\"autoCompactEnabled\":false}");
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
    says(&r, "one", 45000);
    says(&r, "two", 1000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_submit(&r, "b");
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

/* ---- when it fails ---- */

static void
expect_unchanged(struct rig *r, const char *why)
{
    const struct event *e = compact(r, NULL);
    assert_true(e->u.compact.failed);
    assert_has(e->u.compact.text, why);
    assert_has(e->u.compact.text, "it stays as it is");
}

static void
test_a_failed_summary_leaves_the_history_unchanged(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    struct err down = http(401, "authentication_error", "the key is not valid");
    says(&r, "one", 500);
    says(&r, "two", 600);
    scripted_side_fail(r.script, &down);
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
    struct err down = http(401, "authentication_error", "the key is not valid");
    says(&r, "one", 90000);
    for (int i = 0; i < 4; i++) {
        says(&r, "went on", 90000);
        scripted_side_fail(r.script, &down);
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
    rig_put_settings(&r, "{\"compact\":{\"at\":90}}");
    char *rules = xmalloc(56001);
    for (size_t i = 0; i < 56000; i++)
        rules[i] = i % 50 == 49 ? '\n' : 'r';
    rules[56000] = '\0';
    rig_put(&r, "CLAUDE.md", rules);
    says(&r, "one", 16500);
    for (int i = 0; i < 4; i++) {
        says(&r, "went on", 16900);
        scripted_side_says(r.script, SUMMARY);
    }
    rig_start(&r);
    rig_submit(&r, "a");
    for (int i = 0; i < 4; i++)
        rig_submit(&r, "b");
    free(rules);
    assert_true(scripted_side_requests(r.script) <= 2);
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
test_cancelled_in_the_middle_nothing_changes(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    says(&r, "one", 500);
    says(&r, "two", 600);
    scripted_side_reply(r.script);
    scripted_open_text(r.script, "## Task\nhalf a summary");
    scripted_gate(r.script, 3);
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    rig_submit(&r, "a");
    rig_post(&r, OP_COMPACT, NULL);
    rig_kind(&r, EV_COMPACT); /* it began */
    engine_cancel(r.e, CANCEL_USER);
    const struct event *e = rig_until(&r, is_end, NULL);
    assert_true(e->u.compact.failed);
    assert_has(e->u.compact.text, "interrupted");
    rig_submit(&r, "b");
    assert_int_equal(rig_last_request(&r)->n_messages, 3);
    rig_end(&r);
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
    assert_true(rig_submit(&r, "b")->u.result.is_error);
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
        cmocka_unit_test(test_a_failed_summary_leaves_the_history_unchanged),
        cmocka_unit_test(test_the_turn_goes_on_when_the_summary_fails),
        cmocka_unit_test(test_a_curable_failure_is_tried_again),
        cmocka_unit_test(test_the_breaker_opens_when_little_is_freed),
        cmocka_unit_test(test_a_full_conversation_compacts_without_a_model),
        cmocka_unit_test(test_a_long_question_is_asked_in_parts),
        cmocka_unit_test(test_cancelled_in_the_middle_nothing_changes),
        cmocka_unit_test(test_too_long_compacts_once_and_goes_on),
        cmocka_unit_test(test_still_too_long_ends_with_sizes),
        cmocka_unit_test(test_odd_numbers_in_a_refusal_change_nothing),
        cmocka_unit_test(test_a_refusal_that_is_not_for_length_compacts_nothing),
        cmocka_unit_test(test_a_full_window_in_an_answer_takes_the_same_way),
        cmocka_unit_test(test_a_resumed_session_sends_the_same),
        cmocka_unit_test(test_a_fork_of_a_compacted_session_goes_on_from_the_summary),
        cmocka_unit_test(test_the_summary_is_paid_for_under_its_purpose),
        cmocka_unit_test(test_nothing_to_compact_is_said),
        cmocka_unit_test(test_pins_are_files_facts_and_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
