#pragma once
/* What the rows in tools/registry.c point to; each in the file of its tool. */
#include "tools/tool.h"

#define TOOL_FUNCTIONS(x)                                                                          \
    void x##_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret);        \
    void x##_describe(const struct cJSON *input, const char *cwd, struct buf *out)

TOOL_FUNCTIONS(tool_bash);
TOOL_FUNCTIONS(tool_read);
TOOL_FUNCTIONS(tool_edit);
TOOL_FUNCTIONS(tool_write);
TOOL_FUNCTIONS(tool_glob);
TOOL_FUNCTIONS(tool_grep);
TOOL_FUNCTIONS(tool_todo);
TOOL_FUNCTIONS(tool_task_output);
TOOL_FUNCTIONS(tool_task_stop);
bool tool_task_validate(const struct cJSON *input, struct err *err);
bool tool_edit_validate(const struct cJSON *input, struct err *err);
bool tool_grep_validate(const struct cJSON *input, struct err *err);
/* Of Edit and Write. */
bool tool_edit_precheck(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *ret_why);
void tool_edit_preview(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *out);
void tool_write_preview(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *out);
