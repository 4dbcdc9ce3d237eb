/* What a project's own files may say, key by key: each that is known has its row here, so that a new one is thought about. */
#include "unit/unit.h"

#include <string.h>

#include "base/config.h"
#include "base/fs.h"
#include "base/json.h"
#include "unit/temp_dir.h"

/* CONFIG_TRUSTED: nothing before the folder is trusted. CONFIG_NARROWS: it counts at once, and takes something away. CONFIG_PERSON: never. */
static const struct row {
    const char *path, *value;
    enum config_reach reach;
} rows[] = {
    {"$schema", "\"v\"", CONFIG_NARROWS},
    {"permissions", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"permissions.allow", "[\"v\"]", CONFIG_TRUSTED},
    {"permissions.ask", "[\"v\"]", CONFIG_NARROWS},
    {"permissions.deny", "[\"v\"]", CONFIG_NARROWS},
    {"permissions.additionalDirectories", "[\"v\"]", CONFIG_TRUSTED},
    {"permissions.defaultMode", "\"v\"", CONFIG_TRUSTED},
    {"permissions.disableBypassPermissionsMode", "\"v\"", CONFIG_NARROWS},
    {"disableAutoMode", "\"v\"", CONFIG_NARROWS},
    {"autoMode", "{\"k\":\"v\"}", CONFIG_PERSON},
    {"autoMode.environment", "[\"v\"]", CONFIG_PERSON},
    {"autoMode.allow", "[\"v\"]", CONFIG_PERSON},
    {"autoMode.soft_deny", "[\"v\"]", CONFIG_PERSON},
    {"autoMode.hard_deny", "[\"v\"]", CONFIG_PERSON},
    {"autoMode.classifyAllShell", "true", CONFIG_PERSON},
    {"useAutoModeDuringPlan", "true", CONFIG_PERSON},
    {"model", "\"v\"", CONFIG_TRUSTED},
    {"fallbackModel", "\"v\"", CONFIG_TRUSTED},
    {"availableModels", "[\"v\"]", CONFIG_TRUSTED},
    {"effortLevel", "\"v\"", CONFIG_TRUSTED},
    {"fastMode", "true", CONFIG_PERSON},
    {"alwaysThinkingEnabled", "true", CONFIG_TRUSTED},
    {"language", "\"v\"", CONFIG_TRUSTED},
    {"outputStyle", "\"v\"", CONFIG_TRUSTED},
    {"agent", "\"v\"", CONFIG_TRUSTED},
    {"env", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"apiKeyHelper", "\"v\"", CONFIG_TRUSTED},
    {"otelHeadersHelper", "\"v\"", CONFIG_TRUSTED},
    {"awsAuthRefresh", "\"v\"", CONFIG_TRUSTED},
    {"forceLoginMethod", "\"v\"", CONFIG_PERSON},
    {"hooks", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"disableAllHooks", "true", CONFIG_TRUSTED},
    {"allowManagedHooksOnly", "true", CONFIG_PERSON},
    {"allowedHttpHookUrls", "[\"v\"]", CONFIG_PERSON},
    {"httpHookAllowedEnvVars", "[\"v\"]", CONFIG_PERSON},
    {"statusLine", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"subagentStatusLine", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"fileSuggestion", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"theme", "\"dark\"", CONFIG_TRUSTED},
    {"notify", "\"bell\"", CONFIG_TRUSTED},
    {"tui", "\"v\"", CONFIG_TRUSTED},
    {"viewMode", "\"v\"", CONFIG_TRUSTED},
    {"verbose", "true", CONFIG_TRUSTED},
    {"editorMode", "\"v\"", CONFIG_TRUSTED},
    {"vimInsertModeRemaps", "\"v\"", CONFIG_TRUSTED},
    {"keybindingFlavor", "\"v\"", CONFIG_TRUSTED},
    {"axScreenReader", "true", CONFIG_TRUSTED},
    {"prefersReducedMotion", "true", CONFIG_TRUSTED},
    {"preferredNotifChannel", "\"v\"", CONFIG_TRUSTED},
    {"terminalProgressBarEnabled", "true", CONFIG_TRUSTED},
    {"companyAnnouncements", "[\"v\"]", CONFIG_PERSON},
    {"askUserQuestionTimeout", "7", CONFIG_TRUSTED},
    {"sandbox", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"sandbox.enabled", "true", CONFIG_NARROWS},
    {"sandbox.autoAllowBashIfSandboxed", "true", CONFIG_TRUSTED},
    {"sandbox.excludedCommands", "[\"v\"]", CONFIG_TRUSTED},
    {"sandbox.allowUnsandboxedCommands", "true", CONFIG_TRUSTED},
    {"sandbox.failIfUnavailable", "true", CONFIG_NARROWS},
    {"sandbox.filesystem", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"sandbox.filesystem.allowWrite", "[\"v\"]", CONFIG_TRUSTED},
    {"sandbox.filesystem.denyWrite", "[\"v\"]", CONFIG_NARROWS},
    {"sandbox.filesystem.denyRead", "[\"v\"]", CONFIG_NARROWS},
    {"sandbox.filesystem.allowRead", "[\"v\"]", CONFIG_TRUSTED},
    {"sandbox.limits", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"sandbox.limits.memoryMB", "7", CONFIG_TRUSTED},
    {"sandbox.limits.fileMB", "7", CONFIG_TRUSTED},
    {"sandbox.limits.processes", "7", CONFIG_TRUSTED},
    {"sandbox.limits.cpuSeconds", "7", CONFIG_TRUSTED},
    {"sandbox.network", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"sandbox.network.allowedDomains", "[\"v\"]", CONFIG_TRUSTED},
    {"sandbox.network.deniedDomains", "[\"v\"]", CONFIG_NARROWS},
    {"enabledPlugins", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"extraKnownMarketplaces", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"strictKnownMarketplaces", "\"v\"", CONFIG_PERSON},
    {"skillOverrides", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"disableSkillShellExecution", "true", CONFIG_TRUSTED},
    {"enableAllProjectMcpServers", "true", CONFIG_TRUSTED},
    {"enabledMcpjsonServers", "[\"v\"]", CONFIG_TRUSTED},
    {"disabledMcpjsonServers", "[\"v\"]", CONFIG_NARROWS},
    {"allowedMcpServers", "[\"v\"]", CONFIG_PERSON},
    {"deniedMcpServers", "[\"v\"]", CONFIG_NARROWS},
    {"mcpServers", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"autoCompactEnabled", "true", CONFIG_TRUSTED},
    {"autoCompactWindow", "7", CONFIG_TRUSTED},
    {"contextWindow", "7", CONFIG_TRUSTED},
    {"autoMemoryEnabled", "true", CONFIG_TRUSTED},
    {"autoMemoryDirectory", "\"v\"", CONFIG_TRUSTED},
    {"claudeMdExcludes", "[\"v\"]", CONFIG_TRUSTED},
    {"cleanupPeriodDays", "7", CONFIG_TRUSTED},
    {"fileCheckpointingEnabled", "true", CONFIG_TRUSTED},
    {"plansDirectory", "\"v\"", CONFIG_TRUSTED},
    {"respectGitignore", "true", CONFIG_TRUSTED},
    {"worktree", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"attribution", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"includeCoAuthoredBy", "true", CONFIG_TRUSTED},
    {"includeGitInstructions", "true", CONFIG_TRUSTED},
    {"defaultShell", "\"v\"", CONFIG_TRUSTED},
    {"respondToBashCommands", "true", CONFIG_TRUSTED},
    {"provider", "\"v\"", CONFIG_TRUSTED},
    {"providers", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"baseUrl", "\"v\"", CONFIG_TRUSTED},
    {"store", "\"v\"", CONFIG_TRUSTED},
    {"budget", "{\"k\":\"v\"}", CONFIG_PERSON},
    {"budget.session", "7", CONFIG_PERSON},
    {"budget.day", "7", CONFIG_PERSON},
    {"api", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"api.stall", "7", CONFIG_TRUSTED},
    {"pauseOnRepeat", "true", CONFIG_TRUSTED},
    {"afk", "{\"k\":\"v\"}", CONFIG_PERSON},
    {"afk.model", "\"v\"", CONFIG_PERSON},
    {"afk.timeout", "7", CONFIG_PERSON},
    {"afk.max_wait", "7", CONFIG_PERSON},
    {"ui", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"ui.exitLines", "7", CONFIG_TRUSTED},
    {"ui.ambiguousWidth", "7", CONFIG_TRUSTED},
    {"ui.hyperlinks", "true", CONFIG_TRUSTED},
    {"models", "\"v\"", CONFIG_TRUSTED},
    {"memory", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"context", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"bash", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"bash.passEnv", "[\"v\"]", CONFIG_TRUSTED},
    {"tools", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"agents", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"keys", "\"v\"", CONFIG_TRUSTED},
    {"telemetry", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"compact", "{\"k\":\"v\"}", CONFIG_TRUSTED},
    {"compact.at", "7", CONFIG_TRUSTED},
    {"toolSummary", "true", CONFIG_TRUSTED},
};

