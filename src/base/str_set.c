#include "base/str_set.h"

#include <stdlib.h>

static size_t
slot_of(const struct str_set *set, struct str s)
{
    uint64_t h = str_hash(s);
    size_t at = (size_t)(h ^ (h >> 32)) & (set->cap - 1);
    while (set->slots[at].ptr && !str_eq(set->slots[at], s))
        at = (at + 1) & (set->cap - 1);
    return at;
}

static void
grow(struct str_set *set)
{
    struct str_set bigger = {.n = set->n, .cap = set->cap ? set->cap * 2 : 64};
    bigger.slots = xcalloc(bigger.cap, sizeof *bigger.slots);
    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i].ptr)
            bigger.slots[slot_of(&bigger, set->slots[i])] = set->slots[i];
    free(set->slots);
    *set = bigger;
}

bool
str_set_has(const struct str_set *set, struct str s)
{
    return s.ptr && set->cap && set->slots[slot_of(set, s)].ptr;
}

bool
str_set_add(struct str_set *set, struct str s)
{
    if (!s.ptr)
        return true;
    if (set->n * 2 >= set->cap)
        grow(set);
    size_t at = slot_of(set, s);
    if (set->slots[at].ptr)
        return false;
    set->slots[at] = s;
    set->n++;
    return true;
}

void
str_set_release(struct str_set *set)
{
    free(set->slots);
    *set = (struct str_set){0};
}
