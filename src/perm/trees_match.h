#pragma once
/* Which rows of trees_table.c speak of a command (trees_match.c); for trees.c, which looks at what they do to which folder. Pure. */
#include "perm/trees.h"

/* One of the group's alternatives is word i. */
bool trees_word_is(const struct perm_leaf *l, size_t i, struct str group);
/* Word i is one that the row itself asks for, so it is no operand. */
bool trees_row_word(const struct perm_leaf *l, size_t i, const struct tree_row *r);
/* npx, uv run and the like: another program stands among its words. */
bool trees_runner(const struct perm_leaf *l);
/* The leaf's program, or (of a runner) one that its first words may name; *ret_at: which word. */
bool trees_runs(const struct perm_leaf *l, bool runner, const char *program, size_t *ret_at);
/* The words that the row needs are there, and none that makes it another thing. */
bool trees_row_speaks(const struct perm_leaf *l, const struct tree_row *r);
