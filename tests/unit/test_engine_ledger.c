#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "engine/ledger.h"
#include "engine/usage.h"

static struct ledger l;

static int
setup(void **state)
{
    (void)state;
    memset(&l, 0, sizeof l);
    return 0;
}

static struct ledger_row
row_of(int64_t turn, const char *purpose, const char *agent, int64_t read, int64_t write)
{
    struct ledger_row r = {.turn = turn, .wall_ms = 1000 * turn, .cost_usd = 0.5};
    (void)snprintf(r.purpose, sizeof r.purpose, "%s", purpose);
    (void)snprintf(r.agent, sizeof r.agent, "%s", agent);
    (void)snprintf(r.model, sizeof r.model, "m");
    r.usage = (struct usage){.input = 10, .output = 5, .cache_read = read, .cache_write = write};
    return r;
}

static void
request(int64_t turn, int64_t read, int64_t write)
{
    struct ledger_row r = row_of(turn, LEDGER_MAIN, "", read, write);
    ledger_add(&l, &r);
}

static void
test_the_newest_rows_are_kept(void **state)
{
    (void)state;
    for (int i = 1; i <= LEDGER_ROWS + 7; i++)
        request(i, 0, 0);
    assert_int_equal(ledger_at(&l, 0)->turn, 8);
    assert_int_equal(ledger_at(&l, LEDGER_ROWS - 1)->turn, LEDGER_ROWS + 7);
    assert_null(ledger_at(&l, LEDGER_ROWS));
    assert_int_equal(l.agents[0].requests, LEDGER_ROWS + 7);
    assert_int_equal(ledger_context(ledger_at(&l, 0)), 15);
}

static void
test_agents_have_sums_of_their_own(void **state)
{
    (void)state;
    request(1, 0, 0);
    for (int i = 0; i < LEDGER_AGENTS + 5; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "agent-%d", i);
        struct ledger_row r = row_of(1, "agent", name, 0, 0);
        r.cost_usd = i == 3 ? -1 : 0.25;
        ledger_add(&l, &r);
    }
    assert_int_equal(l.n_agents, LEDGER_AGENTS);
    assert_string_equal(l.agents[0].name, "main");
    assert_string_equal(l.agents[1].name, "agent-0");
    assert_true(l.agents[4].cost_usd < 0);
    assert_string_equal(l.agents[LEDGER_AGENTS - 1].name, "others");
    assert_int_equal(l.agents[LEDGER_AGENTS - 1].requests, 7);
}

static void
test_a_break_says_what_changed(void **state)
{
    (void)state;
    static const struct {
        struct ledger_parts parts;
        const char *reason;
    } cases[] = {
        {{2, 2, 3, 4, 5, 5}, "the model was changed"},
        {{1, 9, 3, 4, 5, 5}, "the system prompt changed"},
        {{1, 2, 9, 4, 5, 5}, "the tools changed"},
        {{1, 2, 3, 9, 5, 5}, "the memory files changed"},
        {{1, 2, 3, 4, 9, 9}, "the conversation was compacted or rewritten"},
        {{1, 2, 3, 4, 9, 5}, "the server no longer had it"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setup(NULL);
        ledger_watch(&l, &(struct ledger_parts){1, 2, 3, 4, 5, 0});
        request(1, 0, 50000);
        ledger_watch(&l, &cases[i].parts);
        request(2, 1000, 50000);
        assert_non_null(ledger_break_at(&l, 0));
        assert_string_equal(ledger_break_at(&l, 0)->reason, cases[i].reason);
        assert_int_equal(ledger_break_at(&l, 0)->tokens, 49000);
        assert_int_equal(ledger_break_at(&l, 0)->turn, 2);
        assert_null(ledger_break_at(&l, 1));
    }
}

static void
test_time_explains_a_break(void **state)
{
    (void)state;
    ledger_watch(&l, &(struct ledger_parts){1, 2, 3, 4, 5, 0});
    request(1, 0, 50000);
    ledger_watch(&l, &(struct ledger_parts){1, 2, 3, 4, 6, 5});
    request(400, 0, 50000); /* 399 seconds later */
    assert_non_null(strstr(ledger_break_at(&l, 0)->reason, "five minutes"));
}

static void
test_what_holds_is_no_break(void **state)
{
    (void)state;
    request(1, 0, 50000);
    request(2, 50000, 800);
    request(3, 49000, 1000); /* a step of the cache, no break */
    struct ledger_row other = row_of(3, "compact", "", 0, 0), agent = row_of(3, "main", "a", 0, 0);
    ledger_add(&l, &other);
    ledger_add(&l, &agent);
    struct ledger_row guess = row_of(4, LEDGER_MAIN, "", 0, 0);
    guess.usage.estimated = true;
    ledger_add(&l, &guess);
    request(5, 50000, 0);
    assert_null(ledger_break_at(&l, 0));
}

static void
test_a_row_comes_back_from_its_record(void **state)
{
    (void)state;
    struct usage_meter m = {.turn = 7, .purpose = "compact", .agent = "scout \"1\""}, back = {0};
    struct usage u = {
        .input = 1, .output = 2, .cache_read = 3, .cache_write = 4, .estimated = true};
    struct buf b;
    buf_init(&b, 4096);
    buf_adds(&b, "{\"type\":\"usage\",");
    usage_write_note(&m, "no-such-model", &u, &b);
    buf_addc(&b, '}');
    usage_restore(&back, buf_str(&b));
    const struct ledger_row *r = ledger_at(&back.ledger, 0);
    assert_non_null(r);
    assert_int_equal(r->turn, 7);
    assert_string_equal(r->purpose, "compact");
    assert_string_equal(r->agent, "scout \"1\"");
    assert_string_equal(r->model, "no-such-model");
    assert_int_equal(r->usage.cache_write, 4);
    assert_true(r->usage.estimated);
    assert_true(r->cost_usd < 0);
    assert_true(r->wall_ms > 0);
    /* records of before, of others, and broken ones */
    buf_clear(&b);
    usage_restore(&back, STR("{\"model\":\"old\",\"usage\":{\"input_tokens\":9}}"));
    assert_string_equal(ledger_at(&back.ledger, 1)->purpose, LEDGER_MAIN);
    usage_restore(&back, STR("{\"model\":3}"));
    usage_restore(&back, STR("{\"mod"));
    assert_null(ledger_at(&back.ledger, 2));
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_newest_rows_are_kept, setup),
        cmocka_unit_test_setup(test_agents_have_sums_of_their_own, setup),
        cmocka_unit_test_setup(test_a_break_says_what_changed, setup),
        cmocka_unit_test_setup(test_time_explains_a_break, setup),
        cmocka_unit_test_setup(test_what_holds_is_no_break, setup),
        cmocka_unit_test_setup(test_a_row_comes_back_from_its_record, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
