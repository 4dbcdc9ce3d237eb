#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic(const struct clock_fake *) fake_clock;

void
clock_set_fake(const struct clock_fake *fake)
{
    atomic_store(&fake_clock, fake);
}

int64_t
clock_mono_us(void)
{
    const struct clock_fake *fake = atomic_load(&fake_clock);
    if (fake)
        return fake->mono_us;
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

int64_t
clock_wall_ms(void)
{
    const struct clock_fake *fake = atomic_load(&fake_clock);
    if (fake)
        return fake->wall_ms;
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
clock_iso8601(int64_t wall_ms, struct buf *out)
{
    time_t sec = (time_t)(wall_ms / 1000);
    struct tm tm;
    gmtime_r(&sec, &tm);
    buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(wall_ms % 1000));
}
