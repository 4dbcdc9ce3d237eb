/* What is told of rules at load, each with the file and line it stands in; and that what cannot be read as written leaves nothing open. */
#include "unit/tool_cases.h"

#include "unit/temp_dir.h"

#include "base/config.h"
#include "perm/rules.h"

static bool
told(const struct perm_rules *rs, const char *part, int line)
{
    for (size_t i = 0; i < rs->n_problems; i++)
        if (strstr(rs->problems[i].text, part) && rs->problems[i].line == line)
            return true;
    return false;
}

/* Only what should keep something away and does not is broken; a slip in an allow rule opens nothing. */
static void
check_broken(const struct perm_rules *rs, const char *rule)
{
    for (size_t i = 0; i < rs->n_problems; i++)
        if (rs->problems[i].broken != (strstr(rs->problems[i].text, "NOT IN FORCE") != NULL))
            fail_msg("%s: broken is %d of '%s'", rule, rs->problems[i].broken,
                     rs->problems[i].text);
}

static void
fail_with(const struct perm_rules *rs, const char *rule, const char *part)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < rs->n_problems; i++)
        buf_addf(&b, "\n  %d: %s", rs->problems[i].line, rs->problems[i].text);
    fail_msg("%s: '%s' is not told:%s", rule, part, buf_cstr(&b));
}

/* One rule alone: what is told, and the tool of the ask rule that stands in for it (NULL: none). */
static void
test_one_rule(void **state)
{
    (void)state;
    static const struct {
        enum verdict list;
        const char *text, *told, *asks;
    } cases[] = {
        {VERDICT_DENY, "Raed(.env)",
         "IS NOT IN FORCE: no tool is called 'Raed', did you mean 'Read'", "Read"},
        {VERDICT_ALLOW, "Bsah(ls)", "grants nothing: no tool is called 'Bsah', did you mean 'Bash'",
         NULL},
        {VERDICT_DENY, "WebFecth(domain:a.example)", "did you mean 'WebFetch'", "WebFetch"},
        {VERDICT_ALLOW, "Telephone", "names no tool of yare", NULL},
        {VERDICT_DENY, "bash(rm:*)", "is read as one for Bash", NULL},
        {VERDICT_ALLOW, "read(x)", "the tool is called Read", NULL},
        {VERDICT_DENY, "Bash('git push')", "is read as Bash(git push): leave the quotes out", NULL},
        {VERDICT_ALLOW, "Bash(\"git push\")", "grants nothing: leave the quotes", NULL},
        {VERDICT_DENY, "Read(\"secrets/**\")", "is read as Read(secrets/**)", NULL},
        {VERDICT_DENY, "Bash(curl * | sh)", "IS NOT IN FORCE as written", "Bash"},
        {VERDICT_ALLOW, "Bash(make && make test)", "one command at a time", NULL},
        {VERDICT_ALLOW, "Bash(npm test 2>&1)", "redirections are judged by Edit and Read", NULL},
        {VERDICT_ALLOW, "Bash(ls $HOME)", "have their values when rules are matched", NULL},
        {VERDICT_DENY, "Read(~bob/x)", "'~name' is not looked up", NULL},
        {VERDICT_DENY, "Read(/etc/passwd)", "begins with //", NULL},
        {VERDICT_ALLOW, "Write(src/**)", "is ignored: write it as Edit(src/**)", NULL},
        {VERDICT_ASK, "Glob(src/**)", "is read as Read(src/**)", NULL},
        {VERDICT_ALLOW, "Agent(model:opus)", "only deny and ask rules may name a field", NULL},
        {VERDICT_DENY, "Bash(command:rm *)", "write it as Bash(COMMAND)", NULL},
        {VERDICT_DENY, "WebFetch(https://a.example/x)", "is read as WebFetch(domain:a.example)",
         NULL},
        {VERDICT_ALLOW, "WebFetch(domain:a.example:80)", "write it as WebFetch(domain:a.example)",
         NULL},
        {VERDICT_ALLOW, "Bash", "very broad: it lets every command run", NULL},
        {VERDICT_ALLOW, "Bash(*)", "very broad", NULL},
        {VERDICT_ALLOW, "Bash(bash:*)", "very broad: that program runs whatever", NULL},
        {VERDICT_ALLOW, "Bash(python3.12 *)", "very broad", NULL},
        {VERDICT_ALLOW, "Edit", "very broad", NULL},
        {VERDICT_ALLOW, "Edit(//**)", "very broad", NULL},
        {VERDICT_ALLOW, "WebFetch", "very broad", NULL},
        {VERDICT_ALLOW, "Edit(.git/hooks/**)", "does not keep it from asking: protected", NULL},
        {VERDICT_DENY, "Bash(rm -rf", "the closing bracket is missing", "Bash"},
        {VERDICT_DENY, "Bash(r\xe2\x80\x8bm:*)", "IS NOT IN FORCE: it holds signs that do not show",
         "Bash"},
        {VERDICT_DENY, "Bash(rm\xe2\x80\xae:*)", "'Bash(rm<U+202E>:*)' IS NOT IN FORCE", "Bash"},
        {VERDICT_DENY, "Bash(rm\1 -rf)", "it holds control characters", "Bash"},
        {VERDICT_DENY, "Read({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}x)",
         "IS NOT IN FORCE: its braces make more than 256 alternatives", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct perm_rules rs;
        perm_rules_init(&rs);
        perm_rules_add(&rs, cases[i].list, cases[i].text, SCOPE_USER, false, "/s.json", 9);
        perm_rules_audit(&rs);
        if (!told(&rs, cases[i].told, 9))
            fail_with(&rs, cases[i].text, cases[i].told);
        check_broken(&rs, cases[i].text);
        bool asks = false;
        for (size_t k = 0; cases[i].asks && k < rs.n; k++)
            asks |= rs.rules[k].verdict == VERDICT_ASK && !strcmp(rs.rules[k].tool, cases[i].asks);
        if (cases[i].asks && !asks)
            fail_msg("%s leaves %s open", cases[i].text, cases[i].asks);
        perm_rules_release(&rs);
    }
}

/* Rules that people write: nothing to say. */
static void
test_nothing_to_tell(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "Bash(npm run test:*)",
        "Bash(git commit -m:*)",
        "Bash(make)",
        "Bash(docker ps:*)",
        "Read(~/.zshrc)",
        "Edit(src/**)",
        "Edit(/docs/**)",
        "WebFetch(domain:a.example)",
        "mcp__srv__do",
        "mcp__other",
        "Agent(kit:review)",
        "Skill(pdf *)",
        "Bash(find . -name '*.c')",
        "Read(//etc/hosts)",
        "WebSearch",
    };
    struct perm_rules rs;
    perm_rules_init(&rs);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        assert_true(perm_rules_add(&rs, VERDICT_ALLOW, rules[i], SCOPE_USER, false, "/s", 1));
    perm_rules_audit(&rs);
    if (rs.n_problems)
        fail_msg("%s", rs.problems[0].text);
    perm_rules_release(&rs);
}

