/* The names that rules use for tools and for the fields of their input. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perm/rules_match.h"

enum { NAME_MAX_LEN = 40 };

/* Tools whose rules name paths, and the rule name that speaks for them. */
static const struct {
    const char *tool, *speaks;
} path_tools[] = {
    {"Read", "Read"},         {"Grep", "Read"}, {"Glob", "Read"},  {"LS", "Read"},
    {"NotebookRead", "Read"}, {"Edit", "Edit"}, {"Write", "Edit"}, {"MultiEdit", "Edit"},
    {"NotebookEdit", "Edit"}, {"Cd", "Cd"},
};
static const char *const other_tools[] = {
    "Bash",       "WebFetch",  "WebSearch",       "Agent",        "Task",
    "Skill",      "TodoWrite", "AskUserQuestion", "ExitPlanMode", "EnterPlanMode",
    "BashOutput", "KillShell", "TaskOutput",      "TaskStop",     "TodoRead",
};
/* Scalar fields that a rule may name, and those that have a better rule: the chain looks at what they lead to. */
static const struct {
    const char *tool, *field, *better; /* better: how to write it, NULL: a field like any other */
} fields[] = {
    {"Bash", "run_in_background", NULL},
    {"Bash", "dangerouslyDisableSandbox", NULL},
    {"Bash", "description", NULL},
    {"Bash", "timeout", NULL},
    {"Bash", "command", "Bash(COMMAND)"},
    {"Read", "limit", NULL},
    {"Read", "offset", NULL},
    {"Read", "pages", NULL},
    {"Read", "file_path", "Read(PATH)"},
    {"Grep", "pattern", NULL},
    {"Grep", "glob", NULL},
    {"Grep", "type", NULL},
    {"Grep", "output_mode", NULL},
    {"Grep", "head_limit", NULL},
    {"Grep", "multiline", NULL},
    {"Grep", "path", "Read(PATH)"},
    {"Glob", "pattern", "Read(PATH)"},
    {"Glob", "path", "Read(PATH)"},
    {"Edit", "replace_all", NULL},
    {"Edit", "file_path", "Edit(PATH)"},
    {"MultiEdit", "file_path", "Edit(PATH)"},
    {"Write", "file_path", "Edit(PATH)"},
    {"NotebookEdit", "edit_mode", NULL},
    {"NotebookEdit", "cell_type", NULL},
    {"NotebookEdit", "notebook_path", "Edit(PATH)"},
    {"Agent", "model", NULL},
    {"Agent", "run_in_background", NULL},
    {"Agent", "isolation", NULL},
    {"Agent", "mode", NULL},
    {"Agent", "name", NULL},
    {"Agent", "subagent_type", "Agent(NAME)"},
    {"Skill", "args", NULL},
    {"WebFetch", "prompt", NULL},
    {"WebFetch", "url", "WebFetch(domain:HOST)"},
};

const char *
perm_rules_path_tool(const char *tool)
{
    for (size_t i = 0; i < ARRAY_LEN(path_tools); i++)
        if (strcmp(path_tools[i].tool, tool) == 0)
            return path_tools[i].speaks;
    return NULL;
}

const char *
perm_rules_tool_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(path_tools); i++)
        if (strcasecmp(path_tools[i].tool, name) == 0)
            return path_tools[i].tool;
    for (size_t i = 0; i < ARRAY_LEN(other_tools); i++)
        if (strcasecmp(other_tools[i], name) == 0)
            return other_tools[i];
    return NULL;
}

/* How many letters have to be changed, added, left out or swapped with the next. */
static size_t
distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][NAME_MAX_LEN + 1];
    if (n > NAME_MAX_LEN || m > NAME_MAX_LEN)
        return NAME_MAX_LEN;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *upper = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t least = up[j - 1] + (a[i - 1] != b[j - 1]);
            least = up[j] + 1 < least ? up[j] + 1 : least;
            least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                upper[j - 2] + 1 < least)
                least = upper[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[n % 3][m];
}

const char *
perm_rules_near_tool(const char *name)
{
    const char *best = NULL;
    size_t least = strlen(name) > 4 ? 3 : 2; /* at most two letters off, one in a short name */
    for (size_t i = 0; i < ARRAY_LEN(path_tools) + ARRAY_LEN(other_tools); i++) {
        const char *tool =
            i < ARRAY_LEN(path_tools) ? path_tools[i].tool : other_tools[i - ARRAY_LEN(path_tools)];
        size_t far = distance(name, tool);
        if (far < least) {
            least = far;
            best = tool;
        }
    }
    return best;
}

/* "name:value" with a plain name. */
static size_t
field_len(struct str body)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = 0;
    while (n < body.len && body.ptr[n] && strchr(letters, body.ptr[n]))
        n++;
    return n && n + 1 < body.len && body.ptr[n] == ':' ? n : 0;
}

bool
rule_names_field(const char *tool, struct str body, const char **ret_better)
{
    size_t n = field_len(body);
    *ret_better = NULL;
    if (!n)
        return false;
    /* "Bash(timeout:*)" is a prefix. */
    if (strcmp(tool, "Bash") == 0 && str_is(str_sub(body, n, body.len), ":*"))
        return false;
    if (strncmp(tool, "mcp__", 5) == 0 || strchr(tool, '*'))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (strcmp(fields[i].tool, tool) == 0 && str_is(str_sub(body, 0, n), fields[i].field)) {
            *ret_better = fields[i].better;
            return true;
        }
    /* Names of agents and skills may hold a colon ("plugin:reviewer"). Other tools name nothing else. */
    static const char *const own[] = {"Bash", "WebFetch", "Skill", "Agent", "Task"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(own[i], tool) == 0)
            return false;
    return !perm_rules_path_tool(tool);
}
