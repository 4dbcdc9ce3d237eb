#pragma once
/* For sandbox_explain: a path that a failing command named, held against the plan. */
#include "perm/sandbox_parts.h"

enum blame {
    BLAME_NOT,       /* the sandbox lets it be read and written, or it is no path */
    BLAME_OUTSIDE,   /* may be read, not written */
    BLAME_PROTECTED, /* below a writable folder, not to be written */
    BLAME_HIDDEN,    /* not to be read */
    BLAME_RUN,       /* below /run */
    BLAME_TMP        /* the machine's /tmp */
};
/* `word` counts from cwd. *ret_path (yours): the path, set unless BLAME_NOT. */
enum blame sandbox_blame(const struct sandbox_plan *p, const char *cwd, struct str word,
                         char **ret_path);
bool sandbox_writable_outside(const char *path);
void sandbox_blame_text(const struct sandbox_plan *p, enum blame b, const char *path,
                        struct buf *out);

/* sandbox_silent.c: the same for a command that said nothing of use: what it was told to do. */
struct sandbox_command;
bool sandbox_silent(const struct sandbox_plan *p, const struct sandbox_command *c, int wait_status,
                    struct str output, struct buf *out);
