#pragma once
/*
 * Which spans of a conversation may be folded: from..to-1, so that a message of each role in their place keeps the list legal.
 * A span is whole turns, from a prompt to before the next one, or a part of one turn, from an answer to before a later one; never the
 * first message, a fold, a pinned message or the newest read of a pinned file, nor anything from keep_from on.
 */
#include "engine/tiers.h"

struct tier_span {
    size_t from, to;
    int64_t tokens;
};
struct tier_spans {
    struct tier_span *list; /* in order, apart */
    size_t n, cap;
};
/* Spans of about TIER_SPAN tokens, the oldest first. Yours: free(list). */
void tier_spans_find(const struct tier_view *v, struct tier_spans *ret);
