#pragma once
/* One instruction file: found, allowed, read, with what it imports; for memory*.c alone. memory.c says which files. */
#include "ext/memory.h"

struct loader {
    const struct memory_options *o;
    struct memory *m;
    /* What a project's files may lead to, by links and imports. NULL: the user's own may lead anywhere. */
    const char *bound;
    size_t folders;             /* of rules, that were read */
    bool full, no_more_folders; /* told */
};

/* The file, if there is one that is not known yet, and its imports. by: the file that imports it; NULL: it was looked for. hops: how
 * deep the imports are by now. What may not be read or is too much becomes a row that says why. */
void memory_file_load(struct loader *l, enum memory_kind kind, const char *path, const char *by,
                      int hops);
/* A row for what is left out, and why. */
void memory_file_leave_out(struct loader *l, enum memory_kind kind, const char *path,
                           const char *by, char *take_why);
/* The text of that row's file, appended to the rest. */
void memory_file_add_text(struct loader *l, size_t row, struct str text);
/* Why it may not be read, yours; NULL: it may. */
char *memory_file_forbidden(struct loader *l, const char *path);