static char *dir, *root, *home;

static int
set_up(void **state)
{
    (void)state;
    unsetenv("CLAUDE_CONFIG_DIR");
    dir = temp_dir_make();
    root = fs_join(dir, "project");
    home = fs_join(dir, "home");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    temp_dir_remove(dir);
    free(root);
    free(home);
    return 0;
}

/* {"a":{"b":VALUE}} */
static void
write_key(const char *file, const struct row *r)
{
    struct buf b;
    struct str rest = str_from(r->path), name;
    int depth = 0;
    buf_init(&b, 4096);
    while (rest.len && str_split(&rest, '.', &name)) {
        buf_addf(&b, "{\"%.*s\":", (int)name.len, name.ptr);
        depth++;
    }
    buf_adds(&b, r->value);
    while (depth--)
        buf_addc(&b, '}');
    temp_file_write(dir, file, buf_cstr(&b));
    buf_release(&b);
}

static struct config *
load(void)
{
    char *own = fs_join(home, ".config/yare");
    const struct config_paths paths = {
        .home = home, .config_dir = own, .project_root = root, .system_dir = dir};
    struct config *c = config_load(&paths);
    free(own);
    return c;
}

/* Some call answers it. */
static bool
answered(const struct config *c, const char *path, bool only_trusted)
{
    struct config_item item;
    if (config_str(c, path, only_trusted, NULL) || config_int(c, path, only_trusted, -1) >= 0 ||
        config_bool(c, path, only_trusted, false) || config_list(c, path, only_trusted, &item, 1))
        return true;
    return !only_trusted && config_value(c, 0, path);
}

