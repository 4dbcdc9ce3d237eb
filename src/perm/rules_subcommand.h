#pragma once
/*
 * Deny and ask rules PROGRAM SUB [SUB2...] against a command that says the same in another way. Shared by rules_subcommand.c (the
 * search) and rules_spelling.c (other names of sub-commands and options).
 */
#include "perm/globals.h"
#include "perm/rules_match.h"

/* Is `word` another name of that program's sub-command (or, kubectl, kind of thing) `sub`? */
bool spelling_of(const struct globals *g, struct str sub, struct str word, bool fold);
/* The rule ends in these options (parted by blanks): does the leaf have them all from word i on, in whatever spelling and order?
 * exact: and nothing else. */
bool spelling_options(struct str options, const struct perm_leaf *leaf, size_t i, bool exact);
