#pragma once
/* Rows of the table of programs that run other programs (wrappers_table.c, judged in wrappers.c). */
#include "perm/shell.h"

enum wrap_kind {
    W_CLEAR,      /* transparent when its options are understood */
    W_RUN,        /* runs the words behind its options and `skip` operands */
    W_RUNNER,     /* likewise, a package runner: a rule for it as a whole is fine */
    W_TEXT,       /* joins the words into a shell string */
    W_WORDS_TEXT, /* each operand from `skip` on, and the value of its option -x, is a shell string */
    W_SHELL,
    W_ENV,
    W_XARGS,
    W_FLOCK,
    W_INTERP, /* runs code of another language */
    W_DANGER, /* runs or steers something out of sight */
};
struct wrapper {
    const char *name, *sub; /* sub: the word that must follow */
    enum wrap_kind kind;
    size_t skip;
    bool power;
    struct optspec spec;
};

/* The row for a program called with these words, or NULL. */
const struct wrapper *wrapper_find(struct str name, const struct command *c);
