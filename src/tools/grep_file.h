#pragma once
/*
 * Searching one file. The outcome of each file stands alone, so that files can be searched on several threads and put together in
 * order afterwards. A worker belongs to one thread. grep_file.c reads and decodes, grep_text.c finds and shows lines.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "tools/grep_pattern.h"

enum grep_mode { GREP_CONTENT, GREP_FILES, GREP_COUNT };

struct grep_options {
    enum grep_mode mode;
    bool only_matching, line_numbers, multiline, show_name;
    size_t before, after;
    size_t max_lines; /* more output lines of one file than that are never needed; 0: no bound */
    const struct grep_pattern *pattern;
    struct cancel *cancel;
};

struct grep_hits {
    /* content mode: the lines, each with newline; a line that is "\0" alone stands between groups */
    struct buf text;
    size_t lines;   /* in text, without those */
    size_t matches; /* lines that match (multiline: matches) */
    int64_t mtime_ns;
    bool too_hard; /* given up at the match limit */
    bool cut;      /* there are more lines than text can hold */
};

struct grep_worker {
    const struct grep_options *options;
    struct grep_matcher *matcher;
    struct buf data;    /* the file's bytes, reused */
    struct buf decoded; /* what is no UTF-8 in it, as UTF-8 */
};

struct grep_target {
    int dir_fd; /* name is relative to it; AT_FDCWD: looked at before it is opened */
    const char *name;
    /* What stands in front of lines, asked for once there is one. Borrowed until the file is done. */
    const char *(*shown)(void *user);
    void *user;
};

void grep_worker_init(struct grep_worker *w, const struct grep_options *o);
void grep_worker_release(struct grep_worker *w);
/* Searches a file. What cannot be read, is binary or no regular file has no hits. */
void grep_file(struct grep_worker *w, const struct grep_target *t, struct grep_hits *ret);
