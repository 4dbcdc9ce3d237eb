/*
 * Twenty facts in a history of 500,000 tokens, and which of them stand in the next request after each tier: what the person
 * said and what is pinned must, always. The table that it prints stands in docs/context.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tiers.h"
#include "fakes/legal.h"
#include "fakes/talks.h"

#define WINDOW 600000
#define GOAL 270000 /* 45 % of it, as the runner asks */

enum kind { IN_FILE, IN_RESULT, BY_PERSON, BY_MODEL, PINNED, KINDS };
static const char *const kind_names[KINDS] = {"file contents", "tool results", "the person",
                                              "decisions", "pins"};
static const struct {
    enum kind kind;
    const char *fact;
} needles[] = {
    {IN_FILE, "the retry limit is 7341"},
    {IN_FILE, "port 18822 is the default"},
    {IN_FILE, "the magic bytes are 0xfeed4711"},
    {IN_FILE, "the table has 3391 rows"},
    {IN_RESULT, "error: cannot find libwidget.so.9 on this machine"},
    {IN_RESULT, "test ledger_rotate FAILED: expected 55 but got 54"},
    {IN_RESULT, "src/store/quartz.c:417: the only caller of quartz_seal"},
    {IN_RESULT, "coverage of src/net fell to 61.7 percent"},
    {BY_PERSON, "Never touch the file legacy/bridge.c, it is generated."},
    {BY_PERSON, "All messages to users must be in Norwegian."},
    {BY_PERSON, "The release is on 14 March and must not slip."},
    {BY_PERSON, "Use tabs in Makefiles of the subfolder embedded."},
    {BY_MODEL, "I decided to keep the old lock because the watchdog depends on src/core/lock.c."},
    {BY_MODEL,
     "We must migrate the schema before the index, because index_build reads the new column."},
    {BY_MODEL, "The root cause is an overflow in window_merge at line 212."},
    {BY_MODEL, "I chose a ring buffer instead of a list because of the 4 ms budget."},
    {PINNED, "pinned: the customer's id has eleven digits"},
    {PINNED, "pinned: the build host has two cores"},
    {PINNED, "pinned: answers are signed with key 0451"},
    {PINNED, "pinned: version 3 of the wire protocol is frozen"},
};

static char *
around(struct talk *t, const char *fact, size_t lines)
{
    char *a = talk_code(t, lines / 2), *b = talk_code(t, lines / 2);
    char *all = xasprintf("%s%s\n%s", a, fact, b);
    free(a);
    free(b);
    return all;
}

static void
plant(struct talk *t, size_t i, struct tier_pin *pin)
{
    const char *fact = needles[i].fact;
    char *ask = talk_prose(t, 1);
    char *text = around(t, fact, 120),
         *said = xasprintf("I looked at it. %s Now to the tests.", fact);
    char *input = xasprintf("{\"file_path\":\"src/needle_%zu.c\"}", i);
    struct talk_call read = {"Read", input, text, false};
    struct talk_call run = {"Bash", "{\"command\":\"make check\"}", text, i % 2 == 0};
    talk_user(t, needles[i].kind == BY_PERSON ? fact : ask);
    if (needles[i].kind == IN_FILE)
        talk_calls(t, "I read it.", &read, 1);
    else if (needles[i].kind == IN_RESULT)
        talk_calls(t, "I run it.", &run, 1);
    talk_say(t, needles[i].kind == BY_MODEL || needles[i].kind == PINNED ? said : "That is it.");
    if (needles[i].kind == PINNED)
        memcpy(pin->uuid, t->m[t->n - 1]->uuid, sizeof pin->uuid);
    free(ask);
    free(text);
    free(said);
    free(input);
}

static void
make(struct talk *t, struct tier_pin pins[4])
{
    size_t n_pins = 0;
    *t = (struct talk){.random = 2024};
    for (size_t i = 0; i < ARRAY_LEN(needles); i++) {
        talk_more(t, (enum talk_kind)(1 + i % 3), 25000);
        /* of each kind in each fifth of the history */
        size_t which = i % KINDS * 4 + i / KINDS;
        plant(t, which, &pins[n_pins]);
        n_pins += needles[which].kind == PINNED;
    }
    talk_more(t, TALK_DEBUG, 8000);
}

