/*
 * E1: results of low weight become markers. In this order, the oldest first in each, until the goal is reached:
 * what a later call made needless (the same lines read again, the same call made again), what is large, what is old. What a later
 * call made needless goes at once, whatever the goal: it costs nothing to know.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/tier_private.h"

#define RANGES 8 /* later reads of a file that are remembered */

enum weight { WEIGHT_KEEP, WEIGHT_NORMAL, WEIGHT_READ_AGAIN, WEIGHT_CHANGED, WEIGHT_CALLED_AGAIN };

static const char *const why[] = {
    [WEIGHT_NORMAL] = "it is old",
    [WEIGHT_READ_AGAIN] = "the same lines were read again later",
    [WEIGHT_CHANGED] = "the file was changed and read again later",
    [WEIGHT_CALLED_AGAIN] = "the same call was made again later",
};

/* ---- what came later, walking back: files and calls by their hash ---- */

struct later {
    uint64_t key; /* 0: free */
    bool read, changed;
    struct {
        int64_t first, last;
    } range[RANGES];
    size_t n_ranges;
};
struct laters {
    struct later
        *slots; /* open addressing, never more than half full: made for all calls at once */
    size_t cap;
};

static struct later *
later_of(struct laters *l, uint64_t key)
{
    key = key ? key : 1;
    size_t i = (size_t)(key ^ (key >> 31)) & (l->cap - 1);
    while (l->slots[i].key && l->slots[i].key != key)
        i = (i + 1) & (l->cap - 1);
    l->slots[i].key = key;
    return &l->slots[i];
}

static struct laters
laters_for(size_t n)
{
    struct laters l = {.cap = 64};
    while (l.cap < 2 * n)
        l.cap *= 2;
    l.slots = xcalloc(l.cap, sizeof *l.slots);
    return l;
}

static bool
covered(const struct later *f, const struct tier_call *c)
{
    for (size_t i = 0; i < f->n_ranges; i++)
        if (f->range[i].first <= c->first && f->range[i].last >= c->last)
            return true;
    return false;
}

static enum weight
weigh_read(struct later *f, const struct tier_call *c)
{
    if (c->failed)
        return WEIGHT_NORMAL;
    enum weight w = !f->read        ? WEIGHT_KEEP /* the newest read of a file stays */
                    : covered(f, c) ? WEIGHT_READ_AGAIN
                    : f->changed    ? WEIGHT_CHANGED
                                    : WEIGHT_NORMAL;
    f->read = true;
    if (f->n_ranges < RANGES) {
        f->range[f->n_ranges].first = c->first;
        f->range[f->n_ranges++].last = c->last;
    }
    return w;
}

/* The weight of each call, by what came after it. */
static enum weight *
weigh(const struct tier_calls *calls)
{
    enum weight *w = xcalloc(calls->n + 1, sizeof *w);
    struct laters files = laters_for(calls->n), again = laters_for(calls->n);
    for (size_t i = calls->n; i-- > 0;) {
        const struct tier_call *c = &calls->list[i];
        struct later *same = later_of(&again, c->digest);
        w[i] = same->read ? WEIGHT_CALLED_AGAIN : WEIGHT_NORMAL;
        same->read = true;
        struct later *f = c->path ? later_of(&files, str_hash(str_from(c->path))) : NULL;
        if (f && c->reads) {
            enum weight as_read = weigh_read(f, c);
            if (w[i] != WEIGHT_CALLED_AGAIN || as_read == WEIGHT_KEEP)
                w[i] = as_read;
        } else if (f && !c->failed) {
            f->changed = true;
        }
    }
    free(files.slots);
    free(again.slots);
    return w;
}

/* ---- the passes ---- */

enum pass { PASS_NEEDLESS, PASS_LARGE, PASS_OLD };

static bool
wanted(const struct tier_view *v, const struct tier_call *c, enum weight w, enum pass pass)
{
    bool large = (double)c->bytes / v->bytes_per_token > TIER_LARGE;
    switch (pass) {
    case PASS_NEEDLESS:
        return w > WEIGHT_NORMAL;
    case PASS_LARGE:
        return w == WEIGHT_NORMAL && large;
    case PASS_OLD:
        return w == WEIGHT_NORMAL && !large;
    }
    return false;
}

void
tier_snip(const struct tier_view *v, struct tier_result *ret)
{
    struct tier_calls calls = {0};
    struct tier_marks marks = {0};
    tier_calls_read(v, v->n, &calls); /* what came later counts wherever it stands */
    enum weight *w = weigh(&calls);
    int64_t used = v->used;
    for (int pass = PASS_NEEDLESS; pass <= PASS_OLD; pass++) {
        for (size_t i = 0; i < calls.n && calls.list[i].result_at < v->keep_from; i++) {
            const struct tier_call *c = &calls.list[i];
            if (pass != PASS_NEEDLESS && used <= v->goal)
                break;
            if (!c->use_at || !wanted(v, c, w[i], (enum pass)pass) || tier_is_kept_tool(c->name) ||
                tier_call_is_pinned(v, c))
                continue;
            used -= tier_mark_call(v, c, "snipped", why[w[i]], &marks, ret);
        }
    }
    tier_marks_to_edits(v, &marks, ret);
    free(w);
    tier_calls_release(&calls);
}
