#include "perm/wild.h"

#include <stdlib.h>
#include <string.h>

#include "perm/looks.h"

/* Past this many cells two long patterns are taken to overlap. */
enum { OVERLAP_MAX = 8 << 20 };
/* What one part of what may be looked at is enough for. */
enum { CELLS = 16, LETTERS = 32 };

bool
wild_match(struct str pattern, struct str text)
{
    size_t star = str_find(pattern, '*', 0);
    if (star == (size_t)-1)
        return str_eq(pattern, text);
    if (text.len < star || memcmp(text.ptr, pattern.ptr, star) != 0)
        return false;

    if (!may_look(1 + (pattern.len + text.len) / LETTERS))
        return false;
    struct str rest = str_sub(pattern, star + 1, pattern.len);
    struct str t = str_sub(text, star, text.len);
    for (size_t next; (next = str_find(rest, '*', 0)) != (size_t)-1;) {
        /* The leftmost place is as good as any later one: what follows is a star. */
        const char *at = next ? memmem(t.ptr, t.len, rest.ptr, next) : t.ptr;
        if (!at)
            return false;
        t = str_sub(t, (size_t)(at - t.ptr) + next, t.len);
        rest = str_sub(rest, next + 1, rest.len);
    }
    return t.len >= rest.len &&
           (!rest.len || memcmp(t.ptr + t.len - rest.len, rest.ptr, rest.len) == 0);
}

/* One row of the reachability table: row[j] says that a[..i) and b[..j) can spell the same text. */
static void
overlap_row(struct str a, size_t i, struct str b, const bool *prev, bool *row)
{
    bool star = a.ptr[i - 1] == '*';
    row[0] = prev[0] && star;
    for (size_t j = 1; j <= b.len; j++) {
        /* A star may be empty or swallow a letter of b, a gap likewise one of a. */
        if (star || b.ptr[j - 1] == WILD_GAP)
            row[j] = prev[j] || row[j - 1];
        else
            row[j] = prev[j - 1] && a.ptr[i - 1] == b.ptr[j - 1];
    }
}

bool
wild_overlap(struct str a, struct str b)
{
    if ((a.len + 1) > OVERLAP_MAX / (b.len + 1) || !may_look(2 + (a.len + 1) * (b.len + 1) / CELLS))
        return true;
    bool *prev = xcalloc(b.len + 1, sizeof *prev), *row = xcalloc(b.len + 1, sizeof *row);
    prev[0] = true;
    for (size_t j = 1; j <= b.len; j++)
        prev[j] = prev[j - 1] && b.ptr[j - 1] == WILD_GAP;
    for (size_t i = 1; i <= a.len; i++) {
        overlap_row(a, i, b, prev, row);
        bool *swap = prev;
        prev = row;
        row = swap;
    }
    bool found = prev[b.len];
    free(prev);
    free(row);
    return found;
}
