/* The keys that are known and what they must be. A value of the wrong type is a problem that is named, for a
 * deny rule that is silently no rule is the worst kind. A key that is missing here still works: it is only noted. */
#include <stdlib.h>
#include <string.h>

#include "base/config_impl.h"

enum { UNKNOWN_MAX = 100 /* noted of one file */, NAME_MAX_ = 32, NEAR = 2 };
enum kind {
    STR_ = 1,
    INT_ = 2,
    BOOL_ = 4,
    LIST = 8 /* of strings */,
    OBJECT = 16,
    ARRAY = 32,
    ANY = 64
};

static const struct key {
    const char *path;
    int kinds;
    enum config_reach reach;
} keys[] = {
    {"$schema", ANY, CONFIG_NARROWS},
    {"permissions", OBJECT, CONFIG_TRUSTED},
    {"permissions.allow", LIST, CONFIG_TRUSTED},
    {"permissions.ask", LIST, CONFIG_NARROWS},
    {"permissions.deny", LIST, CONFIG_NARROWS},
    {"permissions.additionalDirectories", LIST, CONFIG_TRUSTED},
    {"permissions.defaultMode", STR_, CONFIG_TRUSTED},
    {"permissions.disableBypassPermissionsMode", STR_, CONFIG_NARROWS},
    {"disableAutoMode", STR_ | BOOL_, CONFIG_NARROWS},
    {"autoMode", OBJECT, CONFIG_PERSON},
    {"autoMode.environment", LIST, CONFIG_PERSON},
    {"autoMode.allow", LIST, CONFIG_PERSON},
    {"autoMode.soft_deny", LIST, CONFIG_PERSON},
    {"autoMode.hard_deny", LIST, CONFIG_PERSON},
    {"autoMode.classifyAllShell", BOOL_, CONFIG_PERSON},
    {"useAutoModeDuringPlan", BOOL_, CONFIG_PERSON},
    {"model", STR_, CONFIG_TRUSTED},
    {"fallbackModel", STR_ | LIST, CONFIG_TRUSTED},
    {"availableModels", LIST, CONFIG_TRUSTED},
    {"effortLevel", STR_, CONFIG_TRUSTED},
    {"fastMode", BOOL_, CONFIG_PERSON},
    {"alwaysThinkingEnabled", BOOL_, CONFIG_TRUSTED},
    {"language", STR_, CONFIG_TRUSTED},
    {"outputStyle", STR_, CONFIG_TRUSTED},
    {"agent", STR_, CONFIG_TRUSTED},
    {"env", OBJECT, CONFIG_TRUSTED},
    {"apiKeyHelper", STR_, CONFIG_TRUSTED},
    {"otelHeadersHelper", STR_, CONFIG_TRUSTED},
    {"awsAuthRefresh", STR_, CONFIG_TRUSTED},
    {"forceLoginMethod", STR_, CONFIG_PERSON},
    {"hooks", OBJECT, CONFIG_TRUSTED},
    {"disableAllHooks", BOOL_, CONFIG_TRUSTED},
    {"allowManagedHooksOnly", BOOL_, CONFIG_PERSON},
    {"allowedHttpHookUrls", LIST, CONFIG_PERSON},
    {"httpHookAllowedEnvVars", LIST, CONFIG_PERSON},
    {"statusLine", OBJECT, CONFIG_TRUSTED},
    {"subagentStatusLine", OBJECT, CONFIG_TRUSTED},
    {"fileSuggestion", OBJECT, CONFIG_TRUSTED},
    {"theme", STR_, CONFIG_TRUSTED},
    {"notify", STR_, CONFIG_TRUSTED},
    {"tui", ANY, CONFIG_TRUSTED},
    {"viewMode", STR_, CONFIG_TRUSTED},
    {"verbose", BOOL_, CONFIG_TRUSTED},
    {"editorMode", STR_, CONFIG_TRUSTED},
    {"vimInsertModeRemaps", ANY, CONFIG_TRUSTED},
    {"keybindingFlavor", STR_, CONFIG_TRUSTED},
    {"axScreenReader", BOOL_, CONFIG_TRUSTED},
    {"prefersReducedMotion", BOOL_, CONFIG_TRUSTED},
    {"preferredNotifChannel", STR_, CONFIG_TRUSTED},
    {"terminalProgressBarEnabled", BOOL_, CONFIG_TRUSTED},
    {"companyAnnouncements", LIST, CONFIG_PERSON},
    {"askUserQuestionTimeout", INT_, CONFIG_TRUSTED},
    {"sandbox", OBJECT, CONFIG_TRUSTED},
    {"sandbox.enabled", BOOL_, CONFIG_NARROWS},
    {"sandbox.autoAllowBashIfSandboxed", BOOL_, CONFIG_TRUSTED},
    {"sandbox.excludedCommands", LIST, CONFIG_TRUSTED},
    {"sandbox.allowUnsandboxedCommands", BOOL_, CONFIG_TRUSTED},
    {"sandbox.failIfUnavailable", BOOL_, CONFIG_NARROWS},
    {"sandbox.filesystem", OBJECT, CONFIG_TRUSTED},
    {"sandbox.filesystem.allowWrite", LIST, CONFIG_TRUSTED},
    {"sandbox.filesystem.denyWrite", LIST, CONFIG_NARROWS},
    {"sandbox.filesystem.denyRead", LIST, CONFIG_NARROWS},
    {"sandbox.filesystem.allowRead", LIST, CONFIG_TRUSTED},
    {"sandbox.limits", OBJECT, CONFIG_TRUSTED},
    {"sandbox.limits.memoryMB", INT_, CONFIG_TRUSTED},
    {"sandbox.limits.fileMB", INT_, CONFIG_TRUSTED},
    {"sandbox.limits.processes", INT_, CONFIG_TRUSTED},
    {"sandbox.limits.cpuSeconds", INT_, CONFIG_TRUSTED},
    {"sandbox.network", OBJECT, CONFIG_TRUSTED},
    {"sandbox.network.allowedDomains", LIST, CONFIG_TRUSTED},
    {"sandbox.network.deniedDomains", LIST, CONFIG_NARROWS},
    {"enabledPlugins", OBJECT, CONFIG_TRUSTED},
    {"extraKnownMarketplaces", OBJECT, CONFIG_TRUSTED},
    {"strictKnownMarketplaces", ANY, CONFIG_PERSON},
    {"skillOverrides", OBJECT, CONFIG_TRUSTED},
    {"disableSkillShellExecution", BOOL_, CONFIG_TRUSTED},
    {"enableAllProjectMcpServers", BOOL_, CONFIG_TRUSTED},
    {"enabledMcpjsonServers", LIST, CONFIG_TRUSTED},
    {"disabledMcpjsonServers", LIST, CONFIG_NARROWS},
    {"allowedMcpServers", ARRAY, CONFIG_PERSON},
    {"deniedMcpServers", ARRAY, CONFIG_NARROWS},
    {"mcpServers", OBJECT, CONFIG_TRUSTED},
    {"autoCompactEnabled", BOOL_, CONFIG_TRUSTED},
    {"autoCompactWindow", INT_, CONFIG_TRUSTED},
    {"contextWindow", INT_, CONFIG_TRUSTED},
    {"compact", OBJECT, CONFIG_TRUSTED},
    {"compact.at", INT_, CONFIG_TRUSTED},
    {"toolSummary", BOOL_, CONFIG_TRUSTED},
    {"autoMemoryEnabled", BOOL_, CONFIG_TRUSTED},
    {"autoMemoryDirectory", STR_, CONFIG_TRUSTED},
    {"claudeMdExcludes", LIST, CONFIG_TRUSTED},
    {"cleanupPeriodDays", INT_, CONFIG_TRUSTED},
    {"fileCheckpointingEnabled", BOOL_, CONFIG_TRUSTED},
    {"plansDirectory", STR_, CONFIG_TRUSTED},
    {"respectGitignore", BOOL_, CONFIG_TRUSTED},
    {"worktree", OBJECT, CONFIG_TRUSTED},
    {"attribution", OBJECT, CONFIG_TRUSTED},
    {"includeCoAuthoredBy", BOOL_, CONFIG_TRUSTED},
    {"includeGitInstructions", BOOL_, CONFIG_TRUSTED},
    {"defaultShell", STR_, CONFIG_TRUSTED},
    {"respondToBashCommands", BOOL_, CONFIG_TRUSTED},
    /* yare's own */
    {"provider", ANY, CONFIG_TRUSTED},
    {"providers", OBJECT, CONFIG_TRUSTED},
    {"baseUrl", STR_, CONFIG_TRUSTED},
    {"store", STR_, CONFIG_TRUSTED},
    {"budget", OBJECT, CONFIG_PERSON},
    {"budget.session", INT_, CONFIG_PERSON},
    {"budget.day", INT_, CONFIG_PERSON},
    {"api", OBJECT, CONFIG_TRUSTED},
    {"api.stall", INT_, CONFIG_TRUSTED},
    {"pauseOnRepeat", BOOL_, CONFIG_TRUSTED},
    {"afk", OBJECT, CONFIG_PERSON},
    {"afk.model", STR_, CONFIG_PERSON},
    {"afk.timeout", INT_, CONFIG_PERSON},
    {"afk.max_wait", INT_, CONFIG_PERSON},
    {"ui", OBJECT, CONFIG_TRUSTED},
    {"ui.exitLines", INT_, CONFIG_TRUSTED},
    {"ui.ambiguousWidth", INT_, CONFIG_TRUSTED},
    {"ui.hyperlinks", BOOL_, CONFIG_TRUSTED},
    {"models", ANY, CONFIG_TRUSTED},
    {"memory", OBJECT, CONFIG_TRUSTED},
    {"context", OBJECT, CONFIG_TRUSTED},
    {"bash", OBJECT, CONFIG_TRUSTED},
    {"bash.passEnv", LIST, CONFIG_TRUSTED},
    {"tools", OBJECT, CONFIG_TRUSTED},
    {"agents", OBJECT, CONFIG_TRUSTED},
    {"keys", ANY, CONFIG_TRUSTED},
    {"telemetry", OBJECT, CONFIG_TRUSTED},
};

