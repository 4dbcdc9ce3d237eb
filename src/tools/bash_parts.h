#pragma once
/* One Bash call, shared by bash.c (which runs it) and bash_result.c (which says what came of it). */
#include <stdbool.h>
#include <stdint.h>

#include "tools/task.h"
#include "tools/tool.h"

enum bash_way {
    BASH_ENDED,       /* by itself */
    BASH_INTERRUPTED, /* its token fired */
    BASH_TIMED_OUT,
    BASH_FLOODED,
    BASH_BEHIND, /* it goes on in the background */
};

struct bash {
    struct tool_ctx *ctx;
    struct tool_result *ret;
    struct str command;
    int64_t timeout_ms, start_ms, progress_ms;
    bool timeout_given; /* by the model */
    char *cwd_file;
    struct task *task;
    enum bash_way way;
    const char *why_behind; /* "it was asked for", ... */
};

/* The number in an environment variable, at most max; fallback when it has none. */
int64_t bash_env_number(const char *name, int64_t fallback, int64_t max);
/* After task_finish. */
void bash_write_result(struct bash *b);
/* After task_to_background. */
void bash_write_behind(struct bash *b);
