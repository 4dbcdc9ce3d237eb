#pragma once
/* Time. Everything that measures or stamps asks here, so that tests can put a clock of their own in its place.
 * Thread-safe; clock_set_fake is for tests, before threads start. */
#include <stdint.h>

#include "base/buf.h"

int64_t clock_mono_ms(void); /* monotonic milliseconds, for durations and timeouts */
int64_t clock_mono_us(void);
int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC */

/* "2026-11-30T05:29:06.123Z" */
void clock_iso8601(int64_t wall_ms, struct buf *out);

struct clock_fake {
    int64_t mono_us, wall_ms;
};
/* NULL: the real clock again; read at each call */
void clock_set_fake(const struct clock_fake *fake);