/* Settings that are one of a few words; "dark-daltonized" of other tools is "dark" here. */
static const struct {
    const char *path, *words[4], *told;
} choices[] = {
    {"theme", {"auto", "dark", "light"}, "auto, dark or light"},
    {"notify", {"bell", "osc9", "off"}, "bell, osc9 or off"},
};

/* Numbers that make sense; another one does not count (config_in_range). */
static const struct {
    const char *path;
    long long least, most;
} ranges[] = {
    {"afk.timeout", 1, 300},
    {"afk.max_wait", 0, 604800},
    {"api.stall", 0, 86400},
    {"autoCompactWindow", 1000, 1000000000},
    {"contextWindow", 1000, 1000000000},
    {"compact.at", 50, 95},
    {"budget.session", 0, 1000000000},
    {"budget.day", 0, 1000000000},
};

bool
config_in_range(const char *path, double n)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (strcmp(ranges[i].path, path) == 0)
            return n >= (double)ranges[i].least && n <= (double)ranges[i].most;
    return true;
}

static bool
all_strings(const struct cJSON *list, size_t *ret_index)
{
    *ret_index = 0;
    for (const struct cJSON *e = json_first(list); e; e = json_next(e), ++*ret_index)
        if (!json_is_str(e))
            return false;
    return true;
}

