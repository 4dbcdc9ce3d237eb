#pragma once
/*
 * The output of a command with flat memory: the first HEAD_BYTES and the last TAIL_BYTES are held; once the head is full everything also
 * goes to a spill file, at most 64 MiB of it. Belongs to the thread that runs the command.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tools/tool.h"

enum { BASH_HEAD_BYTES = 192 << 10, BASH_TAIL_BYTES = 64 << 10, BASH_SPILL_MAX = 64 << 20 };

struct bash_output {
    const struct tool_ctx *ctx;
    struct buf head;
    char *tail;     /* a ring, made once the head is full */
    size_t tail_at; /* where the next byte goes */
    uint64_t total; /* bytes the command wrote */
    int spill_fd;
    uint64_t spilled;
    char *spill_path;
    bool spill_failed;
    struct err spill_err;
    struct buf last_line; /* for progress: the line at hand or the one before, at most 400 bytes */
    bool line_ended;
};

void bash_output_init(struct bash_output *o, const struct tool_ctx *ctx);
void bash_output_release(struct bash_output *o);
void bash_output_add(struct bash_output *o, struct str bytes);
/* Appends at most max_chars characters, valid UTF-8: all of it, or head and tail around a note that names the spill file (which is
 * made now when it was not needed before). *ret_replaced: bytes that were no UTF-8. */
void bash_output_write(struct bash_output *o, size_t max_chars, struct buf *out,
                       size_t *ret_replaced);
