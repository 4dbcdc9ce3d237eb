/* The table of the tiers and their runner. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/compact.h"
#include "engine/context.h"
#include "engine/context_kept.h"
#include "engine/event.h"
#include "engine/rebuild.h"
#include "model/catalog.h"

/* ---- measures ---- */

/* State as it is now. keep_dir is borrowed from c. */
struct tier_view
context_view(struct core *c, int64_t goal)
{
    struct tier_view v = {
        .messages = c->state.messages,
        .n = c->state.n,
        .pins = c->pins.list,
        .n_pins = c->pins.n,
        .bytes_per_token = context_bytes_per_token(c),
        .used = context_used(c),
        .window = context_window(c),
        .goal = goal,
        .keep_dir = c->paths.spill,
    };
    v.keep_from = tier_keep_from(&v);
    return v;
}

static int64_t
percent_of(const struct core *c, double percent)
{
    return (int64_t)((double)context_scale(c) * percent / 100);
}

/* From here on every little counts. */
static int64_t
full_from(const struct core *c)
{
    return (int64_t)((double)context_window(c) * CONTEXT_ERROR / 100);
}

double
context_tier_percent(const struct core *c, const struct context_tier *t)
{
    int64_t window = context_window(c);
    return window > 0 ? t->at * (double)context_scale(c) / (double)window : t->at;
}

static size_t
slot_of(struct context_kept *k, const char *name)
{
    size_t i = 0;
    while (i < CONTEXT_TIERS - 1 && k->tier[i].name && strcmp(k->tier[i].name, name) != 0)
        i++;
    k->tier[i].name = name;
    return i;
}

void
context_note_run(struct core *c, const char *tier, int64_t before, int64_t after)
{
    struct context_kept *k = context_kept(c);
    size_t i = slot_of(k, tier);
    k->tier[i].before = before;
    k->tier[i].after = after;
    context_drop_staged(k);
}

bool
context_tier_last(const struct core *c, const char *name, int64_t *ret_before, int64_t *ret_after)
{
    const struct context_kept *k = context_kept_if(c);
    for (size_t i = 0; k && i < CONTEXT_TIERS && k->tier[i].name; i++) {
        if (strcmp(k->tier[i].name, name) != 0 || !k->tier[i].before)
            continue;
        *ret_before = k->tier[i].before;
        *ret_after = k->tier[i].after;
        return true;
    }
    return false;
}

/* ---- telling ---- */

/* EV_COMPACT and the log, around a run. */
static void
tell_start(struct core *c, const char *tier, int64_t before)
{
    struct event *e = event_new(EV_COMPACT);
    e->phase = PHASE_START;
    e->u.compact.tier = tier;
    e->u.compact.before = before;
    core_emit(c, e);
}

/* "shortened from 15.6k to 2.1k tokens: 8 messages folded" */
static char *
line_of(const struct tier_result *r, bool failed)
{
    struct buf b;
    buf_init(&b, 4096);
    if (failed) {
        buf_adds(&b, "not shortened: ");
    } else {
        buf_adds(&b, "shortened from ");
        compact_count(&b, r->before);
        buf_adds(&b, " to ");
        compact_count(&b, r->after);
        buf_adds(&b, " tokens: ");
    }
    buf_adds(&b, r->edits[0].what ? r->edits[0].what : "older parts");
    if (r->n > 1)
        buf_addf(&b, ", and %zu more", r->n - 1);
    return buf_take(&b);
}

static void
tell_end(struct core *c, const char *tier, const struct tier_result *r, bool failed)
{
    struct event *e = event_new(EV_COMPACT);
    e->phase = PHASE_END;
    e->u.compact.tier = tier;
    e->u.compact.before = r->before;
    e->u.compact.after = failed ? r->before : r->after;
    e->u.compact.failed = failed;
    if (r->n)
        e->u.compact.text = line_of(r, failed);
    core_emit(c, e);
    log_info("context", "%s: %zu edits, %lld to %lld tokens%s", tier, r->n, (long long)r->before,
             (long long)r->after, failed ? ", not made" : "");
}

