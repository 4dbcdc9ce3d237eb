#pragma once
/* Finding without case, in text and in the JSON that holds it. Private to store. */
#include <stdbool.h>

#include "base/buf.h"

/* Where `what` begins in s and how long it is there; SIZE_MAX: nowhere, also for an empty `what`. */
size_t find_fold(struct str s, struct str what, size_t *ret_len);

/* For many records: those that cannot hold `what` are told from their raw JSON, at a fraction of what parsing costs. */
struct finder {
    char run[64]; /* the longest run of `what` that JSON does not escape, in small letters */
    size_t n;     /* 0: every record may hold it */
    unsigned char skip[256];
};
void finder_init(struct finder *f, struct str what);
bool finder_may_hold(const struct finder *f, struct str json);

/* A line around place `at` of a text; yours. */
char *find_excerpt(struct str text, size_t at);
