#include "engine/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/attach.h"
#include "engine/compact_private.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/permit.h"
#include "engine/retry.h"

#define AT_MOST 95
#define POOR_PERCENT 20 /* a run that frees less than this is poor */
#define WINDOW_UNKNOWN 100000

/* ---- figures ---- */

size_t
compact_room(const struct core *c, int percent, int64_t cap)
{
    int64_t window = context_window(c);
    int64_t tokens = (window > 0 ? window : WINDOW_UNKNOWN) / 100 * percent;
    return (size_t)((double)(tokens < cap ? tokens : cap) * context_bytes_per_token(c));
}

static bool
is_on(const struct core *c)
{
    return config_bool(permit_config(c->permit), "autoCompactEnabled", !c->trusted, true);
}

int64_t
compact_limit(const struct core *c)
{
    const struct config *config = permit_config(c->permit);
    int64_t window = context_window(c);
    int64_t tokens = config_int(config, "autoCompactWindow", !c->trusted, 0);
    int64_t percent = config_int(config, "compact.at", !c->trusted, CONTEXT_AUTO_AT);
    if (!is_on(c))
        return 0;
    if (window <= 0)
        return tokens > 0 ? tokens : 0;
    if (tokens > 0)
        return tokens < window / 100 * AT_MOST ? tokens : window / 100 * AT_MOST;
    return (int64_t)((double)window * (double)percent / 100);
}

bool
compact_breaker_open(const struct engine *e, const char **ret_why)
{
    const struct state *st = &e->core.state;
    const char *why =
        st->compact.poor >= COMPACT_POOR_MAX ? "the last two freed less than a fifth"
        : st->compact.failures >= COMPACT_FAILURES_MAX
            ? "it failed three times in a row (when it is full, extracts stand in for "
              "the model's summary)"
            : NULL;
    if (ret_why)
        *ret_why = why;
    return why != NULL;
}

bool
compact_is_due(const struct engine *e)
{
    const struct core *c = &e->core;
    int64_t limit = compact_limit(c), used = context_used(c);
    bool full = context_is_blocking(used, context_window(c));
    if (limit <= 0 || c->state.compact.poor >= COMPACT_POOR_MAX ||
        (c->state.compact.last_compact_turn && c->state.compact.last_compact_turn == c->state.turn))
        return false;
    return full || (used >= limit && !compact_breaker_open(e, NULL));
}

/* ---- what is said of it ---- */

static const char *const tier_names[] = {
    [COMPACT_AUTO] = "auto", [COMPACT_PERSON] = "person", [COMPACT_REACTIVE] = "reactive"};

static void
emit(struct core *c, enum event_phase phase, enum compact_why why, const struct compact_report *r,
     char *take_text)
{
    struct event *ev = event_new(EV_COMPACT);
    ev->phase = phase;
    ev->u.compact.tier = tier_names[why];
    ev->u.compact.before = r->before;
    ev->u.compact.after = phase == PHASE_END ? r->after : 0;
    ev->u.compact.failed = phase == PHASE_END && !r->done;
    ev->u.compact.text = take_text;
    ev->u.compact.answer = why == COMPACT_PERSON && phase == PHASE_END && (r->done || r->nothing) &&
                           core_answer(c, str_from(take_text));
    core_emit(c, ev);
}

static char *
line_of(const struct compact_report *r, enum compact_why why)
{
    struct buf b;
    buf_init(&b, 4096);
    if (!r->done) {
        buf_addf(&b, "the conversation was not compacted: %s; it stays as it is", r->err.text);
        return buf_take(&b);
    }
    buf_adds(&b, "compacted ");
    compact_count(&b, r->before);
    buf_adds(&b, " to ");
    compact_count(&b, r->after);
    buf_adds(&b, " tokens");
    if (r->local)
        buf_addf(&b, ", by extracts of what was said, without the model: %s",
                 r->err.text[0] ? r->err.text : "this provider is no language model");
    if (r->cut)
        buf_adds(&b, "; the model's summary was cut off at its limit of length, twice: what it had "
                     "not come to are extracts of what was said");
    if (why == COMPACT_REACTIVE)
        buf_adds(&b, "; the server found the conversation too long");
    return buf_take(&b);
}