/* ---- one tier ---- */

/* Enough at once, so that the cache it voids is worth it. When it is nearly full, everything is. */
static bool
is_enough(const struct core *c, const struct tier_result *r)
{
    bool full = r->before >= full_from(c);
    return r->n && r->before - r->after >= percent_of(c, full ? 1 : CONTEXT_FREE_LEAST);
}

static bool
due(struct core *c, const char *name, int at)
{
    int64_t used = context_used(c), window = context_window(c);
    struct context_kept *k = context_kept(c);
    size_t i = slot_of(k, name);
    bool full = window > 0 && used >= percent_of(c, at);
    if (!full)
        k->tier[i].not_below = 0;
    return full && used >= k->tier[i].not_below;
}

/* It found too little: it is asked again when there is more, or when less is enough. */
static void
put_off(struct core *c, const char *name, int64_t used)
{
    struct context_kept *k = context_kept(c);
    int64_t full = full_from(c);
    int64_t next = used + percent_of(c, used < full ? CONTEXT_TRY_AGAIN : 1);
    k->tier[slot_of(k, name)].not_below = used < full && next > full ? full : next;
}

/* Makes r's edits, tells of them, and lets go of r. */
static bool
commit_and_tell(struct core *c, const struct tier_view *v, struct tier_result *r, const char *name)
{
    struct err err = {0};
    tell_start(c, name, r->before);
    bool ok = context_commit(c, v, r, name, &err);
    if (ok)
        context_note_run(c, name, r->before, r->after);
    else
        log_warn("context", "%s changed nothing: %s", name, err.text);
    tell_end(c, name, r, !ok);
    tier_result_release(r);
    return ok;
}

static void
run_tier(struct core *c, const char *name, tier_fn fn)
{
    core_need_messages(c);
    core_mend(c, " before it was shortened");
    const struct tier_view v = context_view(c, percent_of(c, CONTEXT_FREE_TO));
    struct tier_result r = {0};
    fn(&v, &r);
    if (is_enough(c, &r) && commit_and_tell(c, &v, &r, name))
        return;
    put_off(c, name, v.used);
    tier_result_release(&r);
}

/* ---- E0, the budget ---- */

static bool
budget_is_due(struct core *c)
{
    return c->state.budget_saved > 0;
}

/* The results were cut when they were put together; here the tier reports what that saved. */
static void
run_budget(struct core *c)
{
    int64_t saved = context_estimate(c, (size_t)c->state.budget_saved);
    struct tier_result r = {.after = context_used(c)};
    r.before = r.after + saved;
    c->state.budget_saved = 0;
    tell_start(c, "budget", r.before);
    context_note_run(c, "budget", r.before, r.after);
    tell_end(c, "budget", &r, false);
}

/* ---- E1 to E3 ---- */

static bool
snip_is_due(struct core *c)
{
    return due(c, "snip", CONTEXT_SNIP_AT);
}

static void
run_snip(struct core *c)
{
    run_tier(c, "snip", tier_snip);
}

/* Does this wire clear results itself, and its server not refuse to? */
static bool
clears_itself(const struct core *c)
{
    return !c->latches.refused[LATCH_CACHE_EDITING] &&
           catalog_beta(c->provider->name, latch_name(LATCH_CACHE_EDITING));
}

static bool
micro_is_due(struct core *c)
{
    if (clears_itself(c) && c->latches.set[LATCH_CACHE_EDITING])
        return false;
    return due(c, "micro", CONTEXT_MICRO_AT);
}

/* Tokens of thinking that the server would clear. It clears some with each turn from then on, which costs the cache of the turn before: done
 * where there is much of it. */
static int64_t
old_thinking(struct core *c)
{
    size_t bytes = 0, turns = 0;
    core_need_messages(c);
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        if (m->role != ROLE_ASSISTANT || !rebuild_has_thinking(m) || turns++ < TIER_MICRO_THINKING)
            continue;
        for (size_t k = 0; k < m->n_blocks; k++)
            bytes += rebuild_is_thinking(&m->blocks[k]) ? m->blocks[k].raw.len : 0;
    }
    return context_estimate(c, bytes);
}

