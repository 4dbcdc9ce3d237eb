/*
 * Every documented form of a rule as a deny rule: what it names is denied in every mode, bypass too, however the command is quoted,
 * wrapped, chained or renamed; what it does not name is not denied. And the anchors, with the folder a session began in.
 */
#include "unit/tool_cases.h"

#include "unit/perm_world.h"

#include "perm/chain.h"

static char *
moved(const char *text)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    world_replace(&b, text, world);
    return buf_take(&b);
}

struct place {
    enum verdict list;
    enum scope scope;
    bool claude;
    const char *file, *cwd, *start;
};

static enum verdict
decide_at(const char *rule, const char *tool, const char *json, enum perm_mode mode,
          const struct place *at)
{
    struct perm_rules rs;
    struct decision d;
    struct err err;
    perm_rules_init(&rs);
    char *text = moved(rule), *input_text = moved(json), *file = moved(at->file ? at->file : ""),
         *cwd = moved(at->cwd ? at->cwd : "/proj"), *start = moved(at->start ? at->start : "");
    assert_true(perm_rules_add(&rs, at->list, text, at->scope, at->claude, *file ? file : NULL, 1));
    struct cJSON *input = json_parse(str_from(input_text), &err);
    assert_non_null(input);
    struct perm_request req = world_request(tool, input, &rs);
    req.mode = mode;
    req.cwd = cwd;
    req.start_cwd = *start ? start : NULL;
    perm_chain_check(&req, &d);
    enum verdict v = d.verdict;
    decision_release(&d);
    json_free(input);
    perm_rules_release(&rs);
    free(text);
    free(input_text);
    free(file);
    free(cwd);
    free(start);
    return v;
}

static enum verdict
decide(const char *rule, const char *tool, const char *json, enum perm_mode mode)
{
    return decide_at(rule, tool, json, mode,
                     &(struct place){.list = VERDICT_DENY, .scope = SCOPE_USER});
}

#define CMD(text) "{\"command\":\"" text "\"}"
#define FILE_PATH(path) "{\"file_path\":\"" path "\"}"

