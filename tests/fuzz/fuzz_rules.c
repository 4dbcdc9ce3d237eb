/* Any bytes as rules (a line each, the last one a command they are matched with) and as a settings file: they may become problems, with
 * a text that says so; they may not crash, hang or leak. */
#include <stdlib.h>
#include <string.h>

#include "perm/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct perm_anchor anchor = {
    .root = "/proj", .cwd = "/proj/src", .home = "/home/dev", .config_home = "/home/dev/.claude"};

static void
match(const struct perm_rules *rs, const char *command)
{
    static const struct perm_shell_env env = {
        .cwd = "/proj", .home = "/home/dev", .root = "/proj", .shell = "bash"};
    struct perm_analysis a;
    perm_shell_analyse(str_from(command), &env, &a);
    for (int v = VERDICT_ALLOW; v <= VERDICT_DENY; v++) {
        for (size_t i = 0; i < a.n_leaves; i++)
            perm_rules_match_leaf(rs, (enum verdict)v, &a.leaves[i]);
        perm_rules_match_path(rs, (enum verdict)v, "Edit", &command, 1, &anchor);
        perm_rules_match_tool(rs, (enum verdict)v, command, NULL);
    }
    perm_analysis_release(&a);
}

static void
check_problems(const struct perm_rules *rs)
{
    for (size_t i = 0; i < rs->n_problems; i++)
        if (!rs->problems[i].text || !rs->problems[i].text[0])
            abort();
}

static void
as_rules(char *text, enum verdict list)
{
    struct perm_rules rs;
    char *line = text;
    perm_rules_init(&rs);
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        size_t before = rs.n_problems;
        if (!perm_rules_add(&rs, list, line, SCOPE_PROJECT, list == VERDICT_ASK, "s.json", 1) &&
            rs.n_problems == before)
            abort(); /* refused, and nobody is told */
        list = list == VERDICT_DENY ? VERDICT_ALLOW : (enum verdict)(list + 1);
    }
    perm_rules_audit(&rs);
    match(&rs, line);
    check_problems(&rs);
    perm_rules_release(&rs);
}

static void
as_settings(const char *text)
{
    struct perm_rules rs;
    struct config *c = config_load(&(struct config_paths){.home = "/nowhere",
                                                          .config_dir = "/nowhere/yare",
                                                          .system_dir = "/nowhere",
                                                          .cli_settings = text});
    perm_rules_init(&rs);
    perm_rules_load(&rs, c);
    check_problems(&rs);
    config_str(c, "permissions.defaultMode", true, "");
    match(&rs, "git push --force origin main");
    perm_rules_release(&rs);
    config_free(c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    char *text = str_dup(str_make((const char *)data + 1, size - 1));
    if (text[0] == '{')
        as_settings(text);
    else
        as_rules(text, (enum verdict)(VERDICT_ALLOW + data[0] % 3));
    free(text);
    return 0;
}
