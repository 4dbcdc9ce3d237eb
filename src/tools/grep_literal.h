#pragma once
/*
 * Literals of which every match of a pattern must hold one: text without any needs no matching. Careful rather than clever: what is not
 * understood gives none. Pure.
 */
#include "base/buf.h"

enum { LITERALS_MAX = 8, LITERAL_MIN = 2, LITERAL_MAX = 255 };

struct literals {
    struct buf text[LITERALS_MAX];
    size_t n;   /* 0: not known */
    bool exact; /* the pattern is nothing but these literals */
};

/* `fold`: case is ignored; then the literals are in lower case and plain ASCII. Release what comes back. */
void grep_required_literals(struct str pattern, bool fold, struct literals *ret);
void grep_literals_release(struct literals *l);
