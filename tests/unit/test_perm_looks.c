/* One decision looks at so much and no more: what is over asks, and an ordinary repository is far below it. */
#include "unit/unit.h"

#include "base/glob.h"
#include "perm/looks.h"
#include "unit/perm_world.h"

enum { FOLDERS = 100, FILES = 100, RULES_ORDINARY = 24, RULES_MANY = 400 };

static void
add_rule(struct perm_rules *rules, enum verdict v, const char *text)
{
    assert_true(perm_rules_add(rules, v, text, SCOPE_PROJECT, false, NULL, 0));
}

/* All commands are allowed, n rules deny more or less usual names. */
static void
rules_make(struct perm_rules *rules, size_t n, const char *form)
{
    static const char *const usual[] = {"Read(.env)",         "Read(.env.*)",      "Read(**/*.pem)",
                                        "Read(./secrets/**)", "Edit(/src/gen/**)", "Read(*.key)"};
    char text[200];
    perm_rules_init(rules);
    assert_true(perm_rules_add(rules, VERDICT_ALLOW, "Bash", SCOPE_USER, false, NULL, 0));
    for (size_t i = 0; i < ARRAY_LEN(usual) && i < n; i++)
        add_rule(rules, VERDICT_DENY, usual[i]);
    for (size_t i = ARRAY_LEN(usual); i < n; i++) {
        (void)snprintf(text, sizeof text, form, i, i);
        add_rule(rules, VERDICT_DENY, text);
    }
}

static enum verdict
verdict_under(const struct perm_rules *rules, const char *command, enum perm_mode mode)
{
    struct cJSON *input = world_bash_input(command);
    struct decision d;
    struct perm_request req = world_request("Bash", input, rules);
    req.mode = mode;
    perm_chain_check(&req, &d);
    enum verdict v = d.verdict;
    decision_release(&d);
    json_free(input);
    return v;
}

/* A repository of ten thousand files, some of which are not in ASCII. */
static int
setup(void **state)
{
    char name[120];
    int failed = world_setup(state);
    for (int d = 0; !failed && d < FOLDERS; d++) {
        (void)snprintf(name, sizeof name, "proj/big/d%d/f", d);
        temp_file_write(world, name, "");
        char *first = fs_join(world, name);
        for (int f = 1; f < FILES; f++) {
            (void)snprintf(name, sizeof name, "proj/big/d%d/%s%d.c", d,
                           f % 10 ? "axbxcxdxexfx" : "\xd0\xb4\xd0\xbe\xd0\xbc", f);
            char *path = fs_join(world, name);
            assert_int_equal(link(first, path), 0);
            free(path);
        }
        free(first);
    }
    return failed;
}

static void
an_ordinary_repository_decides_as_ever(void **state)
{
    static const char *const commands[] = {
        "cp -r big /tmp/x",
        "cp -r big copy",
        "rsync -a big/ copy",
        "grep -r x big",
        "rg x big",
        "git add big",
        "tar cf x.tar big",
        "rm -rf big",
        "ls -R big",
        "find big -name '*.c'",
        "find big/d1 -type f | xargs -d '\\n' grep x",
        "find big -type f -exec chmod 644 {} +",
    };
    struct perm_rules rules;
    (void)state;
    rules_make(&rules, RULES_ORDINARY, "Read(**/s%zu*.p%zu)");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (verdict_under(&rules, commands[i], PERM_DEFAULT) != VERDICT_ALLOW)
            print_error("asks: %s\n", commands[i]);
        assert_int_equal(verdict_under(&rules, commands[i], PERM_DEFAULT), VERDICT_ALLOW);
    }
    perm_rules_release(&rules);
}

/* What it looks at is bounded, and what was not looked at asks: in every mode, for it may be anything. */
static void
many_rules_on_a_large_tree_ask(void **state)
{
    static const char *const commands[] = {"cp -r big copy", "rsync -a big/ copy", "mv big/* copy"};
    enum { STEPS_MAX = 40 * 1000 * 1000 };
    struct perm_rules rules;
    (void)state;
    rules_make(&rules, RULES_MANY, "Edit(**/*a*b*c*d*e*f*g%zu-%zu)");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        size_t before = glob_work();
        assert_int_equal(verdict_under(&rules, commands[i], PERM_BYPASS), VERDICT_ASK);
        assert_true(glob_work() - before < STEPS_MAX);
    }
    perm_rules_release(&rules);
}

