#pragma once
/* Inside of suggest.c: the words that a prefix rule would begin with. */
#include <stdbool.h>

#include "base/buf.h"

struct perm_leaf;

/* The first words that name what a command does ("git -C web add"), or nothing. An option is one of them where the table has it. The
 * leaf's words are known. */
void suggest_prefix(const struct perm_leaf *l, struct buf *out);
/* These words of a program that is otherwise as good as a shell only tell of what is there. */
bool suggest_is_tame(struct str prefix);