static void
run_micro(struct core *c)
{
    if (!clears_itself(c)) {
        run_tier(c, "micro", tier_micro);
        return;
    }
    /* From now on the requests say so; here nothing changes. */
    latch_set(c, LATCH_CACHE_EDITING);
    if (old_thinking(c) >= percent_of(c, CONTEXT_FREE_LEAST))
        latch_set(c, LATCH_THINKING_CLEAR);
    log_info("context", "micro: the server clears old results from now on");
}

const char *
context_management(const struct core *c)
{
    struct context_kept *k = state_ext_get(&c->state, "context");
    if (!k || !clears_itself(c) || !c->latches.set[LATCH_CACHE_EDITING] || context_window(c) <= 0)
        return NULL;
    buf_clear(&k->management);
    tier_micro_api(percent_of(c, CONTEXT_MICRO_AT), percent_of(c, CONTEXT_FREE_LEAST),
                   c->latches.set[LATCH_THINKING_CLEAR] &&
                       !c->latches.refused[LATCH_THINKING_CLEAR],
                   &k->management);
    return buf_cstr(&k->management);
}

void
context_note_cleared(struct core *c, int64_t tool_uses, int64_t tokens)
{
    struct context_kept *k = context_kept(c);
    bool other = tokens > 0 && tokens != k->cleared_tokens;
    k->cleared_tokens = tokens;
    if (other)
        ledger_expect(&c->usage.ledger, "context edited: micro", false);
    if (tool_uses == k->cleared_uses || tokens <= 0)
        return; /* the same that it left out of the request before, and some thinking at most */
    k->cleared_uses = tool_uses;
    struct tier_result r = {.after = context_used(c)};
    r.before = r.after + tokens;
    context_note_run(c, "micro", r.before, r.after);
    tell_start(c, "micro", r.before);
    tell_end(c, "micro", &r, false);
}

/* Are the staged folds made for what stands there still? Messages that were appended change nothing. */
static bool
staged_fit(const struct core *c, const struct context_kept *k)
{
    const struct state *st = &c->state;
    return k->staged.n && k->staged_n && st->n >= k->staged_n &&
           st->messages[0] == k->staged_first && st->messages[k->staged_n - 1] == k->staged_last;
}

static void
stage_folds(struct core *c, int64_t goal)
{
    struct context_kept *k = context_kept(c);
    context_drop_staged(k);
    core_need_messages(c);
    core_mend(c, " before it was shortened");
    const struct tier_view v = context_view(c, goal);
    tier_collapse(&v, &k->staged);
    if (!k->staged.n)
        return;
    k->staged_n = v.n;
    k->staged_first = message_ref(v.messages[0]);
    k->staged_last = message_ref(v.messages[v.n - 1]);
}

/* Folds are found before they are due: a request that turns out too long has them at once. */
static void
stage_early(struct core *c)
{
    struct context_kept *k = context_kept(c);
    if (staged_fit(c, k) || !due(c, "stage", CONTEXT_MICRO_AT))
        return;
    stage_folds(c, percent_of(c, CONTEXT_FREE_TO));
    put_off(c, "stage", context_used(c));
}

static bool
collapse_is_due(struct core *c)
{
    return due(c, "collapse", CONTEXT_COLLAPSE_AT);
}

/* Commits what is staged. */
static bool
commit_staged(struct core *c)
{
    struct context_kept *k = context_kept(c);
    struct tier_result r = k->staged;
    k->staged = (struct tier_result){0};
    const struct tier_view v = context_view(c, 0);
    int64_t saved = r.before - r.after;
    r.before = v.used; /* what was appended since has grown it */
    r.after = v.used > saved ? v.used - saved : 0;
    return commit_and_tell(c, &v, &r, "collapse");
}