static char *
members_of(const struct compact_report *r, enum compact_why why)
{
    struct buf b;
    struct jw w;
    buf_init(&b, 4096);
    jw_init(&w, &b);
    jw_object(&w);
    jw_key(&w, "compactMetadata");
    jw_object(&w);
    jw_kcstr(&w, "trigger", why == COMPACT_PERSON ? "manual" : tier_names[why]);
    jw_kint(&w, "preTokens", r->before);
    jw_kint(&w, "postTokens", r->after);
    jw_kbool(&w, "extracts", r->local);
    jw_end(&w);
    jw_end(&w);
    return buf_take(&b);
}

int64_t
compact_must_stay(const struct core *c)
{
    size_t bytes = prompt_bytes(&c->prompt) + c->prompt.memory.len;
    for (size_t i = 0; i < c->pins.n; i++)
        bytes += c->pins.list[i].fact ? strlen(c->pins.list[i].fact) : 0;
    return context_estimate(c, bytes);
}

void
compact_say_sizes(const struct core *c, struct buf *out)
{
    size_t messages = 0, largest = 0;
    for (size_t i = 0; i < c->state.n; i++) {
        size_t n = c->state.messages[i]->json.len;
        messages += n;
        largest = n > largest ? n : largest;
    }
    /* the memory stands in the first message */
    size_t memory = c->prompt.memory.len < messages ? c->prompt.memory.len : messages;
    buf_adds(out, "system and tools ");
    compact_count(out, context_estimate(c, prompt_bytes(&c->prompt)));
    buf_adds(out, ", instruction files ");
    compact_count(out, context_estimate(c, memory));
    buf_addf(out, ", %zu message%s ", c->state.n, c->state.n == 1 ? "" : "s");
    compact_count(out, context_estimate(c, messages - memory));
    buf_adds(out, " (the largest ");
    compact_count(out, context_estimate(c, largest));
    buf_adds(out, ") of ");
    compact_count(out, context_window(c));
    buf_adds(out, " tokens");
}

/* ---- the run ---- */

/* A summary by the model, unless it has failed often enough. */
static bool
ask(struct engine *e, enum compact_why why, const char *keep, struct cancel *turn,
    struct summary *s, struct compact_report *ret)
{
    if (why != COMPACT_PERSON && e->core.state.compact.failures >= COMPACT_FAILURES_MAX)
        return err_set(&ret->err, ERR_LIMIT, "its summaries failed three times in a row");
    return compact_ask(e, keep, turn, s, &ret->cut, &ret->err);
}

/* Where no summary is to be had and the conversation cannot stay, extracts. */
static bool
summarise(struct engine *e, enum compact_why why, const char *keep, struct cancel *turn,
          struct summary *s, struct compact_report *ret)
{
    struct core *c = &e->core;
    bool model = strcmp(c->provider->name, "offline") != 0;
    if (model && ask(e, why, keep, turn, s, ret))
        return true;
    bool stuck = why == COMPACT_REACTIVE || retry_is_too_long(&ret->err) ||
                 context_is_blocking(ret->before, context_window(c));
    if (cancel_fired(turn) != CANCEL_NONE || (model && !stuck))
        return false;
    summary_release(s);
    summary_init(s);
    compact_local(c, s);
    ret->local = true;
    return true;
}

/* In the place of the conversation, with the prompt as it is now. */
static bool
replace(struct engine *e, enum compact_why why, const struct summary *s, struct compact_report *ret)
{
    struct core *c = &e->core;
    struct prompt fresh;
    int64_t window = context_window(c), goal = compact_limit(c);
    prompt_init(&fresh);
    prompt_build(&fresh, c);
    /* half of the limit leaves room to work in; what must stay may need more */
    goal = (goal > 0 ? goal : window) / 2;
    if (goal <= 0 || (why == COMPACT_REACTIVE && ret->before / 2 < goal))
        goal = ret->before / 2;
    const struct compact_want want = {
        .before = ret->before, .goal = goal, .going = why != COMPACT_PERSON, .local = ret->local};
    struct message *m = compact_build(c, &fresh, s, &want);
    if (!m) {
        prompt_release(&fresh);
        return err_set(&ret->err, ERR_LIMIT, "what must stay is larger than a message may be");
    }
    if (m->json.len >= c->state.bytes) {
        message_free(m);
        prompt_release(&fresh);
        ret->nothing = true;
        return err_set(&ret->err, ERR_LIMIT, "it would not get shorter");
    }
    ret->after = context_estimate(c, m->json.len + prompt_bytes(&fresh));
    char *members = members_of(ret, why);
    message_ref(m);
    bool ok = core_compact(c, m, str_from(members), &ret->err);
    free(members);
    if (ok) {
        prompt_release(&c->prompt);
        c->prompt = fresh;
        latches_clear(c);
        attach_reset(c);
        pins_told(c);
        c->told_mode = PERM_DEFAULT; /* the model is told again */
        core_emit_message(c, m, NULL);
        char *shown = str_dup(compact_shown(m));
        core_emit_user(c, m, shown, false);
        free(shown);
    } else {
        prompt_release(&fresh);
    }
    message_free(m);
    return ok;
}

