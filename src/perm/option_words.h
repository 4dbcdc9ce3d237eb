#pragma once
/*
 * option_words.c: how a word says an option, for programs whose options no table of programs.h reads whole. What a program may take for the
 * option is it: who asks looks for what must not be missed, not for what the program would refuse. Pure.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct perm_leaf;

struct option_value {
    struct str text; /* empty: there is none, or it is not known */
    size_t word;     /* the word that it stands in */
    bool attached;   /* it is only a part of that word */
};

/* Letters of a program that knows no bundles: "-flto" holds no "-o". */
#define NO_BUNDLES "*"

/*
 * Word i says `option`: "-o" (also in a bundle, up to the first of `letters`, those that take the rest as a value), "--output" (also cut
 * short, in any case of letters), "-out" (also with two dashes). tar's first word may be a bundle without a dash.
 */
bool option_is_word(const struct perm_leaf *l, size_t i, struct str option, const char *letters,
                    struct option_value *ret);