static bool
fits(const struct cJSON *v, int kinds)
{
    return (kinds & ANY) || ((kinds & STR_) && json_is_str(v)) ||
           ((kinds & INT_) && json_is_num(v)) || ((kinds & BOOL_) && json_is_bool(v)) ||
           ((kinds & OBJECT) && json_is_object(v)) ||
           ((kinds & (LIST | ARRAY)) && json_is_array(v));
}

static const char *
wanted(int kinds)
{
    return kinds == (STR_ | LIST)    ? "a string or a list of strings"
           : kinds == (STR_ | BOOL_) ? "a string, true or false"
           : kinds & STR_            ? "a string"
           : kinds & INT_            ? "a number"
           : kinds & BOOL_           ? "true or false"
           : kinds & LIST            ? "a list of strings"
           : kinds & ARRAY           ? "a list"
                                     : "an object";
}

static int
line_at(struct str text, size_t at)
{
    int line = 1;
    if (at == CONFIG_NONE)
        return 0;
    for (size_t i = 0; i < at && i < text.len; i++)
        line += text.ptr[i] == '\n';
    return line;
}

static void
check_type(struct config *c, size_t i, const struct key *key)
{
    struct str text = buf_str(&c->files[i].text);
    const struct cJSON *v = json_at(c->files[i].tree, key->path);
    size_t index;
    if (!v)
        return;
    if (!fits(v, key->kinds))
        config_note(&c->problems, c->sources[i].file,
                    line_at(text, config_find_path(text, key->path)),
                    "'%s' must be %s; it is ignored", key->path, wanted(key->kinds));
    else if ((key->kinds & LIST) && json_is_array(v) && !all_strings(v, &index))
        config_note(&c->problems, c->sources[i].file, json_line_of(text, key->path, index),
                    "'%s' may hold strings only; element %zu is ignored", key->path, index + 1);
}

