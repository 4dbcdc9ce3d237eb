#pragma once
/*
 * Deny and ask rules PROGRAM SUB [SUB2...] against a command that says the same in another way. Shared by rules_subcommand.c (the
 * search), rules_globals.c (which options take the next word) and rules_spelling.c (other names of sub-commands and options).
 */
#include "perm/rules_match.h"

/* Of one program, lists of words with a blank before and behind each. */
struct globals {
    const char *name;
    const char *valued, *flags; /* options that take the next word, and those that never do */
    const char *between;        /* words that may stand before the sub-command or be left out */
    const char *named;          /* ... those that are followed by a name: "yarn workspace NAME" */
    bool list;                  /* operands are a list of tasks: each of them is one */
    bool shortens;              /* takes any clear beginning of a sub-command's name */
};
/* The row of the program, or NULL. */
const struct globals *globals_of(struct str name, bool fold);
bool words_list(const char *list, struct str word);
bool spelled_same(struct str a, struct str b, bool fold);

/* A name without the version at its end: "pip3.11" is "pip". */
struct str spelling_unversioned(struct str name);
/* Is `word` another name of that program's sub-command (or, kubectl, kind of thing) `sub`? */
bool spelling_of(const struct globals *g, struct str sub, struct str word, bool fold);
/* The rule ends in these options (parted by blanks): does the leaf have them all from word i on, in whatever spelling and order?
 * exact: and nothing else. */
bool spelling_options(struct str options, const struct perm_leaf *leaf, size_t i, bool exact);
