#include "base/record.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/span.h"

#define MAX_SINKS 4
#define MAX_FIELDS 32

/* Registered before threads start, only read afterwards. */
static struct {
    record_sink_fn fn;
    void *user;
    bool sees_sensitive;
} sinks[MAX_SINKS];
static size_t n_sinks;

void
record_add_sink(record_sink_fn sink, void *user, bool sees_sensitive)
{
    if (n_sinks < MAX_SINKS) {
        sinks[n_sinks].fn = sink;
        sinks[n_sinks].user = user;
        sinks[n_sinks++].sees_sensitive = sees_sensitive;
    }
}

void
record_clear_sinks(void)
{
    n_sinks = 0;
}

void
record_event(const char *name, const char *session_id, const struct record_field *fields, size_t n)
{
    if (!n_sinks)
        return;
    struct record_field public_fields[MAX_FIELDS];
    size_t n_public = 0;
    for (size_t i = 0; i < n && n_public < MAX_FIELDS; i++)
        if (fields[i].cls == RECORD_PUBLIC)
            public_fields[n_public++] = fields[i];
    struct record all = {name, session_id, clock_wall_ms(), fields, n};
    struct record stripped = {name, session_id, all.wall_ms, public_fields, n_public};
    for (size_t i = 0; i < n_sinks; i++)
        sinks[i].fn(sinks[i].user, sinks[i].sees_sensitive ? &all : &stripped);
}

struct span {
    struct span_end_data d;
};
static span_sink_fn span_sink;
static void *span_user;

void
span_set_sink(span_sink_fn sink, void *user)
{
    span_user = user;
    span_sink = sink;
}

static uint64_t
random_id(void)
{
    uint64_t v = 0;
    while (v == 0)
        if (getrandom(&v, sizeof v, 0) < 0)
            v = (uint64_t)clock_mono_us() | 1;
    return v;
}

struct span *
span_start(const char *name, const struct span *parent)
{
    if (!span_sink)
        return NULL;
    struct span *s = xcalloc(1, sizeof *s);
    s->d.name = name;
    s->d.id = random_id();
    s->d.trace_hi = parent ? parent->d.trace_hi : random_id();
    s->d.trace_lo = parent ? parent->d.trace_lo : random_id();
    s->d.parent = parent ? parent->d.id : 0;
    s->d.start_us = clock_mono_us();
    return s;
}

void
span_end(struct span *s, const char *status)
{
    if (!s)
        return;
    s->d.end_us = clock_mono_us();
    s->d.status = status;
    if (span_sink)
        span_sink(span_user, &s->d);
    free(s);
}