static void
count_kept(const struct message *const *m, size_t n, size_t kept[KINDS])
{
    memset(kept, 0, KINDS * sizeof *kept);
    for (size_t i = 0; i < ARRAY_LEN(needles); i++) {
        bool found = false;
        for (size_t k = 0; k < n && !found; k++)
            found = str_contains(m[k]->json, str_from(needles[i].fact));
        kept[needles[i].kind] += found;
    }
}

static struct tier_view
view_of(const struct message *const *m, size_t n, const struct tier_pin *pins, int64_t goal)
{
    struct tier_view v = {.messages = m,
                          .n = n,
                          .pins = pins,
                          .n_pins = 4,
                          .bytes_per_token = 4,
                          .window = WINDOW,
                          .goal = goal,
                          .keep_dir = "/keep"};
    for (size_t i = 0; i < n; i++)
        v.used += tier_tokens(&v, m[i]);
    v.keep_from = TIERS_KEEP_LAST < n ? n - TIERS_KEEP_LAST : 0;
    return v;
}

static void
free_list(const struct message **m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        message_free(m[i]);
    free(m);
}

static void
say_row(const char *name, const struct tier_result *r, const size_t kept[KINDS])
{
    print_message("| %-28s | %6lld > %6lld |", name, (long long)r->before, (long long)r->after);
    for (int k = 0; k < KINDS; k++)
        print_message(" %zu of 4 |", kept[k]);
    print_message("\n");
    assert_int_equal(kept[BY_PERSON], 4);
    assert_int_equal(kept[PINNED], 4);
}

static void
check_one(const struct talk *t, const struct tier_pin *pins, const char *name, tier_fn fn,
          int64_t goal, size_t kept[KINDS])
{
    const struct tier_view v = view_of(t->m, t->n, pins, goal);
    struct tier_result r = {0};
    size_t n;
    fn(&v, &r);
    const struct message **m = tier_apply(&v, &r, &n);
    assert_null(legal_check(m, n));
    count_kept(m, n, kept);
    say_row(name, &r, kept);
    free_list(m, n);
    tier_result_release(&r);
}

static void
test_each_tier_alone(void **state)
{
    (void)state;
    struct talk t;
    struct tier_pin pins[4] = {0};
    size_t kept[KINDS];
    make(&t, pins);
    print_message("  %-28s   tokens           ", "");
    for (int k = 0; k < KINDS; k++)
        print_message(" %s |", kind_names[k]);
    print_message("\n");
    check_one(&t, pins, "snip", tier_snip, GOAL, kept);
    assert_int_equal(kept[IN_FILE], 4); /* the newest read of each file */
    assert_int_equal(kept[BY_MODEL], 4);
    check_one(&t, pins, "snip, all it may", tier_snip, 0, kept);
    assert_int_equal(kept[IN_FILE], 4);
    check_one(&t, pins, "micro", tier_micro, GOAL, kept);
    assert_int_equal(kept[BY_MODEL], 4);
    check_one(&t, pins, "micro, all it may", tier_micro, 0, kept);
    check_one(&t, pins, "collapse", tier_collapse, GOAL, kept);
    assert_true(kept[BY_MODEL] >= 3); /* decisions are what extracts look for */
    check_one(&t, pins, "collapse, all it may", tier_collapse, 0, kept);
    assert_true(kept[BY_MODEL] >= 3);
    talk_release(&t);
}

static void
test_one_after_the_other(void **state)
{
    (void)state;
    static const tier_fn fns[] = {tier_snip, tier_micro, tier_collapse};
    static const char *const names[] = {"snip", "then micro", "then collapse"};
    struct talk t, now;
    struct tier_pin pins[4] = {0};
    size_t kept[KINDS];
    make(&t, pins);
    now = t;
    for (size_t i = 0; i < ARRAY_LEN(fns); i++) {
        const struct tier_view v = view_of(now.m, now.n, pins, 0);
        struct tier_result r = {0};
        size_t n;
        fns[i](&v, &r);
        const struct message **m = tier_apply(&v, &r, &n);
        assert_null(legal_check(m, n));
        count_kept(m, n, kept);
        say_row(names[i], &r, kept);
        tier_result_release(&r);
        free_list(now.m, now.n);
        now.m = m;
        now.n = n;
    }
    assert_true(kept[BY_MODEL] >= 3);
    free_list(now.m, now.n);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tier_alone),
        cmocka_unit_test(test_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
