#pragma once
/*
 * What a search leaves out because the person's rules keep it back: ctx->may_read asked for each file below one folder, by the name it
 * has there, by where the folder leads, and by where the file itself leads when it is a link. Thread-safe after init.
 *
 *     readable_init(&a, ctx, root);
 *     want(rel): ... && readable_below(&a, rel)
 *     readable_tell(&a, &ret->text);
 */
#include <stdatomic.h>

#include "tools/tool.h"

struct readable {
    const struct tool_ctx *ctx;
    const char *root; /* borrowed */
    char *resolved;   /* where root leads; NULL: it is the same, or there is nothing to ask */
    atomic_size_t left_out;
};

/* root: absolute; a folder, or the one file that is searched. */
void readable_init(struct readable *a, const struct tool_ctx *ctx, const char *root);
void readable_release(struct readable *a);
/* A file below root; "": root itself. One that may not be read is counted. */
bool readable_below(struct readable *a, struct str rel);
/* Appends "[2 files left out by a deny rule]" behind an empty line; nothing when there are none. */
void readable_tell(struct readable *a, struct buf *out);
