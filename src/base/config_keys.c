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
} keys[] = {
    {"$schema", ANY},
    {"permissions", OBJECT},
    {"permissions.allow", LIST},
    {"permissions.ask", LIST},
    {"permissions.deny", LIST},
    {"permissions.additionalDirectories", LIST},
    {"permissions.defaultMode", STR_},
    {"permissions.disableBypassPermissionsMode", STR_},
    {"disableAutoMode", STR_ | BOOL_},
    {"autoMode", OBJECT},
    {"autoMode.environment", LIST},
    {"autoMode.allow", LIST},
    {"autoMode.soft_deny", LIST},
    {"autoMode.hard_deny", LIST},
    {"autoMode.classifyAllShell", BOOL_},
    {"useAutoModeDuringPlan", BOOL_},
    {"model", STR_},
    {"fallbackModel", STR_ | LIST},
    {"availableModels", LIST},
    {"effortLevel", STR_},
    {"alwaysThinkingEnabled", BOOL_},
    {"language", STR_},
    {"outputStyle", STR_},
    {"agent", STR_},
    {"env", OBJECT},
    {"apiKeyHelper", STR_},
    {"otelHeadersHelper", STR_},
    {"awsAuthRefresh", STR_},
    {"forceLoginMethod", STR_},
    {"hooks", OBJECT},
    {"disableAllHooks", BOOL_},
    {"allowManagedHooksOnly", BOOL_},
    {"allowedHttpHookUrls", LIST},
    {"httpHookAllowedEnvVars", LIST},
    {"statusLine", OBJECT},
    {"subagentStatusLine", OBJECT},
    {"fileSuggestion", OBJECT},
    {"theme", STR_},
    {"notify", STR_},
    {"tui", ANY},
    {"viewMode", STR_},
    {"verbose", BOOL_},
    {"editorMode", STR_},
    {"vimInsertModeRemaps", ANY},
    {"keybindingFlavor", STR_},
    {"axScreenReader", BOOL_},
    {"prefersReducedMotion", BOOL_},
    {"preferredNotifChannel", STR_},
    {"terminalProgressBarEnabled", BOOL_},
    {"companyAnnouncements", LIST},
    {"askUserQuestionTimeout", INT_},
    {"sandbox", OBJECT},
    {"sandbox.enabled", BOOL_},
    {"sandbox.autoAllowBashIfSandboxed", BOOL_},
    {"sandbox.excludedCommands", LIST},
    {"sandbox.allowUnsandboxedCommands", BOOL_},
    {"sandbox.failIfUnavailable", BOOL_},
    {"sandbox.filesystem", OBJECT},
    {"sandbox.filesystem.allowWrite", LIST},
    {"sandbox.filesystem.denyWrite", LIST},
    {"sandbox.filesystem.denyRead", LIST},
    {"sandbox.filesystem.allowRead", LIST},
    {"sandbox.limits", OBJECT},
    {"sandbox.limits.memoryMB", INT_},
    {"sandbox.limits.fileMB", INT_},
    {"sandbox.limits.processes", INT_},
    {"sandbox.limits.cpuSeconds", INT_},
    {"sandbox.network", OBJECT},
    {"sandbox.network.allowedDomains", LIST},
    {"sandbox.network.deniedDomains", LIST},
    {"enabledPlugins", OBJECT},
    {"extraKnownMarketplaces", OBJECT},
    {"strictKnownMarketplaces", ANY},
    {"skillOverrides", OBJECT},
    {"disableSkillShellExecution", BOOL_},
    {"enableAllProjectMcpServers", BOOL_},
    {"enabledMcpjsonServers", LIST},
    {"disabledMcpjsonServers", LIST},
    {"allowedMcpServers", ARRAY},
    {"deniedMcpServers", ARRAY},
    {"mcpServers", OBJECT},
    {"autoCompactEnabled", BOOL_},
    {"autoCompactWindow", INT_},
    {"contextWindow", INT_},
    {"autoMemoryEnabled", BOOL_},
    {"autoMemoryDirectory", STR_},
    {"claudeMdExcludes", LIST},
    {"cleanupPeriodDays", INT_},
    {"fileCheckpointingEnabled", BOOL_},
    {"plansDirectory", STR_},
    {"respectGitignore", BOOL_},
    {"worktree", OBJECT},
    {"attribution", OBJECT},
    {"includeCoAuthoredBy", BOOL_},
    {"includeGitInstructions", BOOL_},
    {"defaultShell", STR_},
    {"respondToBashCommands", BOOL_},
    /* yare's own */
    {"provider", ANY},
    {"providers", OBJECT},
    {"baseUrl", STR_},
    {"store", STR_},
    {"budget", OBJECT},
    {"afk", OBJECT},
    {"afk.model", STR_},
    {"afk.timeout", INT_},
    {"afk.max_wait", INT_},
    {"ui", OBJECT},
    {"ui.exitLines", INT_},
    {"ui.ambiguousWidth", INT_},
    {"ui.hyperlinks", BOOL_},
    {"models", ANY},
    {"memory", OBJECT},
    {"context", OBJECT},
    {"bash", OBJECT},
    {"bash.passEnv", LIST},
    {"tools", OBJECT},
    {"agents", OBJECT},
    {"keys", ANY},
    {"telemetry", OBJECT},
};

/* Settings that are one of a few words; "dark-daltonized" of other tools is "dark" here. */
static const struct {
    const char *path, *words[4], *told;
} choices[] = {
    {"theme", {"auto", "dark", "light"}, "auto, dark or light"},
    {"notify", {"bell", "osc9", "off"}, "bell, osc9 or off"},
};

/* Seconds that make sense. */
static const struct {
    const char *path;
    long long least, most;
} ranges[] = {
    {"afk.timeout", 1, 300},
    {"afk.max_wait", 0, 604800},
};

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
    double n = json_value_num(v);
    if (!json_is_num(v) || (n >= (double)ranges[range].least && n <= (double)ranges[range].most))
        return;
    config_note(
        &c->problems, c->sources[i].file,
        line_at(buf_str(&c->files[i].text), config_find_path(buf_str(&c->files[i].text), path)),
        "'%s' must be from %lld to %lld; it is ignored", path, ranges[range].least,
        ranges[range].most);
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
    for (size_t k = 0; k < ARRAY_LEN(keys); k++)
        check_type(c, i, &keys[k]);
    for (size_t k = 0; k < ARRAY_LEN(choices); k++)
        check_choice(c, i, k);
    for (size_t k = 0; k < ARRAY_LEN(ranges); k++)
        check_range(c, i, k);
    check_members(c, i, "permissions");
    check_members(c, i, "afk");
    for (const struct cJSON *m = json_first(c->files[i].tree); m; m = json_next(m)) {
        const char *name = json_key(m);
        if (name && !is_known(name) && noted++ < UNKNOWN_MAX)
            note_unknown(c, i, name);
    }
}
