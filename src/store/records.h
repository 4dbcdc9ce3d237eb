#pragma once
/*
 * The whole lines of a journal, one after the other, through a window of the file: a long journal is never in memory at
 * once, and what another process appends meanwhile is not looked at. Private to store. One thread.
 *
 *     if (!records_open(&l, path, &err)) ...
 *     while (records_next(&l, &line, &offset)) ...
 *     ok = records_close(&l, path, &err);
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What is longer is no record: its line is given empty. */
#define RECORD_MAX BUF_MAX

struct records {
    int fd;
    int64_t end;     /* where the last whole line ends */
    int64_t torn_at; /* offset of a torn tail, -1: none */
    int64_t torn_bytes;
    bool no_newline; /* the last line is whole but for its newline */
    char *window;
    size_t cap, len, at;
    int64_t base; /* offset of the window's first byte */
    int errnum;
};
bool records_open(struct records *l, const char *path, struct err *err) MUST_CHECK;
/* The same on a file that is open; it stays the caller's. */
bool records_init(struct records *l, int fd, const char *path, struct err *err) MUST_CHECK;
/* The next line that is not blank, without its newline; borrowed until the next call. False at the end or on an error. */
bool records_next(struct records *l, struct str *ret, int64_t *ret_offset);
/* Frees the window and closes what records_open opened. False when reading failed on the way. */
bool records_close(struct records *l, const char *path, struct err *err) MUST_CHECK;
/* len bytes at offset, in full. */
bool records_pread(int fd, char *to, size_t len, int64_t offset);
