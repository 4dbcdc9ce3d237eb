/* The tools, one row each. The order is part of every request's cached prefix: add at the end. */
#include "tools/builtin.h"

#define ASSET(name)                                                                                \
    extern const char tool_##name##_text[];                                                        \
    extern const char tool_##name##_schema[]
ASSET(bash);
ASSET(read);
ASSET(write);
ASSET(edit);
ASSET(glob);
ASSET(grep);
ASSET(todo);
ASSET(task_output);
ASSET(task_stop);

static const struct tool tools[] = {
    {"Bash", NULL, TOOL_SHELL | TOOL_DESTRUCTIVE, tool_bash_text, tool_bash_schema, NULL,
     tool_bash_run, tool_bash_describe, NULL, NULL},
    {"Read", NULL, TOOL_READ_ONLY | TOOL_CONCURRENCY_SAFE, tool_read_text, tool_read_schema, NULL,
     tool_read_run, tool_read_describe, NULL, NULL},
    {"Write", NULL, TOOL_DESTRUCTIVE, tool_write_text, tool_write_schema, NULL, tool_write_run,
     tool_write_describe, tool_write_preview, tool_edit_precheck},
    {"Edit", NULL, TOOL_DESTRUCTIVE, tool_edit_text, tool_edit_schema, tool_edit_validate,
     tool_edit_run, tool_edit_describe, tool_edit_preview, tool_edit_precheck},
    {"Glob", NULL, TOOL_READ_ONLY | TOOL_CONCURRENCY_SAFE, tool_glob_text, tool_glob_schema, NULL,
     tool_glob_run, tool_glob_describe, NULL, NULL},
    {"Grep", NULL, TOOL_READ_ONLY | TOOL_CONCURRENCY_SAFE, tool_grep_text, tool_grep_schema,
     tool_grep_validate, tool_grep_run, tool_grep_describe, NULL, NULL},
    {"TodoWrite", NULL, 0, tool_todo_text, tool_todo_schema, NULL, tool_todo_run,
     tool_todo_describe, NULL, NULL},
    {"TaskOutput", "BashOutput AgentOutputTool", TOOL_READ_ONLY | TOOL_CONCURRENCY_SAFE,
     tool_task_output_text, tool_task_output_schema, tool_task_validate, tool_task_output_run,
     tool_task_output_describe, NULL, NULL},
    {"TaskStop", "KillShell KillBash", TOOL_CONCURRENCY_SAFE, tool_task_stop_text,
     tool_task_stop_schema, tool_task_validate, tool_task_stop_run, tool_task_stop_describe, NULL,
     NULL},
};

static bool
is_alias(const struct tool *t, struct str name)
{
    struct str rest = str_from(t->aliases), alias;

    while (t->aliases && str_split(&rest, ' ', &alias))
        if (str_eq(alias, name))
            return true;
    return false;
}

const struct tool *
tool_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (str_is(name, tools[i].name) || is_alias(&tools[i], name))
            return &tools[i];
    return NULL;
}

const struct tool *
tool_at(size_t i)
{
    return i < ARRAY_LEN(tools) ? &tools[i] : NULL;
}