static void
check_choice(struct config *c, size_t i, size_t choice)
{
    const char *path = choices[choice].path, *const *word = choices[choice].words;
    struct str text = buf_str(&c->files[i].text), v = json_str(c->files[i].tree, path);
    if (!json_is_str(json_at(c->files[i].tree, path)))
        return;
    for (; *word; word++) {
        size_t n = strlen(*word);
        if (str_starts(v, *word) && (v.len == n || v.ptr[n] == '-'))
            return;
    }
    config_note(&c->problems, c->sources[i].file, line_at(text, config_find_path(text, path)),
                "'%s' must be %s, not '%.*s'; it is ignored", path, choices[choice].told,
                v.len < 64 ? (int)v.len : 64, v.ptr);
}

static void
check_range(struct config *c, size_t i, size_t range)
{
    const char *path = ranges[range].path;
    const struct cJSON *v = json_at(c->files[i].tree, path);
    if (!json_is_num(v) || config_in_range(path, json_value_num(v)))
        return;
    config_note(
        &c->problems, c->sources[i].file,
        line_at(buf_str(&c->files[i].text), config_find_path(buf_str(&c->files[i].text), path)),
        "'%s' must be from %lld to %lld; it is ignored", path, ranges[range].least,
        ranges[range].most);
}

const char *
config_known_key(size_t i)
{
    return i < ARRAY_LEN(keys) ? keys[i].path : NULL;
}

enum config_reach
config_reach(const char *path)
{
    const struct key *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        size_t n = strlen(keys[i].path);
        if (n < longest || strncmp(path, keys[i].path, n) != 0 || (path[n] && path[n] != '.'))
            continue;
        best = &keys[i];
        longest = n;
    }
    return best ? best->reach : CONFIG_TRUSTED;
}

static bool
is_repo(enum scope scope)
{
    return scope == SCOPE_PROJECT || scope == SCOPE_LOCAL;
}

/* What does not count is named where it stands. */
static void
check_reach(struct config *c, size_t i, const struct key *key)
{
    const char *dot = strrchr(key->path, '.');
    struct str text = buf_str(&c->files[i].text);
    if (key->reach != CONFIG_PERSON || !is_repo(c->sources[i].scope) ||
        !json_at(c->files[i].tree, key->path))
        return;
    if (!dot && json_is_object(json_at(c->files[i].tree, key->path)))
        return; /* its members are named */
    config_note(&c->problems, c->sources[i].file, line_at(text, config_find_path(text, key->path)),
                "'%s' counts in your own settings or the administrator's alone; it is ignored here",
                key->path);
}

/* A project may neither put the person into AFK mode nor take the prompts away. */
static void
check_mode(struct config *c, size_t i)
{
    static const char path[] = "permissions.defaultMode";
    struct str text = buf_str(&c->files[i].text), v = json_str(c->files[i].tree, path);
    if (!is_repo(c->sources[i].scope) || (!str_is(v, "auto") && !str_is(v, "bypassPermissions")))
        return;
    config_note(&c->problems, c->sources[i].file, line_at(text, config_find_path(text, path)),
                "a project cannot set the mode '%.*s'; it is ignored", (int)v.len, v.ptr);
}

