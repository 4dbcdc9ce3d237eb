/* Any bytes as a shell command that the whole chain decides about, under rules that cover each of its programs by name, so that all that looks
 * beyond such a rule has its turn: no crash, hang or leak, the same answer twice, and each with a reason. The first byte is the mode. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "perm/chain.h"
#include "perm/leaf.h"
#include "perm/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
add_rules(struct perm_rules *rs, struct str command)
{
    static const struct perm_shell_env env = {.cwd = "/proj", .home = "/home/dev", .root = "/proj"};
    struct perm_analysis a;
    perm_rules_init(rs);
    perm_rules_add(rs, VERDICT_DENY, "Bash(git push:*)", SCOPE_USER, false, NULL, 0);
    perm_rules_add(rs, VERDICT_DENY, "Read(.env)", SCOPE_USER, false, NULL, 0);
    perm_rules_add(rs, VERDICT_ASK, "Edit(gen/**)", SCOPE_USER, false, NULL, 0);
    perm_shell_analyse(command, &env, &a);
    for (size_t i = 0; i < a.n_leaves && i < 16; i++) {
        struct str name = a.leaves[i].n_argv ? a.leaves[i].argv[0].text : STR("");
        char *rule = xasprintf("Bash(%.*s:*)", (int)name.len, name.ptr);
        if (name.len && name.len < 100)
            perm_rules_add(rs, VERDICT_ALLOW, rule, SCOPE_USER, false, NULL, 0);
        free(rule);
    }
    perm_analysis_release(&a);
}

static enum verdict
decide(const struct perm_request *req)
{
    struct decision d;
    perm_chain_check(req, &d);
    enum verdict v = d.verdict;
    if (v == VERDICT_NONE || !d.n_findings)
        abort();
    for (size_t i = 0; i < d.n_findings; i++)
        if (!d.findings[i].reason || !d.findings[i].reason[0])
            abort();
    decision_release(&d);
    return v;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum perm_mode modes[] = {PERM_DEFAULT, PERM_ACCEPT_EDITS, PERM_PLAN,
                                           PERM_AUTO,    PERM_DONT_ASK,     PERM_BYPASS};
    struct perm_rules rules;
    struct buf b;
    if (size < 2)
        return 0;
    struct str command = str_make((const char *)data + 1, size - 1);
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"command\":");
    json_quote(&b, command);
    buf_addc(&b, '}');
    struct cJSON *input = json_parse(buf_str(&b), NULL);
    buf_release(&b);
    if (!input)
        return 0; /* bytes that are no text reach no tool */
    add_rules(&rules, json_str(input, "command"));
    struct perm_request req = {.tool = "Bash",
                               .input = input,
                               .mode = modes[data[0] % (sizeof modes / sizeof *modes)],
                               .rules = &rules,
                               .root = "/proj",
                               .cwd = "/proj",
                               .home = "/home/dev",
                               .trusted = true,
                               .interactive = (data[0] & 64) == 0,
                               .case_insensitive = 0,
                               .tool_known = true,
                               .mode_scope = SCOPE_USER};
    if (decide(&req) != decide(&req))
        abort();
    perm_rules_release(&rules);
    json_free(input);
    return 0;
}
