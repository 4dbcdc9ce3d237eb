#include "engine/repeat.h"

#include <string.h>

#define SAME_ROW "the same call again and again"
#define SAME_FAILURE "a call that fails each time, with nothing changed in between"
#define NO_NEWS "calls that were all made before, with the same answers"

void
repeat_reset(struct repeat *r)
{
    memset(r, 0, sizeof *r);
}

void
repeat_note(struct repeat *r, const struct repeat_call *call)
{
    r->calls[r->n++ % REPEAT_WINDOW] = *call;
}

static size_t
kept(const struct repeat *r)
{
    return r->n < REPEAT_WINDOW ? (size_t)r->n : REPEAT_WINDOW;
}

/* The i-th newest, from 0. */
static const struct repeat_call *
at(const struct repeat *r, size_t i)
{
    return &r->calls[(r->n - 1 - i) % REPEAT_WINDOW];
}

static bool
is_twin(const struct repeat_call *a, const struct repeat_call *b)
{
    return a->what == b->what && a->answer == b->answer;
}

/* Was the i-th newest made before and answered so? */
static bool
is_old_news(const struct repeat *r, size_t i)
{
    for (size_t k = i + 1; k < kept(r); k++)
        if (is_twin(at(r, i), at(r, k)))
            return true;
    return false;
}

/* How many of the newest calls are the very same call, with no news in the answers. */
static size_t
in_a_row(const struct repeat *r)
{
    size_t n = 0;
    const struct repeat_call *last = at(r, 0);
    while (n < kept(r) && at(r, n)->what == last->what && !at(r, n)->polls &&
           (at(r, n)->answer == last->answer || (at(r, n)->failed && last->failed)))
        n++;
    return n;
}

/* How often the newest call failed since anything changed: a call that did something new may well be followed by the same try. */
static size_t
failures(const struct repeat *r, size_t *ret_span)
{
    size_t n = 0;
    const struct repeat_call *last = at(r, 0);
    *ret_span = 0;
    for (size_t i = 0; last->failed && i < kept(r); i++) {
        const struct repeat_call *c = at(r, i);
        if (!c->failed && !c->read_only && !is_old_news(r, i))
            break;
        if (c->what != last->what || !c->failed)
            continue;
        n++;
        *ret_span = i + 1;
        if (n == REPEAT_ROW)
            break;
    }
    return n;
}

static size_t
without_news(const struct repeat *r)
{
    size_t n = 0;
    while (n < kept(r) && is_old_news(r, n))
        n++;
    return n;
}

const char *
repeat_seen(const struct repeat *r, size_t *ret_calls)
{
    size_t span;
    if (!r->n)
        return NULL;
    if (in_a_row(r) >= REPEAT_ROW) {
        *ret_calls = in_a_row(r);
        return SAME_ROW;
    }
    if (failures(r, &span) >= REPEAT_ROW) {
        *ret_calls = span;
        return SAME_FAILURE;
    }
    *ret_calls = without_news(r);
    return *ret_calls >= REPEAT_STILL ? NO_NEWS : NULL;
}
