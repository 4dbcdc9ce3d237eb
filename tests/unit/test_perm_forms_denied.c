/* Each form of a rule that docs/permissions.md tells of, as a deny rule: no mode, no sandbox, no hook and no allow rule gets past it. */
#include "unit/tool_cases.h"

#include "unit/perm_world.h"

#include "perm/chain.h"

/* /proj, /home/dev and /srv/lib are moved into the test's world. `input` is the tool's, as JSON. */
static const struct form {
    const char *rule, *tool, *input;
} forms[] = {
    /* Tool, Tool(*), names with a wildcard */
    {"Bash", "Bash", "{\"command\":\"ls\"}"},
    {"Bash(*)", "Bash", "{\"command\":\"ls\"}"},
    {"Read", "Read", "{\"file_path\":\"/proj/README.md\"}"},
    {"WebFetch", "WebFetch", "{\"url\":\"https://a.example/\"}"},
    {"WebSearch", "WebSearch", "{\"query\":\"x\"}"},
    {"*", "Bash", "{\"command\":\"ls\"}"},
    {"*", "Edit", "{\"file_path\":\"/proj/src/x.c\"}"},
    {"mcp__*", "mcp__github__get", "{}"},
    {"Web*", "WebFetch", "{\"url\":\"https://a.example/\"}"},
    {"Web*", "WebSearch", "{\"query\":\"x\"}"},
    /* commands */
    {"Bash(npm test)", "Bash", "{\"command\":\"npm test\"}"},
    {"Bash(git push:*)", "Bash", "{\"command\":\"git push origin main\"}"},
    {"Bash(git push:*)", "Bash", "{\"command\":\"git -C web push\"}"},
    {"Bash(git push *)", "Bash", "{\"command\":\"make && git push origin x\"}"},
    {"Bash(git push:*)", "Bash", "{\"command\":\"sudo git push\"}"},
    {"Bash(git push:*)", "Bash", "{\"command\":\"bash -c 'git push'\"}"},
    {"Bash(git push:*)", "Bash", "{\"command\":\"for i in 1 2; do git push; done\"}"},
    {"Bash(git push:*)", "Bash", "{\"command\":\"echo $(git push)\"}"},
    {"Bash(npm publish:*)", "Bash", "{\"command\":\"npm --prefix web publish\"}"},
    {"Bash(ls*)", "Bash", "{\"command\":\"lsof -i\"}"},
    {"Bash(* --force)", "Bash", "{\"command\":\"make x --force\"}"},
    {"Bash(curl:*)", "Bash", "{\"command\":\"/usr/bin/curl x\"}"},
    {"Bash(echo \\(x\\))", "Bash", "{\"command\":\"echo '(x)'\"}"},
    /* reading */
    {"Read(.env)", "Read", "{\"file_path\":\"/proj/.env\"}"},
    {"Read(.env)", "Read", "{\"file_path\":\"/proj/src/../.env\"}"},
    {"Read(.env)", "Read", "{\"file_path\":\"/proj/link\"}"},
    {"Read(.env)", "Bash", "{\"command\":\"cat .env\"}"},
    {"Read(.env)", "Bash", "{\"command\":\"sort < .env\"}"},
    {"Read(.env)", "Bash", "{\"command\":\"cd src && cat ../.env\"}"},
    {"Read(.env)", "Edit", "{\"file_path\":\"/proj/.env\"}"},
    {"Read(.env)", "Grep", "{\"pattern\":\"x\",\"path\":\"/proj/.env\"}"},
    {"Read(./.env)", "Read", "{\"file_path\":\"/proj/.env\"}"},
    {"Read(/src/**)", "Read", "{\"file_path\":\"/proj/src/x.c\"}"},
    {"Read(src/**)", "Read", "{\"file_path\":\"/proj/src/x.c\"}"},
    {"Read(~/.ssh/**)", "Read", "{\"file_path\":\"/home/dev/.ssh/id_rsa\"}"},
    {"Read(~/.ssh/**)", "Bash", "{\"command\":\"cat ~/.ssh/id_rsa\"}"},
    {"Read(//srv/lib/**)", "Read", "{\"file_path\":\"/srv/lib/x\"}"},
    {"Read(//srv/lib/x)", "Bash", "{\"command\":\"head /srv/lib/x\"}"},
    {"Read(*.c)", "Read", "{\"file_path\":\"/proj/src/x.c\"}"},
    /* writing */
    {"Edit(/src/**)", "Edit", "{\"file_path\":\"/proj/src/x.c\"}"},
    {"Edit(/src/**)", "Write", "{\"file_path\":\"/proj/src/new.c\"}"},
    {"Edit(/src/**)", "MultiEdit", "{\"file_path\":\"/proj/src/x.c\"}"},
    {"Edit(/src/**)", "NotebookEdit", "{\"notebook_path\":\"/proj/src/x.ipynb\"}"},
    {"Edit(/src/**)", "Bash", "{\"command\":\"echo x > src/x.c\"}"},
    {"Edit(/src/**)", "Bash", "{\"command\":\"sed -i s/a/b/ src/x.c\"}"},
    {"Edit(/src/**)", "Bash", "{\"command\":\"mv src/x.c /tmp/x\"}"},
    {"Edit(/src/**)", "Bash", "{\"command\":\"echo x | tee src/x.c\"}"},
    {"Edit(README.md)", "Bash", "{\"command\":\"rm README.md\"}"},
    /* places, hosts */
    {"Cd(//srv/lib)", "Bash", "{\"command\":\"cd /srv/lib && ls\"}"},
    {"Cd(//srv/lib)", "Bash", "{\"command\":\"pushd /srv/lib\"}"},
    {"WebFetch(domain:evil.example)", "WebFetch", "{\"url\":\"https://evil.example/a\"}"},
    {"WebFetch(domain:evil.example)", "WebFetch", "{\"url\":\"https://EVIL.example.:443/a\"}"},
    {"WebFetch(domain:*.evil.example)", "WebFetch", "{\"url\":\"https://a.evil.example/\"}"},
    /* servers, agents, skills */
    {"mcp__github", "mcp__github__get", "{}"},
    {"mcp__github__*", "mcp__github__get", "{}"},
    {"mcp__github__get", "mcp__github__get", "{}"},
    {"Agent(deployer)", "Agent", "{\"subagent_type\":\"deployer\"}"},
    {"Task(deployer)", "Agent", "{\"subagent_type\":\"deployer\"}"},
    {"Agent(deployer)", "Task", "{\"subagent_type\":\"deployer\"}"},
    {"Skill(deploy)", "Skill", "{\"skill\":\"deploy\"}"},
    {"Skill(deploy *)", "Skill", "{\"skill\":\"deploy\",\"args\":\"prod\"}"},
    /* fields */
    {"Agent(model:opus)", "Agent", "{\"subagent_type\":\"x\",\"model\":\"opus\"}"},
    {"Bash(run_in_background:true)", "Bash", "{\"command\":\"make\",\"run_in_background\":true}"},
};