/* rule, tool, an input it names, an input it does not name (NULL: it names all) */
static const struct {
    const char *rule, *tool, *named, *other;
} forms[] = {
    /* commands: exact, prefix, wildcard */
    {"Bash", "Bash", CMD("ls"), NULL},
    {"Bash(*)", "Bash", CMD("ls"), NULL},
    {"Bash(ls -la)", "Bash", CMD("ls -la"), CMD("ls -l")},
    {"Bash(ls:*)", "Bash", CMD("ls"), CMD("lsof")},
    {"Bash(ls:*)", "Bash", CMD("ls -la"), CMD("cat ls")},
    {"Bash(ls *)", "Bash", CMD("ls"), CMD("lsblk")},
    {"Bash(ls*)", "Bash", CMD("lsof -i"), CMD("ps")},
    {"Bash(* --force)", "Bash", CMD("git push --force"), CMD("git push")},
    {"Bash(git * main)", "Bash", CMD("git push origin main"), CMD("git push origin dev")},
    {"Bash(echo \\(a\\))", "Bash", CMD("echo '(a)'"), CMD("echo a")},
    {"Bash(find . \\( -name x \\))", "Bash", CMD("find . \\\\( -name x \\\\)"),
     CMD("find . -name x")},
    {"Bash(grep \"a*z\" x)", "Bash", CMD("grep abcz x"), CMD("grep abc x")},
    {"Bash(run_in_background:true)", "Bash", "{\"command\":\"ls\",\"run_in_background\":true}",
     CMD("ls")},
    /* ... and what does not get around them */
    {"Bash(rm:*)", "Bash", CMD("r''m x"), CMD("echo rm")},
    {"Bash(rm:*)", "Bash", CMD("\\\\rm x"), CMD("echo 'rm x'")},
    {"Bash(rm:*)", "Bash", CMD("/bin/rm x"), CMD("ls /bin/rm")},
    {"Bash(rm:*)", "Bash", CMD("ls && rm x"), NULL},
    {"Bash(rm:*)", "Bash", CMD("ls | rm x"), NULL},
    {"Bash(rm:*)", "Bash", CMD("(cd src; rm x)"), NULL},
    {"Bash(rm:*)", "Bash", CMD("f() { rm x; }; f"), NULL},
    {"Bash(rm:*)", "Bash", CMD("echo $(rm x)"), NULL},
    {"Bash(rm:*)", "Bash", CMD("X=1 rm x"), NULL},
    {"Bash(rm:*)", "Bash", CMD("env X=1 rm x"), NULL},
    {"Bash(rm:*)", "Bash", CMD("sudo rm x"), NULL},
    {"Bash(rm:*)", "Bash", CMD("timeout 5 nice rm x"), NULL},
    {"Bash(rm:*)", "Bash", CMD("find . -exec rm {} +"), NULL},
    {"Bash(rm:*)", "Bash", CMD("xargs rm"), NULL},
    {"Bash(rm:*)", "Bash", CMD("bash -c 'rm x'"), NULL},
    {"Bash(rm:*)", "Bash", CMD("eval 'rm x'"), NULL},
    {"Bash(git push:*)", "Bash", CMD("git -C . -c a=b push"), CMD("git log --grep push")},
    {"Bash(FOO=1 make)", "Bash", CMD("FOO=1 make"), CMD("make")},
    /* files: name, folder, anchors */
    {"Read", "Read", FILE_PATH("src/x.c"), NULL},
    {"Read(.env)", "Read", FILE_PATH(".env"), FILE_PATH(".env.example")},
    {"Read(.env)", "Read", FILE_PATH("a/b/.env"), FILE_PATH("README.md")},
    {"Read(.env)", "Read", FILE_PATH("link"), NULL},
    {"Read(.env)", "Bash", CMD("cat .env"), CMD("cat README.md")},
    {"Read(.env)", "Bash", CMD("cat < src/../.env"), NULL},
    {"Read(.env)", "Bash", CMD("cat link"), NULL},
    {"Read(.env)", "Grep", "{\"pattern\":\"x\",\"path\":\".env\"}", "{\"pattern\":\"x\"}"},
    {"Read(.env)", "Edit", FILE_PATH(".env"), NULL},
    {"Read(src/**)", "Read", FILE_PATH("lib/src/a"), FILE_PATH("README.md")},
    {"Read(./src/**)", "Read", FILE_PATH("src/a"), FILE_PATH("lib/src/a")},
    {"Read(/src/*.c)", "Read", FILE_PATH("src/x.c"), FILE_PATH("src/a/x.c")},
    {"Read(//srv/lib/**)", "Read", FILE_PATH("/srv/lib/x"), NULL},
    {"Read(~/.ssh/**)", "Read", FILE_PATH("/home/dev/.ssh/id_rsa"), FILE_PATH("README.md")},
    {"Read(**/*.pem)", "Read", FILE_PATH("a/b.pem"), FILE_PATH("a/b.pub")},
    {"Edit", "Write", FILE_PATH("src/x.c"), NULL},
    {"Edit(src/**)", "Write", FILE_PATH("src/x.c"), FILE_PATH("x.c")},
    {"Edit(src/**)", "MultiEdit", FILE_PATH("src/x.c"), NULL},
    {"Edit(*.ipynb)", "NotebookEdit", "{\"notebook_path\":\"a.ipynb\"}", NULL},
    {"Edit(src/**)", "Bash", CMD("echo x > src/x.c"), CMD("echo x > x.c")},
    {"Write(src/**)", "Edit", FILE_PATH("src/x.c"), NULL},
    {"Glob(src/**)", "Read", FILE_PATH("src/x.c"), NULL},
    {"Edit(replace_all:true)", "Edit", "{\"file_path\":\"x\",\"replace_all\":true}",
     FILE_PATH("x")},
    {"Grep(output_mode:content)", "Grep", "{\"pattern\":\"x\",\"output_mode\":\"content\"}",
     "{\"pattern\":\"x\"}"},
    {"Cd(src)", "Bash", CMD("cd src"), CMD("cd ..")},
    {"Cd(//srv/lib/**)", "Bash", CMD("cd /srv/lib/a && ls"), CMD("ls")},
    /* the same name in another spelling */
    {"Read(caf\xc3\xa9.txt)", "Read", FILE_PATH("cafe\xcc\x81.txt"), FILE_PATH("cafe.txt")},
    {"Read(cafe\xcc\x81.txt)", "Read", FILE_PATH("caf\xc3\xa9.txt"), NULL},
    {"Read(.env)", "Read", FILE_PATH("\xef\xbc\x8e\xef\xbd\x85\xef\xbd\x8e\xef\xbd\x96"), NULL},
    {"Read(.env)", "Read", FILE_PATH(".e\xe2\x80\x8bnv"), NULL},
    /* hosts */
    {"WebFetch", "WebFetch", "{\"url\":\"https://a.example\"}", NULL},
    {"WebFetch(domain:a.example)", "WebFetch", "{\"url\":\"https://A.example/x\"}",
     "{\"url\":\"https://b.a.example\"}"},
    {"WebFetch(domain:*.example)", "WebFetch", "{\"url\":\"https://a.b.example\"}",
     "{\"url\":\"https://example\"}"},
    {"WebFetch(domain:*)", "WebFetch", "{\"url\":\"http://127.0.0.1/\"}", NULL},
    {"WebFetch(https://a.example/x)", "WebFetch", "{\"url\":\"https://a.example\"}",
     "{\"url\":\"https://b.example\"}"},
    /* named tools, servers, globs */
    {"WebSearch", "WebSearch", "{\"query\":\"x\"}", NULL},
    {"Agent", "Agent", "{\"subagent_type\":\"x\"}", NULL},
    {"Agent(x)", "Task", "{\"subagent_type\":\"x\"}", "{\"subagent_type\":\"y\"}"},
    {"Task(x)", "Agent", "{\"subagent_type\":\"x\"}", "{\"subagent_type\":\"y\"}"},
    {"Agent(model:opus)", "Agent", "{\"subagent_type\":\"x\",\"model\":\"opus\"}",
     "{\"subagent_type\":\"x\",\"model\":\"haiku\"}"},
    {"Agent(kit:review)", "Agent", "{\"subagent_type\":\"kit:review\"}",
     "{\"subagent_type\":\"review\"}"},
    {"Skill(pdf)", "Skill", "{\"skill\":\"pdf\"}", "{\"skill\":\"doc\"}"},
    {"Skill(pdf *)", "Skill", "{\"skill\":\"pdf --all\"}", "{\"skill\":\"pdfs\"}"},
    {"mcp__srv", "mcp__srv__do", "{}", NULL},
    {"mcp__srv__*", "mcp__srv__do", "{}", NULL},
    {"mcp__srv__do", "mcp__srv__do", "{}", NULL},
    {"mcp__*", "mcp__srv__do", "{}", NULL},
    {"mcp__srv__do(n:5)", "mcp__srv__do", "{\"n\":5}", "{\"n\":6}"},
    {"mcp__srv__do(*)", "mcp__srv__do", "{}", NULL},
    {"*", "Bash", CMD("ls"), NULL},
    {"*", "Read", FILE_PATH("x"), NULL},
    {"*", "TodoWrite", "{}", NULL},
    {"Notebook*", "NotebookEdit", "{\"notebook_path\":\"a\"}", NULL},
    {"Web*", "WebFetch", "{\"url\":\"https://a.example\"}", NULL},
};