static void
test_pairs(void **state)
{
    (void)state;
    static const struct {
        enum verdict la;
        const char *a;
        enum verdict lb;
        const char *b, *told; /* of a, NULL: nothing */
    } cases[] = {
        {VERDICT_ALLOW, "Bash(make)", VERDICT_DENY, "Bash(make)",
         "contradicts deny rule 'Bash(make)' (/f:2)"},
        {VERDICT_ALLOW, "Bash(make:*)", VERDICT_ASK, "Bash(make *)",
         "'Bash(make:*)' never counts: ask rule 'Bash(make *)' (/f:2)"},
        {VERDICT_ASK, "Bash(git push)", VERDICT_DENY, "Bash(git:*)",
         "ask rule 'Bash(git push)' never counts: deny rule"},
        {VERDICT_ALLOW, "Bash(git push:*)", VERDICT_DENY, "Bash(git push)", NULL},
        {VERDICT_ALLOW, "Bash(git:*)", VERDICT_DENY, "Bash(git push:*)", NULL},
        {VERDICT_ALLOW, "Bash(git push x)", VERDICT_DENY, "Bash(git * x)", "never counts"},
        {VERDICT_ALLOW, "Edit(src/a.c)", VERDICT_DENY, "Edit(src/**)", "never counts"},
        {VERDICT_ALLOW, "Edit(src/a.c)", VERDICT_DENY, "Read(src/**)", "never counts"},
        {VERDICT_ALLOW, "Edit(src/../a)", VERDICT_DENY, "Edit(src/**)", NULL},
        {VERDICT_ALLOW, "Read(x)", VERDICT_DENY, "Read", "never counts"},
        {VERDICT_ALLOW, "mcp__a__b", VERDICT_DENY, "mcp__a", "never counts"},
        {VERDICT_ALLOW, "mcp__ab__c", VERDICT_DENY, "mcp__a", NULL},
        {VERDICT_ALLOW, "mcp__a__b", VERDICT_ASK, "*", "never counts"},
        {VERDICT_ALLOW, "Agent(x)", VERDICT_DENY, "Agent", "never counts"},
        {VERDICT_ALLOW, "Agent(x)", VERDICT_DENY, "Agent(model:opus)", NULL},
        {VERDICT_ALLOW, "WebFetch(domain:a)", VERDICT_DENY, "WebFetch(domain:a)", "contradicts"},
        {VERDICT_ALLOW, "Bash(git push x)", VERDICT_ALLOW, "Bash(git push:*)",
         "adds nothing to another one: 'Bash(git push:*)' (/f:2)"},
        {VERDICT_ALLOW, "Bash(python3 a.py)", VERDICT_ALLOW, "Bash(python3:*)", NULL},
        {VERDICT_DENY, "Read(a/b)", VERDICT_DENY, "Read(a/**)", "adds nothing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct perm_rules rs;
        perm_rules_init(&rs);
        assert_true(perm_rules_add(&rs, cases[i].la, cases[i].a, SCOPE_USER, false, "/f", 1));
        assert_true(perm_rules_add(&rs, cases[i].lb, cases[i].b, SCOPE_USER, false, "/f", 2));
        perm_rules_audit(&rs);
        bool any = told(&rs, cases[i].told ? cases[i].told : "", 1);
        if (any != (cases[i].told != NULL))
            fail_with(&rs, cases[i].a, cases[i].told ? cases[i].told : "(nothing)");
        perm_rules_release(&rs);
    }
}

static void
test_twice_is_told_once(void **state)
{
    (void)state;
    struct perm_rules rs;
    perm_rules_init(&rs);
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Bash(a:*)", SCOPE_USER, false, "/f", 1));
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Bash(a *)", SCOPE_USER, false, "/f", 2));
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Bash(a:*)", SCOPE_PROJECT, false, "/g", 3));
    perm_rules_audit(&rs);
    assert_int_equal(rs.n_problems, 1);
    assert_true(told(&rs, "stands twice: 'Bash(a:*)' (/f:1)", 2));
    perm_rules_release(&rs);
}

/* A rule of each file is named with that file and its line. */
static void
test_each_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *rule;
        int line;
        enum scope scope;
    } files[] = {
        {"proj/.yare/settings.local.json", "Bash(a1)", 2, SCOPE_LOCAL},
        {"proj/.claude/settings.local.json", "Bash(a2)", 3, SCOPE_LOCAL},
        {"proj/.yare/settings.json", "Bash(a3)", 4, SCOPE_PROJECT},
        {"proj/.claude/settings.json", "Bash(a4)", 5, SCOPE_PROJECT},
        {"home/.config/yare/settings.json", "Bash(a5)", 6, SCOPE_USER},
        {"home/.claude/settings.json", "Bash(a6)", 7, SCOPE_USER},
    };
    char *dir = temp_dir_make(), *proj = fs_join(dir, "proj"), *home = fs_join(dir, "home"),
         *conf = fs_join(dir, "home/.config/yare"), *cli = fs_join(dir, "cli.json");
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        buf_adds(&b, "{\"permissions\":{\"deny\":[");
        for (int k = 1; k < files[i].line; k++)
            buf_addc(&b, '\n');
        buf_addf(&b, "\"%s\"]}}", files[i].rule);
        temp_file_write(dir, files[i].name, buf_cstr(&b));
        buf_release(&b);
    }
    temp_file_write(dir, "cli.json", "{\"permissions\":{\"deny\":[\n\n\"Bash(a7)\"]}}");
    const struct config_paths paths = {.home = home,
                                       .config_dir = conf,
                                       .project_root = proj,
                                       .system_dir = dir,
                                       .cli_settings = cli};
    struct config *c = config_load(&paths);
    struct perm_rules rs;
    perm_rules_init(&rs);
    perm_rules_load(&rs, c);
    assert_int_equal(rs.n, ARRAY_LEN(files) + 1);
    for (size_t i = 0; i < rs.n; i++) {
        const struct perm_rule *r = &rs.rules[i];
        size_t k = (size_t)(r->text[6] - '1');
        char *want = fs_join(dir, k < ARRAY_LEN(files) ? files[k].name : "cli.json");
        assert_string_equal(r->file, want);
        assert_int_equal(r->line, k < ARRAY_LEN(files) ? files[k].line : 3);
        assert_int_equal(r->scope, k < ARRAY_LEN(files) ? files[k].scope : SCOPE_CLI);
        free(want);
    }
    perm_rules_release(&rs);
    config_free(c);
    free(proj);
    free(home);
    free(conf);
    free(cli);
    temp_dir_remove(dir);
}

