#pragma once
/*
 * The judges of the shell's builtins, shared by the two files that hold them:
 *
 *   builtins.c       the table; builtins that change folders, run text or steer the shell
 *   builtins_vars.c  builtins that set variables
 */
#include "perm/shell.h"

static inline void
set_class(struct sh *sh, size_t leaf, enum perm_class cls)
{
    leaf_at(sh, leaf)->cls = cls;
}

static inline bool
is_option(const struct word *w)
{
    struct str s = w->w.known ? w->w.text : w->prefix;
    return s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+');
}

void builtin_declare(struct sh *sh, size_t leaf, const struct command *c);
void builtin_unset(struct sh *sh, size_t leaf, const struct command *c);
void builtin_read(struct sh *sh, size_t leaf, const struct command *c);
void builtin_mapfile(struct sh *sh, size_t leaf, const struct command *c);
void builtin_getopts(struct sh *sh, size_t leaf, const struct command *c);
void builtin_let(struct sh *sh, size_t leaf, const struct command *c);
