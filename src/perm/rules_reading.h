#pragma once
/* One rule while it is read: rules_parse.c reads the rule, rules_command.c the body of one for Bash, rules_clean.c
 * a path. */
#include "perm/rules_match.h"

enum { RULE_LEN_MAX = 4096 };

struct reading {
    struct perm_rules *rs;
    struct perm_rule *r;
    struct str body; /* what is left of it */
    char *owned;     /* ... when it was made anew */
};
/* A problem of the rule: its list, its text and what is wrong. The second: so it does not count as it stands. */
void reading_say(const struct reading *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void reading_unread(const struct reading *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool reading_strict(const struct reading *x); /* of a deny or ask rule */
/* Fills in the pattern; false: the rule is dropped. */
bool reading_command(struct reading *x);
/* Tells what is doubtful of a path; in deny and ask it is read without blanks around it, ".", "//" inside and "x/..". */
void reading_path(struct reading *x);
