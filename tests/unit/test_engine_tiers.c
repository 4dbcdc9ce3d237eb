/* The tiers over made-up conversations: what they may and may not do, whatever the conversation. */
#include "unit/tier_help.h"

/* All that was typed, in order, word for word. */
static void
typed(const struct message *const *m, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m[i]->n_blocks; k++)
            if (tier_is_typed(m[i], k)) {
                buf_add_str(out, m[i]->blocks[k].text);
                buf_addc(out, '\n');
            }
}

static void
check_typed(const struct talk *t, const struct message *const *m, size_t n)
{
    struct buf was, is;
    buf_init(&was, BUF_MAX);
    buf_init(&is, BUF_MAX);
    typed(t->m, t->n, &was);
    typed(m, n, &is);
    assert_string_equal(buf_cstr(&was), buf_cstr(&is));
    buf_release(&was);
    buf_release(&is);
}

/* The messages that stay at the end and the first are the very same ones. */
static void
check_ends(const struct tier_view *v, const struct message *const *m, size_t n)
{
    assert_ptr_equal(m[0], v->messages[0]);
    assert_true(v->n - v->keep_from >= 2 || v->n < 2);
    for (size_t i = 0; i < v->n - v->keep_from; i++)
        assert_ptr_equal(m[n - 1 - i], v->messages[v->n - 1 - i]);
}

static void
check_saved(const struct tier_view *v, const struct tier_result *r, const struct message *const *m,
            size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tier_tokens(v, m[i]);
    assert_int_equal(sum, r->after);
    assert_int_equal(v->used, r->before);
}

static void
check_again(const struct tier_view *v, const struct message **m, size_t n, int64_t used, tier_fn fn,
            const char *name, uint64_t seed)
{
    struct tier_view again = *v;
    struct tier_result r = {0};
    again.messages = m;
    again.n = n;
    again.used = used;
    again.keep_from = n - (v->n - v->keep_from); /* the same messages */
    fn(&again, &r);
    if (r.n)
        fail_msg("%s of seed %llu finds more: %s (%zu)", name, (unsigned long long)seed,
                 r.edits[0].what, r.n);
    tier_result_release(&r);
}

static void
check_tier(const struct talk *t, size_t which, int64_t goal, uint64_t seed)
{
    const struct tier_view v = view_of(t, goal);
    struct tier_result r = {0}, twice = {0};
    size_t n, n2;
    tiers[which].fn(&v, &r);
    tiers[which].fn(&v, &twice);
    const struct message **m = tier_apply(&v, &r, &n), **m2 = tier_apply(&v, &twice, &n2);
    assert_true(same_list(m, n, m2, n2));
    check_legal(m, n, tiers[which].name, seed);
    check_typed(t, m, n);
    check_ends(&v, m, n);
    check_saved(&v, &r, m, n);
    check_record(&v, &r, m, n);
    check_again(&v, m, n, r.after, tiers[which].fn, tiers[which].name, seed);
    free_list(m, n);
    free_list(m2, n2);
    tier_result_release(&r);
    tier_result_release(&twice);
}

static void
test_a_thousand_conversations(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct talk t;
        talk_make(&t, seed % 5 ? TALK_ANY : (enum talk_kind)(seed / 5 % 4), seed,
                  1500 + seed % 7 * 2500);
        check_legal(t.m, t.n, "the conversation", seed);
        for (size_t i = 0; i < ARRAY_LEN(tiers); i++)
            check_tier(&t, i, seed % 3 ? 0 : 4000, seed);
        talk_release(&t);
    }
}

