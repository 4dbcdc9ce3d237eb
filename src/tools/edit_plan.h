#pragma once
/*
 * What an Edit or a Write would do, worked out without writing anything: the same for the run and for the preview in the approval
 * pane. After a failure `why` says what the model is told.
 */
#include <stdbool.h>

#include "tools/edit_match.h"
#include "tools/text_file.h"
#include "tools/tool.h"

struct edit_plan {
    char *path, *resolved; /* as named (absolute), and past symlinks */
    const char *shown;     /* path relative to the cwd */
    bool is_new;
    struct text_file file; /* as it is; empty when new */
    struct buf after, raw; /* the new text, and its bytes in the file's encoding */
    size_t n_changes;
    unsigned tolerance;
    size_t first_at, last_end; /* extent of the changes in `after` */
    struct buf why;
};

void edit_plan_init(struct edit_plan *p);
void edit_plan_release(struct edit_plan *p);
/* Finds the file, loads it when there, and checks that the model knows it as it is. */
bool edit_plan_open(struct edit_plan *p, const struct tool_ctx *ctx, const struct cJSON *input);
bool edit_plan_edit(struct edit_plan *p, const struct cJSON *input);
bool edit_plan_write(struct edit_plan *p, struct str content);
/* Writes the bytes and notes them as known. */
bool edit_plan_commit(struct edit_plan *p, const struct tool_ctx *ctx);
