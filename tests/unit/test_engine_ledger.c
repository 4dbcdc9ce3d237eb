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

static struct ledger_parts
parts_of(const char *model, const char *bash, const char *dynamic, const char *memory)
{
    struct ledger_parts p = {0};
    (void)snprintf(p.model, sizeof p.model, "%s", model);
    if (bash)
        ledger_part_add(&p, "tool", "Bash", str_from(bash));
    ledger_part_add(&p, "tool", "Read", STR("r"));
    ledger_part_add(&p, "system prompt", "(dynamic)", str_from(dynamic));
    ledger_part_add(&p, "memory", "", str_from(memory));
    return p;
}

static void
test_a_break_says_what_changed(void **state)
{
    (void)state;
    static const struct {
        const char *model, *bash, *dynamic, *memory, *beta, *expect, *reason;
        bool rewritten, all, expected;
    } cases[] = {
        {"n", "b", "d", "m", NULL, NULL, "the model was changed to n", .expected = true},
        {"m", "x", "d", "m", NULL, NULL, "tool Bash changed", .expected = false},
        {"m", NULL, "d", "m", NULL, NULL, "tool Bash is gone", .expected = false},
        {"m", "b", "x", "m", NULL, NULL, "system prompt (dynamic) changed", .expected = false},
        {"m", "b", "d", "x", NULL, NULL, "memory changed", .expected = false},
        {"m", "x", "x", "x", NULL, NULL, "tool Bash changed, and 2 more parts", .expected = false},
        {"m", "b", "d", "m", "afk-1", NULL, "beta header afk-1 is new", .expected = false},
        {"m", "b", "d", "m", NULL, NULL, "the conversation was rewritten", .rewritten = true,
         .expected = true},
        {"m", "b", "d", "m", NULL, "context edited: snip", "context edited: snip",
         .rewritten = true, .expected = true},
        /* what stands before the messages explains more than an edit of them */
        {"m", "x", "d", "m", NULL, "context edited: snip", "tool Bash changed", .rewritten = true},
        {"m", "b", "d", "m", "ctx-1", "context edited: collapse",
         "context edited: collapse; beta header ctx-1 is new", .rewritten = true, .expected = true},
        {"m", "x", "d", "x", NULL, NULL, "tool Bash changed, and 1 more part", .expected = false},
        {"m", "x", "d", "x", NULL, "/compact", "/compact", .rewritten = true, .all = true,
         .expected = true},
        {"m", "b", "d", "m", NULL, NULL, "the server no longer had it", .expected = false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setup(NULL);
        struct ledger_parts was = parts_of("m", "b", "d", "m");
        ledger_watch(&l, &was);
        request(1, 0, 50000);
        if (cases[i].expect)
            ledger_expect(&l, cases[i].expect, cases[i].all);
        struct ledger_parts is =
            parts_of(cases[i].model, cases[i].bash, cases[i].dynamic, cases[i].memory);
        if (cases[i].beta)
            ledger_part_add(&is, "beta header", cases[i].beta, str_from(cases[i].beta));
        is.rewritten = cases[i].rewritten;
        ledger_watch(&l, &is);
        request(2, 1000, 50000);
        const struct ledger_break *b = ledger_break_at(&l, 0);
        assert_non_null(b);
        assert_string_equal(b->reason, cases[i].reason);
        assert_int_equal(b->expected, cases[i].expected);
        assert_int_equal(b->tokens, 49000);
        assert_int_equal(b->turn, 2);
        /* it explains one request, not those after it */
        ledger_watch(&l, &is);
        request(3, 51000, 10);
        assert_null(ledger_break_at(&l, 1));
    }
}

static void
test_time_explains_a_break(void **state)
{
    (void)state;
    struct ledger_parts p = parts_of("m", "b", "d", "m");
    ledger_watch(&l, &p);
    request(1, 0, 50000);
    ledger_watch(&l, &p);
    request(421, 0, 50000); /* 420 seconds later */
    assert_string_equal(ledger_break_at(&l, 0)->reason,
                        "the cache expired (7 min since the request before)");
    assert_true(ledger_break_at(&l, 0)->expected);
    /* what was written for an hour lives an hour */
    struct ledger_row row = row_of(500, LEDGER_MAIN, "", 0, 50000);
    row.usage.cache_write_1h = 50000;
    ledger_add(&l, &row);
    request(1000, 0, 50000);
    assert_string_equal(ledger_break_at(&l, 2)->reason, "the server no longer had it");
}

static void
test_no_alarm_where_nothing_is_cached(void **state)
{
    (void)state;
    struct ledger_parts p = parts_of("m", "b", "d", "m");
    p.cache_min = 4096;
    ledger_watch(&l, &p);
    request(1, 0, 3000); /* a gateway's figure; below the least the provider caches */
    ledger_watch(&l, &p);
    request(2, 0, 0);
    assert_null(ledger_break_at(&l, 0));
}

static void
test_more_parts_than_there_is_room_for(void **state)
{
    (void)state;
    struct ledger_parts a = {0}, b = {0};
    for (int i = 0; i < LEDGER_PARTS + 20; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "t%d", i);
        ledger_part_add(&a, "tool", name, STR("x"));
        ledger_part_add(&b, "tool", name, i == LEDGER_PARTS + 10 ? STR("y") : STR("x"));
    }
    (void)snprintf(a.model, sizeof a.model, "m");
    (void)snprintf(b.model, sizeof b.model, "m");
    assert_int_equal(a.n, LEDGER_PARTS);
    ledger_watch(&l, &a);
    request(1, 0, 50000);
    ledger_watch(&l, &b);
    request(2, 0, 50000);
    assert_string_equal(ledger_break_at(&l, 0)->reason, "other parts changed");
}

