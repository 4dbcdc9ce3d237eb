/* Patches that no person wrote: what is too long or too much to be held against the rules asks, it does not hold the call up. */
#include "unit/unit.h"

#include "unit/perm_world.h"

/* The answer to a call in a project where nothing may change below src/. */
static enum verdict
verdict_on(const char *command)
{
    struct cJSON *input = world_bash_input(command);
    struct perm_rules rules;
    struct decision d;
    perm_rules_init(&rules);
    assert_true(perm_rules_add(&rules, VERDICT_ALLOW, "Bash", SCOPE_USER, false, NULL, 0));
    assert_true(
        perm_rules_add(&rules, VERDICT_DENY, "Edit(/src/**)", SCOPE_PROJECT, false, NULL, 0));
    struct perm_request req = world_request("Bash", input, &rules);
    perm_chain_check(&req, &d);
    enum verdict v = d.verdict;
    decision_release(&d);
    perm_rules_release(&rules);
    json_free(input);
    return v;
}

static void
put_patch(const struct buf *text)
{
    assert_false(buf_full(text));
    temp_file_write(world, "proj/x.patch", buf_cstr(text));
}

static void
names_are_held_against_the_rules(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "--- a/doc/x\n+++ b/doc/x\n@@ -1 +1 @@\n-a\n+b\n");
    put_patch(&b);
    assert_int_equal(verdict_on("git apply x.patch"), VERDICT_ALLOW);
    buf_adds(&b, "--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+b\n");
    put_patch(&b);
    assert_int_equal(verdict_on("git apply x.patch"), VERDICT_DENY);
    buf_release(&b);
}

/* "diff --git a b" may be parted at each blank. */
static void
a_line_of_many_blanks_asks(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "diff --git");
    for (int i = 0; i < 1 << 20; i++)
        buf_adds(&b, " a");
    buf_adds(&b, "\n--- a/doc/x\n+++ b/doc/x\n");
    put_patch(&b);
    assert_int_equal(verdict_on("git apply x.patch"), VERDICT_ASK);
    buf_release(&b);
}

static void
more_names_than_are_looked_at_ask(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 100000; i++)
        buf_addf(&b, "+++ b/doc/%d\n", i);
    buf_adds(&b, "+++ b/src/x\n");
    put_patch(&b);
    assert_int_equal(verdict_on("git apply x.patch"), VERDICT_ASK);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_held_against_the_rules),
        cmocka_unit_test(a_line_of_many_blanks_asks),
        cmocka_unit_test(more_names_than_are_looked_at_ask),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
