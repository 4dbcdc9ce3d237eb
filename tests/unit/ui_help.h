#pragma once
/* Events from one JSON line, and what a canvas shows, for the tests of panes. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ui/view.h"

static inline void
apply(struct view *v, const char *json)
{
    struct err err;
    struct event *e = event_read(str_from(json), &err);
    if (!e)
        fail_msg("%s: %s", json, err.text);
    view_apply(v, e);
}

static inline void __attribute__((format(printf, 2, 3)))
applyf(struct view *v, const char *fmt, ...)
{
    struct buf b;
    va_list ap;
    buf_init(&b, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    apply(v, buf_cstr(&b));
    buf_release(&b);
}

/* A text block that is there at once. */
static inline void
say(struct view *v, const char *text)
{
    struct event *e = event_new(EV_BLOCK);
    e->phase = PHASE_DELTA;
    e->u.block.text = xstrdup(text);
    view_apply(v, e);
    e = event_new(EV_BLOCK);
    e->phase = PHASE_END;
    view_apply(v, e);
}

static inline char *
dumped(const struct canvas *c)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    canvas_dump(c, &b);
    return buf_take(&b);
}

static inline void
assert_shows(const struct canvas *c, const char *text)
{
    char *all = dumped(c);
    if (!strstr(all, text))
        fail_msg("'%s' is not on the screen:\n%s", text, all);
    free(all);
}

static inline void
assert_hides(const struct canvas *c, const char *text)
{
    char *all = dumped(c);
    if (strstr(all, text))
        fail_msg("'%s' is on the screen:\n%s", text, all);
    free(all);
}
