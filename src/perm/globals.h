#pragma once
/*
 * Options that stand before and between a program's sub-commands, and which of them take the next word (globals.c). Rules and
 * wrappers look past them for the sub-command.
 */
#include <stdbool.h>

#include "base/buf.h"

/* Of one program, lists of words with a blank before and behind each. */
struct globals {
    const char *name;
    const char *valued, *flags; /* options that take the next word, and those that never do */
    const char *between;        /* words that may stand before the sub-command or be left out */
    const char *named;          /* ... those that are followed by a name: "yarn workspace NAME" */
    bool list;                  /* operands are a list of tasks: each of them is one */
    bool shortens;              /* takes any clear beginning of a sub-command's name */
};
/* The row of the program ("pip3.11" is "pip"), or NULL. */
const struct globals *globals_of(struct str name, bool fold);
bool words_list(const char *list, struct str word);
bool spelled_same(struct str a, struct str b, bool fold);

/* A name without the version at its end: "pip3.11" is "pip". */
struct str spelling_unversioned(struct str name);

enum takes { TAKES_NONE, TAKES_UNSURE, TAKES_NEXT };
/* Does the option take the next word? g may be NULL. */
enum takes globals_take(const struct globals *g, struct str option);
