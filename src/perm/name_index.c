#include "perm/name_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { EMPTY = UINT16_MAX };

struct name_slots {
    size_t mask;
    uint16_t *next;   /* by row: the next one of its name */
    uint16_t first[]; /* by hash, open addressing, at most half full */
};

static const char *
name_of(const void *rows, size_t row_bytes, size_t i)
{
    const char *name;
    memcpy(&name, (const char *)rows + i * row_bytes, sizeof name);
    return name;
}

static size_t
slot_of(const struct name_slots *s, const void *rows, size_t row_bytes, struct str name)
{
    uint64_t h = str_hash(name);
    size_t at = (size_t)(h ^ (h >> 32)) & s->mask;
    while (s->first[at] != EMPTY && !str_is(name, name_of(rows, row_bytes, s->first[at])))
        at = (at + 1) & s->mask;
    return at;
}

static struct name_slots *
make(const void *rows, size_t n, size_t row_bytes)
{
    size_t cap = 8;
    assert(n < EMPTY);
    while (cap < n * 2)
        cap *= 2;
    struct name_slots *s = xmalloc(sizeof *s + (cap + n) * sizeof *s->first);
    s->mask = cap - 1;
    s->next = s->first + cap;
    memset(s->first, 0xff, (cap + n) * sizeof *s->first);
    for (size_t i = n; i-- > 0;) { /* backwards, so that the first of a name comes first */
        size_t at = slot_of(s, rows, row_bytes, str_from(name_of(rows, row_bytes, i)));
        s->next[i] = s->first[at];
        s->first[at] = (uint16_t)i;
    }
    return s;
}

/* Two threads may make it at once: one is kept. */
static struct name_slots *
slots_of(struct name_index *ix, const void *rows, size_t n, size_t row_bytes)
{
    struct name_slots *s = atomic_load_explicit(&ix->slots, memory_order_acquire), *none = NULL;
    if (s)
        return s;
    s = make(rows, n, row_bytes);
    if (atomic_compare_exchange_strong(&ix->slots, &none, s))
        return s;
    free(s);
    return none;
}

size_t
name_first(struct name_index *ix, const void *rows, size_t n, size_t row_bytes, struct str name)
{
    const struct name_slots *s = slots_of(ix, rows, n, row_bytes);
    uint16_t row = s->first[slot_of(s, rows, row_bytes, name)];
    return row == EMPTY ? NAME_NONE : row;
}

size_t
name_next(const struct name_index *ix, size_t row)
{
    const struct name_slots *s = atomic_load_explicit(&ix->slots, memory_order_acquire);
    return s->next[row] == EMPTY ? NAME_NONE : s->next[row];
}
