#pragma once
/*
 * Finds the next place where one of a few literals stands: looks for two bytes of each, the rarest in code, sixteen places at a time, and
 * compares there. Immutable; any number of threads.
 */
#include "tools/grep_literal.h"

struct grep_finder {
    const struct literals *l; /* borrowed */
    bool fold;
    size_t reach; /* the widest gap */
    struct grep_pair {
        unsigned char byte[2], mask[2]; /* mask: 0x20 for a letter whose case is ignored */
        size_t at, gap;                 /* where in the literal; how far behind it the other is */
        unsigned char wide[4][16];      /* byte and mask sixteen times: b0, b1, m0, m1 */
    } pairs[LITERALS_MAX];
};

/* l->n > 0, and no literal shorter than LITERAL_MIN. */
void grep_finder_init(struct grep_finder *f, const struct literals *l, bool fold);
/* The offset of a literal at or after from, (size_t)-1: none. With several literals, another one may begin a few bytes before it. */
size_t grep_find(const struct grep_finder *f, struct str s, size_t from);
