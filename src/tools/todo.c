#include <stdio.h>

#include "base/json.h"
#include "tools/builtin.h"

/* The list itself, or what its JSON text holds (then *take_tree is to be freed). */
static const struct cJSON *
todos_of(const struct cJSON *input, struct cJSON **ret_tree)
{
    const struct cJSON *list = json_at(input, "todos");

    *ret_tree = NULL;
    if (json_is_str(list))
        list = *ret_tree = json_parse(json_value_str(list), NULL);
    return json_is_array(list) ? list : NULL;
}

static size_t
count(const struct cJSON *list, const char *status)
{
    size_t n = 0;

    for (const struct cJSON *t = json_first(list); t; t = json_next(t))
        n += str_is(json_str(t, "status"), status);
    return n;
}

void
tool_todo_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct cJSON *tree;
    const struct cJSON *list = todos_of(input, &tree);
    struct buf json;

    if (!list) {
        tool_result_fail(ret, "TodoWrite: 'todos' must be an array");
        return;
    }
    buf_init(&json, BUF_MAX);
    json_print(list, &json);
    if (ctx->host && ctx->host->todos)
        ctx->host->todos(ctx->host->user, buf_cstr(&json));
    buf_adds(
        &ret->text,
        "Todos have been modified successfully. Ensure that you continue to use the todo list to "
        "track your progress. Please proceed with the current tasks if applicable.");
    if (count(list, "in_progress") > 1)
        buf_addf(&ret->text, " %zu tasks are in_progress: keep to one at a time.",
                 count(list, "in_progress"));
    snprintf(ret->summary, sizeof ret->summary, "%zu of %zu done", count(list, "completed"),
             json_len(list));
    buf_adds(&ret->data, "{\"newTodos\":");
    buf_add_str(&ret->data, buf_str(&json));
    buf_addc(&ret->data, '}');
    buf_release(&json);
    json_free(tree);
}

void
tool_todo_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    struct cJSON *tree;
    const struct cJSON *list = todos_of(input, &tree);

    (void)cwd;
    buf_addf(out, "%zu todos", list ? json_len(list) : 0);
    json_free(tree);
}
