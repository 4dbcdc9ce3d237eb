#pragma once
/*
 * Wildcard text: '*' stands for any run of bytes, everything else for itself. Two questions that must not be mixed up: does
 * a pattern match a text, and could it match any of the texts that a partly unknown command may turn into.
 * Pure, thread-safe.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Stands in a text for a value that is not known before running; no rule may hold it. */
#define WILD_GAP '\x01'

/* Linear in pattern and text: each literal run is searched once, from left to right. */
bool wild_match(struct str pattern, struct str text);
/* Is there a text that both patterns match? '*' is the wildcard in a, WILD_GAP in b. What would be too much work to
 * decide is answered with true. */
bool wild_overlap(struct str a, struct str b);
