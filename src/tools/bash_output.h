#pragma once
/*
 * The output of a command with flat memory: the first HEAD_BYTES and the last TAIL_BYTES are held; once the head is full everything also
 * goes to a spill file, at most 64 MiB of it. No lock of its own: the task it is part of (tools/task.h) has one.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tools/tool.h"

enum { BASH_HEAD_BYTES = 192 << 10, BASH_TAIL_BYTES = 256 << 10, BASH_SPILL_MAX = 64 << 20 };

struct bash_output {
    char *spill_dir, *name; /* of the spill file */
    struct buf head;
    char *tail;     /* a ring, made once the head is full */
    size_t tail_at; /* where the next byte goes */
    uint64_t total; /* bytes the command wrote */
    int spill_fd;
    uint64_t spilled;
    char *spill_path;
    bool spill_failed, gone; /* gone: head and tail were let go of */
    struct err spill_err;
    struct buf last_line; /* for progress: the line at hand or the one before, at most 400 bytes */
    bool line_ended;
};

/* Both are copied; spill_dir NULL: nothing can be kept on disk. */
void bash_output_init(struct bash_output *o, const char *spill_dir, const char *name);
void bash_output_release(struct bash_output *o);
void bash_output_add(struct bash_output *o, struct str bytes);
/* From here on all of it goes to the spill file, also what is held so far. False: it cannot be kept. */
bool bash_output_keep(struct bash_output *o);
/* No more will come: closes the spill file. */
void bash_output_end(struct bash_output *o);
/* Lets go of what is held in memory; the numbers stay. */
void bash_output_drop(struct bash_output *o);
/* Appends the last bytes as they came, at most `max` (up to TAIL_BYTES). Returns how many came before them. */
uint64_t bash_output_tail(const struct bash_output *o, size_t max, struct buf *out);
/* Appends at most max_chars characters, valid UTF-8: all of it, or head and tail around a note that names the spill file (which is
 * made now when it was not needed before). *ret_replaced: bytes that were no UTF-8. */
void bash_output_write(struct bash_output *o, size_t max_chars, struct buf *out,
                       size_t *ret_replaced);