static void
test_denied_in_every_mode(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (int mode = PERM_DEFAULT; mode <= PERM_BYPASS; mode++) {
            enum verdict v =
                decide(forms[i].rule, forms[i].tool, forms[i].named, (enum perm_mode)mode);
            if (v != VERDICT_DENY)
                fail_msg("%s: %s %s in mode %d: %s", forms[i].rule, forms[i].tool, forms[i].named,
                         mode, verdict_name(v));
            if (!forms[i].other || mode == PERM_DONT_ASK)
                continue;
            v = decide(forms[i].rule, forms[i].tool, forms[i].other, (enum perm_mode)mode);
            if (v == VERDICT_DENY)
                fail_msg("%s denies %s %s", forms[i].rule, forms[i].tool, forms[i].other);
        }
}

/* The same forms as ask rules: never less than an ask, in bypass too. */
static void
test_asked_in_every_mode(void **state)
{
    (void)state;
    const struct place at = {.list = VERDICT_ASK, .scope = SCOPE_USER};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (int mode = PERM_DEFAULT; mode <= PERM_BYPASS; mode++) {
            enum verdict v =
                decide_at(forms[i].rule, forms[i].tool, forms[i].named, (enum perm_mode)mode, &at);
            /* Read may be asked for what Edit may then do: only deny binds both. */
            if (v < VERDICT_ASK &&
                !(strncmp(forms[i].rule, "Read", 4) == 0 && strcmp(forms[i].tool, "Edit") == 0))
                fail_msg("%s: %s %s in mode %d: %s", forms[i].rule, forms[i].tool, forms[i].named,
                         mode, verdict_name(v));
        }
}

