#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/event.h"
#include "engine/loop.h"

static struct event *
text_delta(int index, const char *text)
{
    struct event *e = event_new(EV_BLOCK);
    e->phase = PHASE_DELTA;
    e->u.block.index = index;
    e->u.block.text = xstrdup(text);
    return e;
}

static void
test_text_of_one_block_merges(void **state)
{
    (void)state;
    struct event *a = text_delta(0, "one "), *b = text_delta(0, "two"), *c = text_delta(1, "x");
    assert_true(event_merge(a, b));
    assert_string_equal(a->u.block.text, "one two");
    assert_false(event_merge(a, c));
    event_free(a);
    event_free(c);
}

static void
test_merged_text_has_a_cap(void **state)
{
    (void)state;
    char *big = xmalloc(40001);
    memset(big, 'x', 40000);
    big[40000] = '\0';
    struct event *a = text_delta(0, big), *b = text_delta(0, big);
    assert_false(event_merge(a, b));
    event_free(a);
    event_free(b);
    free(big);
}

static void
test_newer_usage_and_progress_replace(void **state)
{
    (void)state;
    struct event *a = event_new(EV_USAGE), *b = event_new(EV_USAGE);
    a->u.usage.output = 1;
    b->u.usage.output = 2;
    assert_true(event_merge(a, b));
    assert_int_equal(a->u.usage.output, 2);
    event_free(a);
    a = event_new(EV_TOOL);
    b = event_new(EV_TOOL);
    a->phase = b->phase = PHASE_DELTA;
    a->u.tool.id = xstrdup("t1");
    b->u.tool.id = xstrdup("t1");
    a->u.tool.what = xstrdup("make");
    b->u.tool.output = xstrdup("line");
    assert_true(event_merge(a, b));
    assert_string_equal(a->u.tool.output, "line");
    assert_string_equal(a->u.tool.what, "make");
    b = event_new(EV_TOOL);
    b->phase = PHASE_DELTA;
    b->u.tool.id = xstrdup("t2");
    assert_false(event_merge(a, b));
    event_free(a);
    event_free(b);
}

/* Written, read and written again: the same bytes. */
static void
round_trip(struct event *e)
{
    struct buf one, two;
    struct err err = {0};
    buf_init(&one, BUF_MAX);
    buf_init(&two, BUF_MAX);
    event_write(e, &one);
    assert_null(memchr(one.data, '\n', one.len));
    struct event *again = event_read(buf_str(&one), &err);
    assert_non_null(again);
    event_write(again, &two);
    assert_string_equal(buf_cstr(&one), buf_cstr(&two));
    event_free(again);
    event_free(e);
    buf_release(&one);
    buf_release(&two);
}

static void
test_every_kind_round_trips_empty(void **state)
{
    (void)state;
    for (int k = EV_SESSION; k <= EV_CLOSED; k++) {
        struct event *e = event_new((enum event_kind)k);
        if (k == EV_PERM_ASK || k == EV_PERM_DECIDED) {
            struct decision *d = k == EV_PERM_ASK ? &e->u.ask.decision : &e->u.decided.decision;
            decision_init(d);
            d->verdict = VERDICT_ASK;
        }
        round_trip(e);
    }
}

static void
test_full_events_round_trip(void **state)
{
    (void)state;
    struct event *e = event_new(EV_PERM_ASK);
    e->agent = xstrdup("helper \"1\"");
    e->u.ask.id = 7;
    e->u.ask.tool = xstrdup("Bash");
    e->u.ask.command = xstrdup("rm -rf x\n\x1b[31m");
    decision_init(&e->u.ask.decision);
    struct finding *f =
        decision_add(&e->u.ask.decision, "L2", VERDICT_ASK, "Bash(rm *)", "rm", "why");
    f->file = xstrdup("/a/settings.json");
    f->line = 3;
    e->u.ask.decision.verdict = VERDICT_ASK;
    e->u.ask.decision.liftable_by = LIFT_PERSON;
    e->u.ask.rules = xcalloc(2, sizeof *e->u.ask.rules);
    e->u.ask.rules[0] = xstrdup("Bash(a)");
    e->u.ask.rules[1] = xstrdup("Bash(b)");
    e->u.ask.n_rules = 2;
    round_trip(e);
    e = event_new(EV_RESULT);
    e->u.result.subtype = "success";
    e->u.result.exit = "completed";
    e->u.result.text = xstrdup("done");
    e->u.result.cost_usd = 0.25;
    round_trip(e);
    e = event_new(EV_RETRY);
    e->u.retry.attempt = 2;
    err_set(&e->u.retry.err, ERR_HTTP, "busy");
    e->u.retry.err.http = 529;
    e->u.retry.err.retryable = true;
    round_trip(e);
    e = event_new(EV_TOOL);
    e->phase = PHASE_END;
    e->u.tool.state = TOOL_DENIED;
    e->u.tool.is_error = true;
    round_trip(e);
    e = event_new(EV_SESSION);
    e->u.session.mode = PERM_AUTO;
    e->u.session.offline = true;
    round_trip(e);
}

static void
test_junk_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(event_read(STR("{\"event\":\"nonsense\"}"), &err));
    assert_null(event_read(STR("[]"), &err));
    assert_null(event_read(STR("{"), &err));
    struct event *e =
        event_read(STR("{\"event\":\"tool\",\"phase\":\"zzz\",\"state\":\"zzz\",\"id\":5}"), &err);
    assert_non_null(e);
    event_free(e);
    /* numbers that no field can hold are the nearest that it can */
    e = event_read(STR("{\"event\":\"perm_ask\",\"id\":-1}"), &err);
    assert_non_null(e);
    assert_int_equal(e->u.ask.id, 0);
    event_free(e);
    e = event_read(STR("{\"event\":\"block\",\"index\":1e300}"), &err);
    assert_non_null(e);
    assert_int_equal(e->u.block.index, INT_MAX);
    event_free(e);
}

/* No name of the engine's reaches a person: every end has its words. */
static void
test_every_end_has_words_for_people(void **state)
{
    (void)state;
    static const char *const names[] = {
#define X(id, name, ...) name,
        LOOP_EXITS(X)
#undef X
    };
    const char *unknown = event_end_words("no such end");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *words = event_end_words(names[i]);
        assert_string_not_equal(words, unknown);
        assert_null(strchr(words, '_'));
        assert_string_not_equal(words, names[i]);
    }
    assert_string_equal(event_end_words("aborted_tools"), "interrupted");
    assert_string_equal(event_end_words(NULL), unknown);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_of_one_block_merges),
        cmocka_unit_test(test_merged_text_has_a_cap),
        cmocka_unit_test(test_newer_usage_and_progress_replace),
        cmocka_unit_test(test_every_kind_round_trips_empty),
        cmocka_unit_test(test_full_events_round_trip),
        cmocka_unit_test(test_junk_is_refused),
        cmocka_unit_test(test_every_end_has_words_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
