#pragma once
/* The tiers' tests: a view over a made-up talk, and what must hold of every edit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tiers.h"
#include "engine/validator.h"
#include "fakes/legal.h"
#include "fakes/talks.h"

static const struct {
    const char *name;
    tier_fn fn;
} tiers[] = {{"snip", tier_snip}, {"micro", tier_micro}, {"collapse", tier_collapse}};

static inline struct tier_view
view_of(const struct talk *t, int64_t goal)
{
    struct tier_view v = {.messages = t->m,
                          .n = t->n,
                          .bytes_per_token = 4,
                          .window = 200000,
                          .goal = goal,
                          .keep_dir = "/keep"};
    for (size_t i = 0; i < t->n; i++)
        v.used += tier_tokens(&v, t->m[i]);
    v.window = v.used;
    v.keep_from = tier_keep_from(&v);
    return v;
}

static inline void
free_list(const struct message **m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        message_free(m[i]);
    free(m);
}

static inline void
check_legal(const struct message *const *m, size_t n, const char *what, uint64_t seed)
{
    const char *why = legal_check(m, n);
    if (why)
        fail_msg("%s of seed %llu: %s", what, (unsigned long long)seed, why);
    const struct message **copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = message_ref(m[i]);
    struct validator_report r;
    validator_report_init(&r);
    validator_mend(&copy, &n, &r);
    if (r.changes)
        fail_msg("%s of seed %llu: %s", what, (unsigned long long)seed, buf_cstr(&r.text));
    validator_report_release(&r);
    free_list(copy, n);
}

static inline bool
same_list(const struct message *const *a, size_t n, const struct message *const *b, size_t n2)
{
    if (n != n2)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!str_eq(a[i]->json, b[i]->json))
            return false;
    return true;
}

/* Written, read and made again it is the same list, with the same identities. */
static inline void
check_record(const struct tier_view *v, const struct tier_result *r, const struct message *const *m,
             size_t n)
{
    struct buf b;
    struct tier_result again;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"type\":\"context-edit\",");
    tier_write(v, r, "snip", &b);
    buf_addc(&b, '}');
    assert_true(tier_read(buf_str(&b), v->messages, v->n, &again));
    size_t n2;
    const struct message **m2 = tier_apply(v, &again, &n2);
    assert_true(same_list(m, n, m2, n2));
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(m[i]->uuid, m2[i]->uuid);
        assert_int_equal(m[i]->hidden, m2[i]->hidden);
    }
    free_list(m2, n2);
    tier_result_release(&again);
    buf_release(&b);
}

static inline char *
filled(char c, size_t n)
{
    char *s = xmalloc(n + 1);
    memset(s, c, n);
    s[n] = '\0';
    return s;
}

static inline void
call(struct talk *t, const char *name, const char *input, const char *result, bool failed)
{
    const struct talk_call c = {name, input, result, failed};
    talk_calls(t, NULL, &c, 1);
}