/* Between turns an answer stands behind it, so that the next prompt is a message of its own. */
static bool
settle(struct core *c, enum compact_why why, struct err *err)
{
    if (why != COMPACT_PERSON)
        return core_sync(c, err);
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_text(b, STR("I have read this and go on from it."));
    struct message *m = message_build(b);
    if (m)
        m->hidden = true;
    return core_append(c, m, err) && core_sync(c, err);
}

/* Extracts that stood in for a model's summary are no success of the model's. Once the breaker is open, the next full context asks it
 * once more before it gets extracts. */
static void
note_failures(struct state *st, const struct compact_report *r)
{
    bool asked = st->compact.failures < COMPACT_FAILURES_MAX;
    if (!r->local || r->err.code == ERR_NONE)
        st->compact.failures = 0;
    else
        st->compact.failures = asked ? st->compact.failures + 1 : COMPACT_FAILURES_MAX - 1;
}

static void
note_run(struct core *c, enum compact_why why, const struct compact_report *r)
{
    struct state *st = &c->state;
    if (why == COMPACT_PERSON) {
        if (r->done)
            st->compact.failures = st->compact.poor = 0;
        return;
    }
    st->compact.last_compact_turn = st->turn;
    if (!r->done) {
        st->compact.failures += r->err.code != ERR_CANCELLED;
        return;
    }
    note_failures(st, r);
    bool poor = r->after > r->before / 100 * (100 - POOR_PERCENT);
    st->compact.poor = poor ? st->compact.poor + 1 : 0;
}

/* The person's one message alone cannot get shorter; what a compaction left can, once the server says that it must. */
static bool
has_something(const struct core *c, enum compact_why why)
{
    for (size_t i = 0; i < c->state.n; i++) {
        const struct message *m = c->state.messages[i];
        if (m->role == ROLE_ASSISTANT && !m->hidden)
            return true;
        if (why == COMPACT_REACTIVE && compact_old_summary(m).len)
            return true;
    }
    return false;
}

void
compact_run(struct engine *e, enum compact_why why, const char *keep, struct cancel *turn,
            struct compact_report *ret)
{
    struct core *c = &e->core;
    struct summary s;
    struct err err = {0};
    core_need_messages(c);
    *ret = (struct compact_report){.before = context_used(c)};
    ret->after = ret->before;
    emit(c, PHASE_START, why, ret, NULL);
    summary_init(&s);
    int64_t began = clock_mono_ms();
    ret->nothing = !has_something(c, why);
    if (ret->nothing)
        err_set(&ret->err, ERR_INVALID, "there is nothing that could get shorter");
    else if (summarise(e, why, keep, turn, &s, ret)) {
        /* never more than half of what it replaces */
        size_t room = compact_room(c, COMPACT_SUMMARY_PERCENT, COMPACT_SUMMARY_TOKENS);
        summary_bound(&s, room < c->state.bytes / 2 ? room : c->state.bytes / 2);
        ret->done = replace(e, why, &s, ret);
        if (ret->done && !settle(c, why, &err))
            core_error(c, &err, NULL);
    }
    summary_release(&s);
    if (cancel_fired(turn) != CANCEL_NONE && !ret->done)
        err_set(&ret->err, ERR_CANCELLED, "it was interrupted");
    note_run(c, why, ret);
    log_info("compact", "%s: %lld to %lld tokens in %lld ms%s%s", tier_names[why],
             (long long)ret->before, (long long)ret->after, (long long)(clock_mono_ms() - began),
             ret->done ? "" : ", failed: ", ret->done ? "" : ret->err.text);
    emit(c, PHASE_END, why, ret, line_of(ret, why));
    if (ret->done) {
        ledger_expect(&c->usage.ledger,
                      why == COMPACT_PERSON ? "/compact" : "the conversation was compacted", true);
        context_note_run(c, tier_names[why], ret->before, ret->after);
    }
    context_emit(c);
}
