#pragma once
/* outputs_table.c: which options and operands are files that a program writes, for outputs.c. Pure. */
#include "perm/leaf.h"
#include "perm/option_words.h"

/* EACH: every one is written. */
enum operand { NO_OPERAND, FIRST, SECOND, LAST, EACH };

/* `with`: words that must be there, as in a row of trees.h. Options are parted by blanks; their values may be attached. */
struct output_row {
    const char *program, *with, *options;
    enum operand operand; /* of those behind `with` where it names a sub-command */
};
struct output_rows {
    const struct output_row *v;
    size_t n;
};
extern const struct output_rows outputs_table;

/* The letters behind which the rest of a bundle is a value; r NULL: of the program's every call. */
const char *outputs_letters(const struct perm_leaf *l, const struct output_row *r);

enum option_takes { TAKES_NONE, TAKES_NEXT, TAKES_UNKNOWN };
/* Word i, which begins with a dash: is the next one its value? */
enum option_takes outputs_takes(const struct perm_leaf *l, const struct output_row *r, size_t i);