static void
run_collapse(struct core *c)
{
    struct context_kept *k = context_kept(c);
    int64_t used = context_used(c), goal = percent_of(c, CONTEXT_FREE_TO);
    if (!staged_fit(c, k))
        stage_folds(c, goal);
    if (!staged_fit(c, k) || !is_enough(c, &k->staged) || !commit_staged(c))
        put_off(c, "collapse", used);
}

bool
context_drain_folds(struct core *c)
{
    struct context_kept *k = context_kept(c);
    if (!staged_fit(c, k))
        stage_folds(c, 0); /* all there is */
    return staged_fit(c, k) && commit_staged(c);
}

/* ---- what is new and too large ---- */

static void
trim_new(struct core *c)
{
    int64_t window = context_window(c), room = window / 10 < 8000 ? window / 10 : 8000;
    int64_t goal = window - context_reserve(window) - room;
    if (window <= 0 || goal <= 0 || context_used(c) <= goal)
        return;
    core_need_messages(c);
    core_mend(c, " before it was shortened");
    const struct tier_view v = context_view(c, goal);
    struct tier_result r = {0};
    tier_trim(&v, c->state.n_sent ? c->state.n_sent : c->state.n_counted, &r);
    if (r.n)
        commit_and_tell(c, &v, &r, "trim");
    else
        tier_result_release(&r);
}

/* ---- the table ---- */

static const struct context_tier tiers[] = {
    {"E0", "budget", 0, budget_is_due, run_budget},
    {"E1", "snip", CONTEXT_SNIP_AT, snip_is_due, run_snip},
    {"E2", "micro", CONTEXT_MICRO_AT, micro_is_due, run_micro},
    {"E3", "collapse", CONTEXT_COLLAPSE_AT, collapse_is_due, run_collapse},
    {"E4", "auto", CONTEXT_AUTO_AT, NULL, NULL}, /* loop_context.c asks and runs it */
};

const struct context_tier *
context_tiers(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(tiers);
    return tiers;
}

void
context_run_tiers(struct core *c)
{
    for (size_t i = 0; i < ARRAY_LEN(tiers); i++)
        if (tiers[i].trigger && tiers[i].trigger(c))
            tiers[i].run(c);
    stage_early(c);
    trim_new(c);
}

/* ---- what would happen ---- */

static void
preview_one(const struct tier_view *v, const char *id, const char *name, tier_fn fn,
            struct buf *out)
{
    struct tier_result r = {0};
    fn(v, &r);
    buf_addf(out, "%s %s: ", id, name);
    if (!r.n)
        buf_adds(out, "nothing to drop\n");
    else
        buf_addf(out, "%zu edits, about %lld tokens (%lld to %lld)\n", r.n,
                 (long long)(r.before - r.after), (long long)r.before, (long long)r.after);
    for (size_t i = 0; i < r.n && i < 8; i++)
        buf_addf(out, "    %s: about %lld tokens\n", r.edits[i].what, (long long)r.edits[i].saved);
    if (r.n > 8)
        buf_addf(out, "    and %zu more\n", r.n - 8);
    tier_result_release(&r);
}

void
context_preview(struct core *c, struct buf *out)
{
    static const tier_fn fns[] = {NULL, tier_snip, tier_micro, tier_collapse, NULL};
    core_need_messages(c);
    core_mend(c, "");
    int64_t used = context_used(c), window = context_window(c);
    const struct tier_view v = context_view(c, percent_of(c, CONTEXT_FREE_TO));
    if (window <= 0) {
        buf_adds(out, "the model's window is not known, so no tier runs by itself\n");
        return;
    }
    size_t i = 1;
    while (fns[i + 1] && used >= percent_of(c, tiers[i].at))
        i++;
    buf_addf(out, "next, from %.0f%% of the window on (now %.0f%%):\n",
             context_tier_percent(c, &tiers[i]), (double)used * 100 / (double)window);
    if (fns[i] == tier_micro && clears_itself(c))
        buf_addf(out, "%s %s: the server clears old results\n", tiers[i].id, tiers[i].name);
    else
        preview_one(&v, tiers[i].id, tiers[i].name, fns[i], out);
}
