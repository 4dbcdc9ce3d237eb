#pragma once
/*
 * The last components that a rule for paths may have. Of the thousands of names in a tree nearly all differ there from what a rule
 * names, which is told without the rest of the path. What lies below a folder that the rule names is found with that folder.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct perm_rule;

struct last {
    char *text, *parent; /* parent: the folder's whole name, NULL: it may be any */
    char first, end;     /* letters that it begins and ends with for sure, or 0 */
};
struct lasts {
    struct last *v; /* by braces and spelling */
    size_t n, cap;
};
/* Of a rule that has a body. */
void lasts_init(struct lasts *l, const struct perm_rule *rule);
void lasts_release(struct lasts *l);
/* The last part of a path, and what it is in one form for all its spellings. */
struct last_name {
    const char *name;
    struct str parent; /* empty: not known */
    size_t len;
    char *form; /* NULL: it has no other */
};
/* To be held against so many rules; borrowed until release. */
void last_name_init(struct last_name *n, const char *path, size_t rules);
void last_name_release(struct last_name *n);
/* False: the rule does not name what is called so. Counted (perm/looks.h). */
bool lasts_may(const struct lasts *l, const struct last_name *n, bool fold);
