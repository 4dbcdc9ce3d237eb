#pragma once
/* A set of borrowed strings, whose bytes must outlive it. Starts zeroed. No locking: one thread. */
#include <stdbool.h>

#include "base/buf.h"

struct str_set {
    struct str *slots; /* open addressing, at most half full */
    size_t n, cap;     /* cap: 0 or a power of two */
};
bool str_set_has(const struct str_set *set, struct str s);
/* True: it was not there. A str with ptr NULL is never in a set. */
bool str_set_add(struct str_set *set, struct str s);
void str_set_release(struct str_set *set);
