#pragma once
/* Looking into a record without parsing it: its top-level members, in the order they stand, until those asked for are
 * found. Any bytes are safe; what is no JSON object has no members. Private to store. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct journal_want {
    const char *key;
    struct str raw; /* the value's bytes; ptr NULL when it is not there */
};
/* Fills `raw` of each. False when the line does not begin like an object. */
bool journal_scan(struct str line, struct journal_want *want, size_t n);
/* The same, but only as far as the member `stop`: what comes from there on is not looked at. */
bool journal_scan_head(struct str line, struct journal_want *want, size_t n, const char *stop);
size_t journal_scan_count(struct str line); /* how many members the object has */

/* A raw JSON string that needs no unescaping (ids, types, times), without its quotes; else ptr NULL. */
struct str journal_plain(struct str raw);
/* Any raw JSON string decoded; yours, NULL when raw is none. */
char *journal_decode(struct str raw);
/* "2026-11-30T05:29:06.123Z", quotes around it or not; 0 when it is no time. */
int64_t journal_time(struct str raw);
