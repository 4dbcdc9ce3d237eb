#include "engine/context.h"

#include <string.h>

#include "base/log.h"
#include "engine/core.h"

#define BYTES_PER_TOKEN 4.0
/* Below this much room a request cannot get a useful answer. */
#define RESERVE 3000

static int64_t
estimate(const struct state *st, size_t bytes)
{
    double ratio = st->bytes_per_token > 0 ? st->bytes_per_token : BYTES_PER_TOKEN;
    return (int64_t)((double)bytes / ratio);
}

static size_t
bytes_from(const struct state *st, size_t from)
{
    size_t n = 0;
    for (size_t i = from; i < st->n; i++)
        n += st->messages[i]->json.len;
    return n;
}

#define READ_AFTER 16

/* Of a conversation that is not in State: what came after the count. Few messages are looked at themselves; records hold more than
 * the model gets. */
static size_t
bytes_after_count(const struct core *c)
{
    size_t to = conversation_len(c->conv), from = conversation_live(c->conv) + c->state.n_counted;
    if (from >= to)
        return 0;
    if (to - from > READ_AFTER)
        return (size_t)conversation_bytes(c->conv, from, to);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        struct message *m = conversation_message(c->conv, i);
        n += m ? m->json.len : 0;
        message_free(m);
    }
    return n;
}

int64_t
context_used(const struct core *c)
{
    const struct state *st = &c->state;
    if (st->context_tokens > 0 && !c->loaded)
        return st->context_tokens + estimate(st, bytes_after_count(c));
    if (st->context_tokens > 0)
        return st->context_tokens + estimate(st, bytes_from(st, st->n_counted));
    size_t n = c->loaded ? bytes_from(st, 0)
                         : (size_t)conversation_bytes(c->conv, conversation_live(c->conv),
                                                      conversation_len(c->conv));
    return estimate(st, n + prompt_bytes(&c->prompt));
}

int64_t
context_window(const struct core *c)
{
    return c->window_limit > 0 && (c->window <= 0 || c->window_limit < c->window) ? c->window_limit
                                                                                  : c->window;
}

bool
context_is_blocking(int64_t used, int64_t window)
{
    return window > 0 && used >= window - RESERVE;
}

const char *
context_state_name(int64_t used, int64_t window)
{
    if (context_is_blocking(used, window))
        return "blocking";
    if (window > 0 && used >= window / 10 * 9)
        return "error";
    if (window > 0 && used >= window / 4 * 3)
        return "warn";
    return "ok";
}

void
context_emit(struct core *c)
{
    struct event *e = event_new(EV_CONTEXT);
    e->u.context.used = context_used(c);
    e->u.context.window = context_window(c);
    e->u.context.state = context_state_name(e->u.context.used, e->u.context.window);
    core_emit(c, e);
}

void
context_calibrate(struct core *c, int64_t tokens_in, int64_t tokens_out)
{
    struct state *st = &c->state;
    if (tokens_in <= 0)
        return;
    size_t sent = prompt_bytes(&c->prompt);
    for (size_t i = 0; i < st->n_sent && i < st->n; i++)
        sent += st->messages[i]->json.len;
    double ratio = (double)sent / (double)tokens_in;
    /* Images and the like would throw it off: only a plausible ratio counts. */
    if (ratio >= 1.5 && ratio <= 8)
        st->bytes_per_token = ratio;
    st->context_tokens = tokens_in + tokens_out;
    st->n_counted = st->n;
}

/* ---- the budget of results ---- */

int64_t
context_result_cap(const size_t *lens, size_t n)
{
    int64_t cap = CONTEXT_RESULT_MAX;
    for (;;) {
        int64_t sum = 0, large = 0;
        for (size_t i = 0; i < n; i++) {
            bool is_large = (int64_t)lens[i] > cap;
            large += is_large;
            sum += is_large ? cap : (int64_t)lens[i];
        }
        if (sum <= CONTEXT_MESSAGE_MAX || cap <= 1000)
            return cap;
        if (!large) { /* many small ones: share what there is */
            cap = cap / 2;
            continue;
        }
        int64_t over = sum - CONTEXT_MESSAGE_MAX;
        int64_t less = over / large + 1;
        cap = cap - less > 1000 ? cap - less : 1000;
    }
}

static bool
budget_did_something(struct core *c)
{
    return c->state.budget_saved > 0;
}

/* The results were cut when they were put together; here the tier reports what that saved. */
static void
report_budget(struct core *c)
{
    c->state.budget_saved = 0;
}

/* ---- the table ---- */

static const struct context_tier tiers[] = {
    {"E0", "budget", "none", "tool results over 50,000 characters, 200,000 a message, go to disk",
     budget_did_something, report_budget},
    {"E1", "snip", "none", "low-weight old material is left out, with markers", NULL, NULL},
    {"E2", "micro", "none", "the API clears old tool results", NULL, NULL},
    {"E3", "collapse", "CPU", "old spans are folded into extracts", NULL, NULL},
    {"E4", "auto", "a model call", "a summary written by the model", NULL, NULL},
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
    for (size_t i = 0; i < ARRAY_LEN(tiers); i++) {
        const struct context_tier *t = &tiers[i];
        if (!t->trigger || !t->trigger(c))
            continue;
        int64_t saved = estimate(&c->state, (size_t)c->state.budget_saved);
        int64_t before = context_used(c) + (i == 0 ? saved : 0);
        t->run(c);
        log_info("context", "%s %s: %lld to %lld tokens", t->id, t->name, (long long)before,
                 (long long)context_used(c));
    }
}
