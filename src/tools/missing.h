#pragma once
/* A file that does not exist: an error result that names what is there instead, where something alike is. */
#include "tools/tool.h"

void tool_fail_missing(const struct tool_ctx *ctx, struct tool_result *ret, const char *path);
