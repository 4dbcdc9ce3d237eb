#include "engine/fast.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/core.h"
#include "engine/failure.h"
#include "engine/permit.h"

/* Another speed is another prompt cache. So a short limit is waited for, and after a long one it stays away for a while. */
#define WAITED_FOR_MS 20000
#define RESTS_LEAST_MS (INT64_C(10) * 60 * 1000)
#define RESTS_MOST_MS (INT64_C(60) * 60 * 1000)

static bool
is_wanted(const struct core *c)
{
    if (c->fast.said != FAST_BY_SETTING)
        return c->fast.said == FAST_ON;
    return config_bool(permit_config(c->permit), "fastMode", !c->trusted, false);
}

/* NULL: it can be had; else why not. */
static const char *
why_not(const struct core *c)
{
    if (!catalog_beta(c->provider->name, latch_name(LATCH_FAST)))
        return "this provider has none";
    if (!c->info || c->info->fast <= 0)
        return "this model has none";
    return c->latches.refused[LATCH_FAST] || c->plain_requests ? "the server refused it" : NULL;
}

bool
fast_is_on(const struct core *c)
{
    return is_wanted(c) && !why_not(c) && clock_mono_ms() >= c->fast.rests_until;
}

bool
fast_rests(struct core *c, const struct failure *f, const struct err *err)
{
    int64_t ms = err->retry_after_ms;
    if ((f->kind != FAIL_RATE && f->kind != FAIL_OVERLOADED) || (ms > 0 && ms <= WAITED_FOR_MS))
        return false;
    ms = ms < RESTS_LEAST_MS ? RESTS_LEAST_MS : ms > RESTS_MOST_MS ? RESTS_MOST_MS : ms;
    c->fast.rests_until = clock_mono_ms() + ms;
    core_notice(c, "fast mode has reached its limit: at the usual speed for %lld min",
                (long long)(ms / 60000));
    return true;
}

/* Models of this provider that have it: "opus-5.5, opus-5". */
static void
add_models(const struct core *c, struct buf *out)
{
    size_t n = 0;
    const struct model_info *m;
    for (size_t i = 0; (m = catalog_at(i)) != NULL; i++)
        if (m->fast > 0 && m->provider && strcmp(m->provider, c->provider->name) == 0)
            buf_addf(out, "%s%s", n++ ? ", " : " Models that have it: ", m->shown);
}

static void
say(struct core *c)
{
    struct buf b;
    const char *why = why_not(c);
    buf_init(&b, 4096);
    if (!is_wanted(c))
        buf_adds(&b, "fast mode is off");
    else if (why)
        buf_addf(&b, "fast mode cannot be had: %s.", why);
    else
        buf_addf(&b,
                 "fast mode is on: %s answers faster, for %g times the price. Another speed is "
                 "another prompt cache, so the next request is paid for in full",
                 c->model, c->info->fast);
    if (why && is_wanted(c))
        add_models(c, &b);
    if (why && is_wanted(c))
        core_refuse(c, "%s", buf_cstr(&b));
    else
        core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
}

void
fast_command(struct core *c, struct str arg)
{
    bool on = str_is(arg, "on") || (!arg.len && !is_wanted(c));
    if (arg.len && !on && !str_is(arg, "off")) {
        core_refuse(c, "/fast takes on or off, not '%.*s'", (int)(arg.len < 40 ? arg.len : 40),
                    arg.ptr);
        return;
    }
    c->fast.said = on ? FAST_ON : FAST_OFF;
    c->fast.rests_until = 0;
    say(c);
    if (on && why_not(c))
        c->fast.said = FAST_OFF;
    log_info("fast", "%s", fast_is_on(c) ? "on" : "off");
    core_emit_session(c, false);
}