/* A tree, however large, takes nothing away from what the call names itself. */
static void
what_is_named_is_denied_beside_a_large_tree(void **state)
{
    struct perm_rules rules;
    (void)state;
    rules_make(&rules, RULES_MANY, "Edit(**/*a*b*c*d*e*f*g%zu-%zu)");
    add_rule(&rules, VERDICT_DENY, "Bash(curl:*)");
    assert_int_equal(verdict_under(&rules, "cp -r big copy; cat .env", PERM_DEFAULT), VERDICT_DENY);
    assert_int_equal(verdict_under(&rules, "cp -r big copy; curl x", PERM_DEFAULT), VERDICT_DENY);
    perm_rules_release(&rules);
}

/* The rest of a rule is looked at only where its last part fits. */
static void
what_a_copy_brings_is_found(void **state)
{
    static const char *const rules_text[] = {
        "Edit(/copy/d7/axbxcxdxexfx31.c)",
        "Edit(**/axbxcxdxexfx31.c)",
        "Edit(/copy/d7/**)",
        "Edit(/copy/d7)",
        "Edit(/copy)",
        "Edit(/copy/**)",
        "Edit(/copy/d7/*31*)",
        "Edit(\xd0\xb4\xd0\xbe\xd0\xbc\x33\x30.c)",
        "Edit(/copy/{d7,d9}/*1.c)",
        "Edit(/copy/d7/)",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules_text); i++) {
        struct perm_rules rules;
        rules_make(&rules, 0, "");
        add_rule(&rules, VERDICT_DENY, rules_text[i]);
        if (verdict_under(&rules, "rsync -a big/ copy", PERM_DEFAULT) != VERDICT_DENY)
            print_error("not denied: %s\n", rules_text[i]);
        assert_int_equal(verdict_under(&rules, "rsync -a big/ copy", PERM_DEFAULT), VERDICT_DENY);
        perm_rules_release(&rules);
    }
}

/* One alone is judged, hundreds of them take hundreds of times as long. */
static void
many_patterns_on_a_large_folder_ask(void **state)
{
    struct perm_rules rules;
    struct buf b;
    (void)state;
    rules_make(&rules, 0, "");
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "cat big/*/*7777");
    assert_int_equal(verdict_under(&rules, buf_cstr(&b), PERM_DEFAULT), VERDICT_ALLOW);
    for (int i = 0; i < 300; i++)
        buf_addf(&b, " big/*/*%d7", i + 100);
    assert_int_equal(verdict_under(&rules, buf_cstr(&b), PERM_DEFAULT), VERDICT_ASK);
    buf_release(&b);
    perm_rules_release(&rules);
}

/* What is left is that of the decision alone, and grows with its text. */
static void
looks_are_counted_within_a_decision(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(may_walk(LOOKS_PER_KB));
    struct looks outer = looks_begin(1500);
    assert_true(may_look(LOOKS_PER_KB));
    struct looks inner = looks_begin(0);
    assert_true(may_look(LOOKS_PER_KB));
    assert_false(may_look(1));
    assert_true(looks_spent());
    looks_end(inner);
    assert_false(looks_spent());
    assert_true(may_look(LOOKS_PER_KB));
    assert_false(may_look(1));
    looks_end(outer);
    assert_false(looks_spent());
    assert_true(may_look(LOOKS_PER_KB));
}

static void
walks_leave_a_part_of_it(void **state)
{
    (void)state;
    struct looks outer = looks_begin(0);
    size_t rest = LOOKS_PER_KB / LOOKS_RESERVE;
    assert_true(may_walk(LOOKS_PER_KB - rest));
    assert_false(looks_spent());
    assert_false(may_walk(1));
    assert_true(looks_spent());
    assert_true(may_look(rest));
    assert_false(may_look(1));
    assert_false(may_walk(1));
    looks_end(outer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_repository_decides_as_ever),
        cmocka_unit_test(many_rules_on_a_large_tree_ask),
        cmocka_unit_test(what_is_named_is_denied_beside_a_large_tree),
        cmocka_unit_test(what_a_copy_brings_is_found),
        cmocka_unit_test(many_patterns_on_a_large_folder_ask),
        cmocka_unit_test(looks_are_counted_within_a_decision),
        cmocka_unit_test(walks_leave_a_part_of_it)};
    return cmocka_run_group_tests(tests, setup, world_teardown);
}
