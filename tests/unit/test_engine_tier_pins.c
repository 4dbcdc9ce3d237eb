/* What is pinned stays in every list that a tier makes, also where it was only ever said in a reminder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/tiers.h"

#define ROUNDS 60
#define FACT "the port is 12419"

static const struct message *
make(enum role role, const char *text, const char *more)
{
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    message_add_text(b, str_from(more));
    return message_build(b);
}

/* A long talk; the fact stands in a reminder behind the third prompt. */
static size_t
make_talk(const struct message *m[2 * ROUNDS + 1])
{
    size_t n = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char *said = xasprintf("Part %d of the parser reads the tokens and keeps the list. "
                               "It frees the buffer, the callers see no change at all.",
                               i);
        m[n++] = make(ROLE_USER, "go on with the next part",
                      i == 2 ? "<system-reminder>\nThe person pinned this:\n- " FACT
                               "\n</system-reminder>"
                             : "");
        m[n++] = make(ROLE_ASSISTANT, said, "");
        free(said);
    }
    m[n++] = make(ROLE_USER, "and now?", "");
    return n;
}

static bool
holds(const struct message *const *m, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found |= str_contains(m[i]->json, STR(FACT));
    return found;
}

static void
test_a_fact_in_a_reminder_is_not_folded(void **state)
{
    (void)state;
    const struct message *m[2 * ROUNDS + 1];
    char fact[] = FACT;
    struct tier_pin pin = {.fact = fact};
    struct tier_view v = {
        .messages = m, .n = make_talk(m), .pins = &pin, .n_pins = 1, .bytes_per_token = 4};
    for (size_t i = 0; i < v.n; i++)
        v.used += tier_tokens(&v, m[i]);
    v.keep_from = v.n - TIERS_KEEP_LAST;
    v.window = v.used;
    struct tier_result r = {0};
    size_t n;
    tier_collapse(&v, &r);
    assert_true(r.n > 0); /* something was folded at all */
    const struct message **out = tier_apply(&v, &r, &n);
    assert_true(n < v.n);
    assert_true(holds(out, n));
    for (size_t i = 0; i < n; i++)
        message_free((struct message *)(uintptr_t)out[i]);
    free(out);
    tier_result_release(&r);
    for (size_t i = 0; i < v.n; i++)
        message_free((struct message *)(uintptr_t)m[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_fact_in_a_reminder_is_not_folded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
