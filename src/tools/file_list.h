#pragma once
/* Files found by a walk, with the time they were changed, for what is answered newest first. */
#include <stdint.h>

#include "base/buf.h"

struct file_item {
    char *path; /* absolute */
    int64_t mtime_ns;
};
struct file_list {
    struct file_item *items;
    size_t n, cap;
};
void file_list_add(struct file_list *l, const char *dir, const char *rel, int64_t mtime_ns);
void file_list_sort(struct file_list *l); /* newest first, then by path */
void file_list_release(struct file_list *l);