static const enum perm_mode modes[] = {PERM_DEFAULT, PERM_ACCEPT_EDITS, PERM_PLAN,
                                       PERM_AUTO,    PERM_DONT_ASK,     PERM_BYPASS};

/* How much else says yes: nothing; the sandbox; a hook, too; and a rule for all of the tool. */
static void
check_form(const struct form *f, enum perm_mode mode, int yes)
{
    struct perm_rules rules;
    struct decision d;
    struct err err;
    struct buf rule, json;
    buf_init(&rule, BUF_MAX);
    buf_init(&json, BUF_MAX);
    world_replace(&rule, f->rule, world);
    world_replace(&json, f->input, world);
    struct cJSON *input = json_parse(buf_str(&json), &err);
    assert_non_null(input);
    perm_rules_init(&rules);
    if (!perm_rules_add(&rules, VERDICT_DENY, buf_cstr(&rule), SCOPE_USER, false, "s.json", 1))
        fail_msg("%s is no rule", f->rule);
    if (yes > 2)
        (void)perm_rules_add(&rules, VERDICT_ALLOW, f->tool, SCOPE_MANAGED, false, "m.json", 1);
    struct perm_request req = world_request(f->tool, input, &rules);
    req.mode = mode;
    req.tool_known = true;
    req.hook = yes > 1 ? VERDICT_ALLOW : VERDICT_NONE;
    req.mcp_server = strncmp(f->tool, "mcp__", 5) == 0 ? "github" : NULL;
    req.sandbox_available = req.sandbox_auto_allow = yes > 0;
    perm_chain_check(&req, &d);
    if (d.verdict != VERDICT_DENY)
        fail_msg("deny %s: %s %s in mode %d with %d yes: %d", f->rule, f->tool, f->input, mode, yes,
                 d.verdict);
    decision_release(&d);
    perm_rules_release(&rules);
    json_free(input);
    buf_release(&rule);
    buf_release(&json);
}

static void
a_deny_rule_holds_in_every_mode(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (size_t m = 0; m < ARRAY_LEN(modes); m++)
            for (int yes = 0; yes <= 3; yes++)
                check_form(&forms[i], modes[m], yes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deny_rule_holds_in_every_mode),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
