#pragma once
/* Files in the session's spill folder, for what is too long to show: mode 0600, the folder 0700, made on first use. */
#include "base/err.h"
#include "tools/tool.h"

/* A new file named after the call ("toolu_01.txt", with a number when taken). The descriptor, or -1; *ret_path is yours. */
int spill_open(const struct tool_ctx *ctx, char **ret_path, struct err *err);
/* The whole text into a new one: its path (yours), or NULL. */
char *spill_text(const struct tool_ctx *ctx, struct str text, struct err *err);
