#pragma once
/*
 * Which files a search may read: the deny and ask rules for Read as they were when the search began, with all that their patterns
 * are anchored to. Immutable, owns what it holds; any number of threads may ask it.
 */
#include <stdbool.h>

#include "perm/rules.h"

struct read_filter;

/* start_cwd: where the session began (chain.h). asks: ask rules keep a file back too, for nobody is asked in the middle of a search. NULL: no rule speaks of reading. */
struct read_filter *read_filter_new(const struct perm_rules *rs, const char *root, const char *cwd,
                                    const char *start_cwd, const char *home, bool asks);
void read_filter_free(struct read_filter *f); /* NULL is fine */
/* path: absolute, one spelling; whoever knows where a link leads asks for that too. */
bool read_filter_allows(const struct read_filter *f, const char *path);
/* Which kind of rules it holds: "a deny rule", "an ask rule", "a deny or ask rule". */
const char *read_filter_told(const struct read_filter *f);