/* One after the other, as the runner does: over what the one before left. */
static void
test_all_in_a_row(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct talk t, now = {0};
        talk_make(&t, (enum talk_kind)(seed % 4), seed, 30000);
        for (size_t i = 0; i < t.n; i++) {
            ARRAY_GROW(now.m, now.n, now.cap);
            now.m[now.n++] = message_ref(t.m[i]);
        }
        for (size_t i = 0; i < 9; i++) {
            const struct tier_view v = view_of(&now, 0);
            struct tier_result r = {0};
            size_t n;
            tiers[i % 3].fn(&v, &r);
            const struct message **m = tier_apply(&v, &r, &n);
            tier_result_release(&r);
            free_list(now.m, now.n);
            now.m = m;
            now.n = now.cap = n;
            check_legal(now.m, now.n, "a row", seed);
            check_typed(&t, now.m, now.n);
        }
        free_list(now.m, now.n);
        talk_release(&t);
    }
}

static void
test_records_that_do_not_fit(void **state)
{
    (void)state;
    struct talk t;
    talk_make(&t, TALK_ANY, 4, 3000);
    char *u = xasprintf("%s", t.m[1]->uuid);
    char *bad[] = {
        xstrdup(""),
        xstrdup("{}"),
        xstrdup("[1]"),
        xstrdup("{\"edits\":{}}"),
        xstrdup("{\"edits\":[{\"from\":\"nobody\",\"to\":\"x\",\"count\":1,\"with\":[]}]}"),
        xasprintf("{\"edits\":[{\"from\":\"%s\",\"to\":\"%s\",\"count\":2,\"with\":[]}]}", u, u),
        xasprintf(
            "{\"edits\":[{\"from\":\"%s\",\"to\":\"%s\",\"count\":1,\"with\":[{\"uuid\":\"%s\","
            "\"role\":\"assistant\",\"blocks\":[[0,99]]}]}]}",
            u, u, u),
        xasprintf(
            "{\"edits\":[{\"from\":\"%s\",\"to\":\"%s\",\"count\":1,\"with\":[{\"uuid\":\"%s\","
            "\"role\":\"assistant\",\"blocks\":[]}]}]}",
            u, u, u),
        xasprintf(
            "{\"edits\":[{\"from\":\"%s\",\"to\":\"%s\",\"count\":1,\"with\":[{\"uuid\":\"short\","
            "\"role\":\"assistant\",\"blocks\":[[0,0]]}]}]}",
            u, u),
        xasprintf(
            "{\"edits\":[{\"from\":\"%s\",\"to\":\"%s\",\"count\":1,\"with\":[{\"uuid\":\"%s\","
            "\"role\":\"assistant\",\"blocks\":[{\"no\":1}]}]}]}",
            u, u, u),
        xasprintf(
            "{\"edits\":[{\"from\":\"%s\",\"to\":\"%s\",\"count\":1,\"with\":[{\"uuid\":\"%s\","
            "\"role\":\"assistant\",\"blocks\":[[0,0]]",
            u, u, u),
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct tier_result r;
        if (tier_read(str_from(bad[i]), t.m, t.n, &r))
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(r.n, 0);
        free(bad[i]);
    }
    free(u);
    talk_release(&t);
}

/* Before and after of three long sessions: `-v` in the environment prints the table of docs/context.md. */
static void
test_three_long_sessions(void **state)
{
    (void)state;
    static const char *const names[] = {"any", "refactor", "debug", "research"};
    for (int kind = TALK_REFACTOR; kind <= TALK_RESEARCH; kind++) {
        struct talk t;
        talk_make(&t, (enum talk_kind)kind, 42, 180000);
        for (size_t i = 0; i < ARRAY_LEN(tiers); i++) {
            const struct tier_view v = view_of(&t, 90000);
            struct tier_result r = {0};
            tiers[i].fn(&v, &r);
            print_message("%-9s %-9s %7lld to %7lld tokens, %zu edits\n", names[kind],
                          tiers[i].name, (long long)r.before, (long long)r.after, r.n);
            assert_true(r.after < r.before * 9 / 10);
            tier_result_release(&r);
        }
        talk_release(&t);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thousand_conversations),
        cmocka_unit_test(test_all_in_a_row),
        cmocka_unit_test(test_records_that_do_not_fit),
        cmocka_unit_test(test_three_long_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