/* A list of n deny rules in the project's settings. */
static void
load_many(struct perm_rules *rs, size_t n)
{
    char *dir = temp_dir_make(), *proj = fs_join(dir, "proj");
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"permissions\":{\"deny\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%s\"Bash(t%zu:*)\"", i ? "," : "", i);
    buf_adds(&b, "]}}");
    temp_file_write(dir, "proj/.yare/settings.json", buf_cstr(&b));
    buf_release(&b);
    const struct config_paths paths = {
        .home = dir, .config_dir = dir, .project_root = proj, .system_dir = dir};
    struct config *c = config_load(&paths);
    perm_rules_init(rs);
    perm_rules_load(rs, c);
    config_free(c);
    free(proj);
    temp_dir_remove(dir);
}

/* None is left out without a word: what is past the cap makes every call ask. */
static void
test_too_many(void **state)
{
    (void)state;
    struct perm_rules rs;
    load_many(&rs, 10000);
    assert_int_equal(rs.n, 10000);
    assert_null(rs.broken);
    assert_int_equal(rs.n_problems, 0);
    perm_rules_release(&rs);
    load_many(&rs, 20001);
    assert_int_equal(rs.n, 20000);
    assert_non_null(rs.broken);
    assert_true(told(&rs, "there are 20001 deny rules, and 20000 is the most", 1));
    perm_rules_release(&rs);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rule),
        cmocka_unit_test(test_nothing_to_tell),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_twice_is_told_once),
        cmocka_unit_test(test_each_file_and_line),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
