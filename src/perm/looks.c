/* The bound on what one decision looks at. */
#include "perm/looks.h"

#include <stdint.h>

static _Thread_local struct looks now = {.left = SIZE_MAX};

struct looks
looks_begin(size_t bytes)
{
    struct looks before = now;
    size_t kb = bytes / 1024 + 1, most = SIZE_MAX / LOOKS_PER_KB - 1;
    now = (struct looks){.left = (kb < most ? kb : most) * LOOKS_PER_KB};
    now.reserve = now.left / LOOKS_RESERVE;
    return before;
}

void
looks_end(struct looks before)
{
    now = before;
}

static bool
take(size_t cost, size_t keep)
{
    if (now.left == SIZE_MAX)
        return true;
    if (!now.left) {
        now.spent = true;
        return false;
    }
    if (now.left < keep || cost > now.left - keep) {
        now.left = now.left < keep ? now.left : keep; /* refused once, refused from there on */
        now.spent = true;
        return false;
    }
    now.left -= cost;
    return true;
}

bool
may_look(size_t cost)
{
    return take(cost, 0);
}

bool
may_walk(size_t cost)
{
    return take(cost, now.reserve);
}

bool
may_pass(size_t rules)
{
    enum { PASSED = 8 };
    return may_look(rules / PASSED);
}

bool
looks_spent(void)
{
    return now.spent;
}