static bool
is_known(const char *name)
{
    if (!strncmp(name, "spinner", 7))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!strcmp(keys[i].path, name))
            return true;
    return false;
}

/* How many letters to change, add, drop or swap with their neighbour; past NAME_MAX_ letters: far. */
static size_t
distance(struct str a, struct str b)
{
    size_t rows[3][NAME_MAX_ + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    if (a.len > NAME_MAX_ || b.len > NAME_MAX_)
        return NAME_MAX_;
    for (size_t k = 0; k <= b.len; k++)
        last[k] = before[k] = k;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t k = 1; k <= b.len; k++) {
            size_t best = last[k - 1] + (a.ptr[i - 1] != b.ptr[k - 1]);
            best = last[k] + 1 < best ? last[k] + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            bool swapped = i > 1 && k > 1 && a.ptr[i - 1] == b.ptr[k - 2] &&
                           a.ptr[i - 2] == b.ptr[k - 1] && a.ptr[i - 1] != b.ptr[k - 1];
            row[k] = swapped && before[k - 2] + 1 < best ? before[k - 2] + 1 : best;
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b.len];
}

/* The known key right below `parent` ("permissions.", "") that was perhaps meant; NULL: none is near. */
static const char *
nearest(const char *parent, const char *name)
{
    const char *best = NULL;
    size_t least = NEAR + 1, n = strlen(parent);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *key = keys[i].path + n;
        if (strncmp(keys[i].path, parent, n) != 0 || strchr(key, '.'))
            continue;
        size_t d = distance(str_from(name), str_from(key));
        if (d < least && d < strlen(key)) {
            least = d;
            best = key;
        }
    }
    return best;
}

/* Nothing below a name that is not known counts, which for a rule or a limit is no mere note. */
static void
check_members(struct config *c, size_t i, const char *object)
{
    struct str text = buf_str(&c->files[i].text);
    size_t noted = 0;
    char *parent = xasprintf("%s.", object);
    for (const struct cJSON *m = json_first(json_at(c->files[i].tree, object)); m;
         m = json_next(m)) {
        const char *name = json_key(m);
        char *path = xasprintf("%s%s", parent, name ? name : "");
        if (name && !is_known(path) && noted++ < UNKNOWN_MAX) {
            const char *meant = nearest(parent, name);
            size_t at = config_find_member(text, config_find_path(text, object), str_from(name));
            config_note(&c->problems, c->sources[i].file, line_at(text, at),
                        "'%s.%.200s' is not known and has no effect%s%s%s", object, name,
                        meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
        }
        free(path);
    }
    free(parent);
}

static void
note_unknown(struct config *c, size_t i, const char *name)
{
    struct str text = buf_str(&c->files[i].text);
    int line = line_at(text, config_find_member(text, config_find_path(text, ""), str_from(name)));
    const char *meant = nearest("", name);
    if (meant && strcmp(meant, "permissions") == 0)
        config_note(&c->problems, c->sources[i].file, line,
                    "'%.200s' is not known and has no effect; did you mean 'permissions'?", name);
    else
        config_note(&c->unknown, c->sources[i].file, line,
                    "'%.200s' is not known here; it is kept, without effect", name);
}

void
config_check_keys(struct config *c, size_t i)
{
    size_t noted = 0;
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        check_type(c, i, &keys[k]);
        check_reach(c, i, &keys[k]);
    }
    check_mode(c, i);
    for (size_t k = 0; k < ARRAY_LEN(choices); k++)
        check_choice(c, i, k);
    for (size_t k = 0; k < ARRAY_LEN(ranges); k++)
        check_range(c, i, k);
    check_members(c, i, "permissions");
    check_members(c, i, "afk");
    check_members(c, i, "budget");
    check_members(c, i, "compact");
    check_members(c, i, "api");
    for (const struct cJSON *m = json_first(c->files[i].tree); m; m = json_next(m)) {
        const char *name = json_key(m);
        if (name && !is_known(name) && noted++ < UNKNOWN_MAX)
            note_unknown(c, i, name);
    }
}