static void
test_a_break_has_its_price(void **state)
{
    (void)state;
    struct passport p;
    struct usage_meter m = {0};
    passport_init(&p);
    const struct model_info *info = catalog_find("claude-opus-5-5");
    m.running = (struct usage){.input = 10, .output = 1, .cache_write = 100000};
    usage_commit(&m, &p, info->id, info);
    assert_null(m.broke);
    m.running = (struct usage){.input = 10, .output = 1, .cache_write = 90000, .cache_read = 0};
    usage_commit(&m, &p, info->id, info);
    assert_non_null(m.broke);
    /* 90,000 written and 10,000 as plain input, where 100,000 would have been read */
    assert_true(m.broke->cost_usd > 0.469 && m.broke->cost_usd < 0.471);
    struct buf b;
    struct ledger back = {0};
    buf_init(&b, 4096);
    buf_adds(&b, "{\"type\":\"cache-break\",");
    ledger_write_break(m.broke, &b);
    buf_addc(&b, '}');
    assert_true(ledger_read_break(&back, buf_str(&b)));
    assert_string_equal(ledger_break_at(&back, 0)->reason, m.broke->reason);
    assert_int_equal(ledger_break_at(&back, 0)->tokens, 100000);
    assert_false(ledger_read_break(&back, STR("{\"type\":\"usage\",\"reason\":\"x\"}")));
    buf_release(&b);
    passport_release(&p);
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
    struct usage u = {.input = 1,
                      .output = 2,
                      .cache_read = 3,
                      .cache_write = 4,
                      .estimated = true,
                      .cache_write_1h = 3};
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
    assert_int_equal(r->usage.cache_write_1h, 3);
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
        cmocka_unit_test_setup(test_no_alarm_where_nothing_is_cached, setup),
        cmocka_unit_test_setup(test_more_parts_than_there_is_room_for, setup),
        cmocka_unit_test_setup(test_a_break_has_its_price, setup),
        cmocka_unit_test_setup(test_what_holds_is_no_break, setup),
        cmocka_unit_test_setup(test_a_row_comes_back_from_its_record, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
