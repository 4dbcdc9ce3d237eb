/* The grammar of rules: commands, hosts, tools, and what becomes a problem. */
#include "unit/tool_cases.h"

#include "base/fs.h"
#include "base/json.h"
#include "perm/rules_match.h"
#include "perm/url.h"
#include "perm/wild.h"

static enum verdict
add_case_rule(struct perm_rules *rs, const char *line)
{
    enum verdict list = strncmp(line, "allow ", 6) == 0 ? VERDICT_ALLOW
                        : strncmp(line, "ask ", 4) == 0 ? VERDICT_ASK
                                                        : VERDICT_DENY;
    perm_rules_init(rs);
    assert_true(perm_rules_add(rs, list, strchr(line, ' ') + 1, SCOPE_USER, false, "/s.json", 3));
    return list;
}

static void
check_bash(const struct text_case *c)
{
    static const char *const names[] = {"no", "may", "yes", "yes", "yes"};
    struct perm_shell_env env = {.cwd = "/tmp", .home = "/root", .root = "/tmp", .shell = "bash"};
    struct perm_rules rs;
    struct perm_analysis a;
    struct leaf_texts t;
    struct rule_filter f = {.list = add_case_rule(&rs, c->line[0])};
    perm_shell_analyse(str_from(c->line[1]), &env, &a);
    assert_true(a.n_leaves > 0);
    leaf_texts_init(&t, &a.leaves[0]);
    struct leaf_match m = rules_match_leaf(&rs, &f, &t, &a.leaves[0]);
    if (strcmp(names[m.how], c->line[2]) != 0)
        fail_msg("line %d: %s and %s: %s, should be %s (%s / %s)", c->number, c->line[0],
                 c->line[1], names[m.how], c->line[2], buf_cstr(&t.exact), buf_cstr(&t.deny));
    bool match = perm_rules_match_leaf(&rs, f.list, &a.leaves[0]) != NULL;
    assert_int_equal(match, strcmp(c->line[2], "yes") == 0);
    leaf_texts_release(&t);
    perm_analysis_release(&a);
    perm_rules_release(&rs);
}

static void
test_bash(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/rules_bash.txt", 3, check_bash) > 60);
}

static void
check_host(const struct text_case *c)
{
    struct url_host h;
    url_host_parse(str_from(c->line[1]), &h);
    bool match = url_domain_match(str_from(c->line[0]), &h);
    const char *got = h.bad ? "bad" : match && h.userinfo ? "user" : match ? "yes" : "no";
    if (strcmp(got, c->line[2]) != 0)
        fail_msg("line %d: %s and %s: %s, should be %s", c->number, c->line[0], c->line[1], got,
                 c->line[2]);
    url_host_release(&h);
}

static void
test_hosts(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/rules_host.txt", 3, check_host) > 35);
}

static void
test_wild(void **state)
{
    (void)state;
    assert_true(wild_match(STR("*"), STR("")));
    assert_true(wild_match(STR("a*"), STR("a")));
    assert_true(wild_match(STR("*a*b*"), STR("xaxbx")));
    assert_false(wild_match(STR("a*a"), STR("a")));
    assert_false(wild_match(STR("*ab"), STR("abx")));
    assert_true(wild_overlap(STR("git push*"), STR("git\x01")));
    assert_true(wild_overlap(STR("a*c"), STR("\x01"
                                             "bc")));
    assert_false(wild_overlap(STR("git push"), STR("git pull\x01")));
    assert_true(wild_overlap(STR("*"), STR("")));
    assert_false(wild_overlap(STR("a"), STR("")));
}

/* A pattern that makes backtracking matchers give up. */
static void
test_wild_is_linear(void **state)
{
    (void)state;
    struct buf pattern, text;
    buf_init(&pattern, BUF_MAX);
    buf_init(&text, BUF_MAX);
    for (int i = 0; i < 2000; i++)
        buf_adds(&pattern, "a*");
    buf_addc(&pattern, 'b');
    for (int i = 0; i < 1000000; i++)
        buf_addc(&text, 'a');
    assert_false(wild_match(buf_str(&pattern), buf_str(&text)));
    buf_addc(&text, 'b');
    assert_true(wild_match(buf_str(&pattern), buf_str(&text)));
    buf_release(&pattern);
    buf_release(&text);
}

