#pragma once
/* The languages of ui/highlight: grammar, compiled query, what each capture looks like. For ui/highlight only. */
#include <stdbool.h>
#include <stdint.h>
#include <tree_sitter/api.h>

#include "base/buf.h"

#define HL_SKIP 0xFF /* a capture that changes nothing */

struct hl_test; /* the predicates of one pattern */
struct hl_lang {
    const TSLanguage *grammar;
    TSQuery *query;
    uint8_t *styles; /* of a capture by its index, or HL_SKIP */
    uint8_t *ranks;  /* of a capture: of two on one node the higher holds, of equals the later */
    struct hl_test **tests; /* of a pattern by its index, NULL: none */
};
/* NULL: unknown, or its query does not fit its grammar (logged). Made once, kept for the program's life. */
const struct hl_lang *hl_lang_find(struct str name);
/* The predicates of the match hold for its text. */
bool hl_lang_passes(const struct hl_lang *l, const TSQueryMatch *m, struct str text);
