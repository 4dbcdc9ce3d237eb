/* Patterns that reach more than anybody would wait for: what they stand for cannot be told, and so they ask. */
#include "unit/unit.h"

#include "unit/perm_world.h"

/* The answer under a deny rule for Edit, all commands being allowed. */
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

/* Each star comes to eight times as many folders, all of them the same one. */
static void
a_pattern_that_reaches_too_much_asks(void **state)
{
    (void)state;
    temp_file_write(world, "proj/d/x", "");
    for (char i = '1'; i <= '8'; i++) {
        char name[] = "proj/d/ ";
        name[sizeof name - 2] = i;
        world_link(name, "proj/d");
    }
    assert_int_equal(verdict_on("sed -i s/a/b/ d/*/x"), VERDICT_ALLOW);
    assert_int_equal(verdict_on("sed -i s/a/b/ d/*/*/*/*/*/*/*/*/y"), VERDICT_ASK);
    assert_int_equal(verdict_on("prettier --write d/*/*/*/*/*/*/*/*/y"), VERDICT_ASK);
}

/* glob() would go a step down the stack for each part. */
static void
a_pattern_of_thousands_of_parts_asks(void **state)
{
    static const char *const heads[] = {"cat ",     "sed -i s/a/b/ ", "rm -r ",
                                        "cp -r x ", "find . -path ",  "for f in "};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        buf_adds(&b, heads[i]);
        for (int k = 0; k < 4900; k++)
            buf_adds(&b, "*/");
        if (str_is(str_from(heads[i]), "for f in "))
            buf_adds(&b, "; do cat $f; done");
        (void)verdict_on(buf_cstr(&b)); /* whatever it says: it comes back */
        if (i < 2)
            assert_int_equal(verdict_on(buf_cstr(&b)), VERDICT_ASK);
        buf_release(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pattern_that_reaches_too_much_asks),
                                       cmocka_unit_test(a_pattern_of_thousands_of_parts_asks)};
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