struct parse_case {
    enum verdict list;
    const char *text;
    bool added;
    const char *problem; /* a part of it, NULL: none */
};

static void
test_problems(void **state)
{
    (void)state;
    static const struct parse_case cases[] = {
        {VERDICT_ALLOW, "Bash(git status)", true, NULL},
        {VERDICT_ALLOW, "Bash(git status", false, "closing bracket"},
        {VERDICT_DENY, "Bash(git status", false, "IS NOT IN FORCE"},
        {VERDICT_ALLOW, "Bash(git status))", false, "do not pair"},
        {VERDICT_ALLOW, "Bash(a) b", false, "closing bracket"},
        {VERDICT_ALLOW, "Bash()", false, "nothing between"},
        {VERDICT_ALLOW, "Bash(:*)", false, "names no command"},
        {VERDICT_ALLOW, "", false, "empty"},
        {VERDICT_ALLOW, "Bash git", false, "odd characters"},
        {VERDICT_ALLOW, "*", false, "grants nothing"},
        {VERDICT_ALLOW, "mcp__*", false, "grants nothing"},
        {VERDICT_ALLOW, "mcp__a*__b", false, "grants nothing"},
        {VERDICT_ALLOW, "mcp__a__*", true, NULL},
        {VERDICT_DENY, "*", true, NULL},
        {VERDICT_DENY, "mcp__*", true, NULL},
        {VERDICT_ALLOW, "Write(src/**)", false, "write it as Edit(src/**)"},
        {VERDICT_DENY, "Write(src/**)", true, "is read as Edit(src/**)"},
        {VERDICT_ASK, "MultiEdit(x)", true, "is read as Edit(x)"},
        {VERDICT_DENY, "Grep(x)", true, "is read as Read(x)"},
        {VERDICT_ALLOW, "bash(ls)", false, "the tool is called Bash"},
        {VERDICT_DENY, "bash(ls)", true, "is read as one for Bash"},
        {VERDICT_ALLOW, "WebFetch(example.com)", false, "WebFetch(domain:example.com)"},
        {VERDICT_ALLOW, "WebFetch(domain:example.com)", true, NULL},
        {VERDICT_ALLOW, "mcp__a__b(x:y)", false, "only deny and ask"},
        {VERDICT_DENY, "mcp__a__b(x:y)", true, NULL},
        {VERDICT_ALLOW, "Bash(a\x01)", false, "control"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct perm_rules rs;
        perm_rules_init(&rs);
        bool added =
            perm_rules_add(&rs, cases[i].list, cases[i].text, SCOPE_USER, false, "/s.json", 7);
        if (added != cases[i].added)
            fail_msg("'%s': added %d", cases[i].text, added);
        assert_int_equal(rs.n_problems, cases[i].problem ? 1 : 0);
        if (cases[i].problem) {
            if (!strstr(rs.problems[0].text, cases[i].problem))
                fail_msg("'%s': %s", cases[i].text, rs.problems[0].text);
            assert_string_equal(rs.problems[0].file, "/s.json");
            assert_int_equal(rs.problems[0].line, 7);
        }
        perm_rules_release(&rs);
    }
}

/* What cannot be read asks for what it seems to name. */
static void
test_broken_rule_asks(void **state)
{
    (void)state;
    struct perm_rules rs;
    perm_rules_init(&rs);
    assert_false(perm_rules_add(&rs, VERDICT_DENY, "Bash(rm -rf", SCOPE_USER, false, NULL, 0));
    assert_int_equal(rs.n, 1);
    assert_int_equal(rs.rules[0].verdict, VERDICT_ASK);
    assert_string_equal(rs.rules[0].pattern, "rm -rf");
    assert_true(rs.rules[0].boundary);
    perm_rules_release(&rs);
}

static void
test_audit(void **state)
{
    (void)state;
    struct perm_rules rs;
    perm_rules_init(&rs);
    assert_true(
        perm_rules_add(&rs, VERDICT_ALLOW, "Bash(git push origin)", SCOPE_USER, false, "/a", 1));
    assert_true(perm_rules_add(&rs, VERDICT_ALLOW, "Bash(git status)", SCOPE_USER, false, "/a", 2));
    assert_true(perm_rules_add(&rs, VERDICT_ALLOW, "mcp__a__b", SCOPE_USER, false, "/a", 3));
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Bash(git push:*)", SCOPE_USER, false, "/a", 4));
    assert_true(perm_rules_add(&rs, VERDICT_ASK, "mcp__*", SCOPE_USER, false, "/a", 5));
    perm_rules_audit(&rs);
    assert_int_equal(rs.n_problems, 2);
    assert_non_null(strstr(rs.problems[0].text,
                           "'Bash(git push origin)' never counts: deny rule 'Bash(git push:*)'"));
    assert_int_equal(rs.problems[1].line, 3);
    perm_rules_release(&rs);
}

static bool
tool_matches(enum verdict list, const char *rule, const char *tool, const char *input)
{
    struct perm_rules rs;
    struct err err;
    perm_rules_init(&rs);
    assert_true(perm_rules_add(&rs, list, rule, SCOPE_USER, false, NULL, 0));
    struct cJSON *t = json_parse(str_from(input), &err);
    assert_non_null(t);
    bool match = perm_rules_match_tool(&rs, list, tool, t) != NULL;
    json_free(t);
    perm_rules_release(&rs);
    return match;
}

static void
test_tools(void **state)
{
    (void)state;
    assert_true(tool_matches(VERDICT_ALLOW, "mcp__a", "mcp__a__b", "{}"));
    assert_false(tool_matches(VERDICT_ALLOW, "mcp__a", "mcp__ab__c", "{}"));
    assert_true(tool_matches(VERDICT_DENY, "mcp__a*", "mcp__ab__c", "{}"));
    assert_true(tool_matches(VERDICT_ALLOW, "Agent(x)", "Task", "{\"subagent_type\":\"x\"}"));
    assert_false(tool_matches(VERDICT_ALLOW, "Agent(x)", "Agent", "{\"subagent_type\":\"xy\"}"));
    assert_true(tool_matches(VERDICT_DENY, "Agent(model:o*)", "Agent", "{\"model\":\"opus\"}"));
    assert_false(tool_matches(VERDICT_DENY, "Agent(model:o*)", "Agent", "{\"model\":\"haiku\"}"));
    assert_true(tool_matches(VERDICT_ASK, "mcp__a__b(n:5)", "mcp__a__b", "{\"n\":5}"));
    assert_false(tool_matches(VERDICT_ASK, "mcp__a__b(n:5)", "mcp__a__b", "{\"n\":[5]}"));
    assert_true(tool_matches(VERDICT_ALLOW, "Skill(pdf)", "Skill", "{\"skill\":\"pdf\"}"));
    assert_false(tool_matches(VERDICT_ALLOW, "Skill(pdf)", "Skill", "{\"skill\":\"pdf --all\"}"));
    assert_true(tool_matches(VERDICT_ALLOW, "Skill(pdf *)", "Skill", "{\"skill\":\"pdf --all\"}"));
    assert_true(tool_matches(VERDICT_ALLOW, "Read", "Grep", "{}"));
    assert_false(tool_matches(VERDICT_ALLOW, "Write", "Edit", "{}"));
    assert_true(tool_matches(VERDICT_DENY, "Edit", "NotebookEdit", "{}"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bash),     cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_wild),     cmocka_unit_test(test_wild_is_linear),
        cmocka_unit_test(test_problems), cmocka_unit_test(test_broken_rule_asks),
        cmocka_unit_test(test_audit),    cmocka_unit_test(test_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
