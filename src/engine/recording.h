#pragma once
/*
 * Reading a recording, what `--events FILE` wrote (engine/event.h has the writer, docs/replay.md the format): line by line, in bounded
 * memory, never failing on what stands in a line. engine_replay and the screen tests read by this and nothing else.
 *
 *     struct recording_reader r;
 *     struct recording_line l;
 *     if (!recording_read_open(&r, path, &err)) ...
 *     while (recording_read(&r, &l))
 *         if (l.kind == RECORDING_EVENT) ...; event_free(l.event) ...
 *     recording_read_close(&r);
 *
 * One thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct event;

enum recording_kind {
    RECORDING_EVENT, /* event: yours */
    RECORDING_PART,  /* a header: a run of yare begins here */
    RECORDING_STEP,  /* another object: a size, or a step of a screen test; in text */
    RECORDING_BAD,   /* not to be understood; why, in err */
};
struct recording_line {
    enum recording_kind kind;
    int number;     /* from 1, counted from where the reader began */
    int64_t offset; /* in the file, of the line's first byte */
    struct event *event;
    struct str text; /* borrowed until the next read */
    struct err err;
};
struct recording_reader {
    int fd, number;
    struct buf in; /* what was read and not yet taken apart */
    size_t at;     /* in it */
    int64_t taken; /* bytes of the file behind the last line given */
    bool ended;
    /* lines without this text, ASCII case aside, are passed over unread; borrowed; empty: all are read */
    struct str only;
};
/* Error: no such file, not readable, or its first line shows that it is no recording. */
bool recording_read_open(struct recording_reader *r, const char *path, struct err *err) MUST_CHECK;
/* Goes on at the line that begins there. */
bool recording_read_seek(struct recording_reader *r, int64_t offset, struct err *err) MUST_CHECK;
void recording_read_close(struct recording_reader *r); /* also one that was never opened (zeroed) */
/* The next line that is not empty; false: the end. */
bool recording_read(struct recording_reader *r, struct recording_line *ret);
/* Offset of needle in text, ASCII case aside; (size_t)-1: it is not there. */
size_t recording_find(struct str text, struct str needle);
/* The first line of a file as text: could it be a recording's? */
bool recording_is_one(struct str first_line);