static bool
is_named(const struct config *c, const char *path)
{
    const struct config_problem *p;
    char *quoted = xasprintf("'%s", path);
    bool found = false;
    size_t n = config_problems(c, &p);
    for (size_t i = 0; i < n; i++)
        found |= strstr(p[i].text, quoted) && strstr(p[i].text, "administrator");
    free(quoted);
    return found;
}

static void
every_known_key_has_a_row(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *key; (key = config_known_key(n)); n++) {
        size_t k = 0;
        while (k < ARRAY_LEN(rows) && strcmp(rows[k].path, key) != 0)
            k++;
        if (k == ARRAY_LEN(rows))
            fail_msg(
                "what may a project's own file say by '%s'? Give it a row, and its reader a test",
                key);
        if (config_reach(key) != rows[k].reach)
            fail_msg("'%s' has another reach than here", key);
    }
    assert_int_equal(n, ARRAY_LEN(rows));
}

static void
project_files_reach_as_far_as_the_key_says(void **state)
{
    (void)state;
    static const char *const files[] = {
        "project/.yare/settings.json", "project/.yare/settings.local.json",
        "project/.claude/settings.json", "project/.claude/settings.local.json"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(files); k++) {
            const struct row *r = &rows[i];
            write_key(files[k], r);
            struct config *c = load();
            bool person = r->reach == CONFIG_PERSON;
            if (answered(c, r->path, true))
                fail_msg("'%s' counts before trust, from %s", r->path, files[k]);
            if (answered(c, r->path, false) == person)
                fail_msg("'%s' from %s, after trust: %d", r->path, files[k], !person);
            if (is_named(c, r->path) != person && strcmp(r->path, "autoMode") &&
                strcmp(r->path, "afk") && strcmp(r->path, "budget"))
                fail_msg("'%s' in %s is named or not", r->path, files[k]);
            config_free(c);
            char *gone = fs_join(dir, files[k]);
            assert_int_equal(remove(gone), 0);
            free(gone);
        }
}

static void
the_person_and_the_administrator_set_all(void **state)
{
    (void)state;
    static const char *const files[] = {"home/.config/yare/settings.json",
                                        "home/.claude/settings.json", "yare/settings.json"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(files); k++) {
            write_key(files[k], &rows[i]);
            struct config *c = load();
            if (!answered(c, rows[i].path, true) && !config_value(c, 0, rows[i].path))
                fail_msg("'%s' does not count in %s", rows[i].path, files[k]);
            config_free(c);
            char *gone = fs_join(dir, files[k]);
            assert_int_equal(remove(gone), 0);
            free(gone);
        }
}

static void
what_lies_below_a_key_reaches_as_far(void **state)
{
    (void)state;
    assert_int_equal(config_reach("env.PATH"), CONFIG_TRUSTED);
    assert_int_equal(config_reach("afk.somethingNew"), CONFIG_PERSON);
    assert_int_equal(config_reach("afkish"), CONFIG_TRUSTED);
    assert_int_equal(config_reach("sandbox.somethingNew"), CONFIG_TRUSTED);
}

/* Nobody but the person gives up being asked. */
static void
no_project_sets_a_mode_without_prompts(void **state)
{
    (void)state;
    static const char *const modes[] = {"auto", "bypassPermissions", "plan"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        const struct config_problem *p;
        char *value = xasprintf("\"%s\"", modes[i]);
        write_key("project/.yare/settings.json",
                  &(struct row){"permissions.defaultMode", value, CONFIG_TRUSTED});
        struct config *c = load();
        assert_int_equal(config_problems(c, &p), i < 2);
        config_free(c);
        free(value);
    }
}

/* A flag has an origin too: who may loosen it hangs on that. */
static void
flags_have_an_origin(void **state)
{
    (void)state;
    write_key("yare/settings.json", &(struct row){"sandbox.enabled", "true", CONFIG_NARROWS});
    write_key("project/.yare/settings.json",
              &(struct row){"sandbox.enabled", "false", CONFIG_NARROWS});
    struct config *c = load();
    const struct config_source *from = config_bool_origin(c, "sandbox.enabled", true);
    assert_non_null(from);
    assert_int_equal(from->scope, SCOPE_MANAGED);
    assert_null(config_bool_origin(c, "sandbox.failIfUnavailable", false));
    config_free(c);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(every_known_key_has_a_row),
        T(project_files_reach_as_far_as_the_key_says),
        T(the_person_and_the_administrator_set_all),
        T(what_lies_below_a_key_reaches_as_far),
        T(no_project_sets_a_mode_without_prompts),
        T(flags_have_an_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