static void
test_anchors(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *path;
        struct place at;
        enum verdict want;
    } cases[] = {
        /* one slash: where the file that says it belongs */
        {"Edit(/a)",
         "/proj/a",
         {VERDICT_ALLOW, SCOPE_PROJECT, false, "/proj/.yare/settings.json", NULL, NULL},
         VERDICT_ALLOW},
        {"Edit(/a)",
         "/proj/a",
         {VERDICT_ALLOW, SCOPE_CLI, false, "/proj/src/s.json", NULL, NULL},
         VERDICT_ASK},
        {"Edit(/a)",
         "/proj/src/a",
         {VERDICT_ALLOW, SCOPE_CLI, false, "/proj/src/s.json", NULL, NULL},
         VERDICT_ALLOW},
        {"Read(/a)",
         "/home/dev/.claude/a",
         {VERDICT_DENY, SCOPE_USER, true, "/home/dev/.claude/settings.json", NULL, NULL},
         VERDICT_DENY},
        {"Read(/a)",
         "/proj/a",
         {VERDICT_DENY, SCOPE_USER, true, "/home/dev/.claude/settings.json", NULL, NULL},
         VERDICT_ALLOW},
        /* relative: where the session began; the shell may have gone on */
        {"Edit(./a)",
         "/proj/a",
         {VERDICT_ALLOW, SCOPE_USER, false, NULL, "/proj/src", "/proj"},
         VERDICT_ALLOW},
        {"Edit(./a)",
         "/proj/src/a",
         {VERDICT_ALLOW, SCOPE_USER, false, NULL, "/proj/src", "/proj"},
         VERDICT_ASK},
        {"Edit(src/**)",
         "/proj/vendor/src/a",
         {VERDICT_ALLOW, SCOPE_USER, false, NULL, "/proj/vendor", "/proj"},
         VERDICT_ASK},
        {"Read(./.env)",
         "/proj/.env",
         {VERDICT_DENY, SCOPE_USER, false, NULL, "/proj/src", "/proj"},
         VERDICT_DENY},
        {"Read(./.env)",
         "/proj/src/.env",
         {VERDICT_DENY, SCOPE_USER, false, NULL, "/proj/src", "/proj"},
         VERDICT_DENY},
        {"Read(a/../.env)",
         "/proj/.env",
         {VERDICT_DENY, SCOPE_USER, false, NULL, NULL, NULL},
         VERDICT_DENY},
        {"Read(a/../.env)",
         "/proj/a/.env",
         {VERDICT_DENY, SCOPE_USER, false, NULL, NULL, NULL},
         VERDICT_ALLOW},
        /* one folder and all below: in allow only the one at the anchor */
        {"Edit(src/**)",
         "/proj/src/a",
         {VERDICT_ALLOW, SCOPE_USER, false, NULL, NULL, NULL},
         VERDICT_ALLOW},
        {"Edit(src/**)",
         "/proj/lib/src/a",
         {VERDICT_ALLOW, SCOPE_USER, false, NULL, NULL, NULL},
         VERDICT_ASK},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool reads = strncmp(cases[i].rule, "Read", 4) == 0;
        char *json = xasprintf(FILE_PATH("%s"), cases[i].path);
        enum verdict v =
            decide_at(cases[i].rule, reads ? "Read" : "Edit", json, PERM_DEFAULT, &cases[i].at);
        free(json);
        if (v == VERDICT_ASK && reads && cases[i].want == VERDICT_ALLOW)
            continue;
        if (v != cases[i].want)
            fail_msg("case %zu: %s and %s: %s", i, cases[i].rule, cases[i].path, verdict_name(v));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_denied_in_every_mode),
        cmocka_unit_test(test_asked_in_every_mode),
        cmocka_unit_test(test_anchors),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
