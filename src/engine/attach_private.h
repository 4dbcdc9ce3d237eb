#pragma once
/* What attachments remember of a session, and the producers; only attach*.c include this. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct core;

#define ATTACH_PRODUCERS_MAX 16
#define TOUCHED_MAX 256 /* paths that wait to be looked at */

struct told_file { /* a change that was told, though the model has not seen the whole file */
    char *path;
    int64_t mtime_ns;
    uint64_t size;
    int64_t turn, times;
};

struct attach_told {
    int64_t turn; /* messages that could carry attachments, from 1 */
    int64_t spoke[ATTACH_PRODUCERS_MAX];
    char date[11];     /* "2026-11-30" */
    int64_t plan_turn; /* when plan mode was told last */
    char *todos;       /* the list as it is; NULL: none */
    int64_t todos_turn;
    struct told_file *files;
    size_t n_files, cap_files;
    char *touched[TOUCHED_MAX];
    size_t n_touched;
    char **seen; /* paths and folders that were looked at */
    size_t n_seen, cap_seen;
};

bool attach_edited_files(struct core *c, struct buf *out);
bool attach_nested_memory(struct core *c, struct buf *out);
bool attach_task_notes(struct core *c, struct buf *out);
bool attach_mode(struct core *c, struct buf *out);
bool attach_plan(struct core *c, struct buf *out);
bool attach_todo(struct core *c, struct buf *out);
bool attach_date(struct core *c, struct buf *out);

void attach_today(char ret[11]);
