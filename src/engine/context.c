#include "engine/context.h"

#include "engine/compact.h"
#include "engine/context_kept.h"
#include "engine/core.h"

#define BYTES_PER_TOKEN 4.0

double
context_bytes_per_token(const struct core *c)
{
    return c->state.bytes_per_token > 0 ? c->state.bytes_per_token : BYTES_PER_TOKEN;
}

int64_t
context_estimate(const struct core *c, size_t bytes)
{
    return (int64_t)((double)bytes / context_bytes_per_token(c));
}

static size_t
bytes_from(const struct state *st, size_t from)
{
    size_t n = 0;
    for (size_t i = from; i < st->n; i++)
        n += tier_weight(st->messages[i]);
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
        n += m ? tier_weight(m) : 0;
        message_free(m);
    }
    return n;
}

int64_t
context_used(const struct core *c)
{
    const struct state *st = &c->state;
    if (st->context_tokens > 0 && !c->loaded)
        return st->context_tokens + context_estimate(c, bytes_after_count(c));
    if (st->context_tokens > 0)
        return st->context_tokens + context_estimate(c, bytes_from(st, st->n_counted));
    size_t n = c->loaded ? st->bytes
                         : (size_t)conversation_bytes(c->conv, conversation_live(c->conv),
                                                      conversation_len(c->conv));
    return context_estimate(c, n + prompt_bytes(&c->prompt));
}

int64_t
context_window(const struct core *c)
{
    return c->window.limit > 0 && (c->window.tokens <= 0 || c->window.limit < c->window.tokens)
               ? c->window.limit
               : c->window.tokens;
}

int64_t
context_scale(const struct core *c)
{
    int64_t window = context_window(c), limit = window > 0 ? compact_limit(c) : 0;
    return limit > 0 ? (int64_t)((double)limit * 100 / CONTEXT_AUTO_AT) : window;
}

int64_t
context_reserve(int64_t window)
{
    return window / 16 < CONTEXT_RESERVE ? window / 16 : CONTEXT_RESERVE;
}

bool
context_is_blocking(int64_t used, int64_t window)
{
    return window > 0 && used >= window - context_reserve(window);
}

const char *
context_state_name(int64_t used, int64_t window)
{
    if (context_is_blocking(used, window))
        return "blocking";
    if (window > 0 && used * 100 >= window * CONTEXT_ERROR)
        return "error";
    if (window > 0 && used * 100 >= window * CONTEXT_WARN)
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

static bool
set_ratio(struct core *c, double ratio)
{
    bool plausible = ratio >= 1.5 && ratio <= 8;
    if (plausible)
        c->state.bytes_per_token = ratio;
    return plausible;
}

bool
context_take_count(struct core *c, int64_t tokens)
{
    return tokens > 0 &&
           set_ratio(c, (double)(prompt_bytes(&c->prompt) + c->state.bytes) / (double)tokens);
}

void
context_calibrate(struct core *c, int64_t tokens_in, int64_t tokens_out)
{
    struct state *st = &c->state;
    if (tokens_in <= 0)
        return;
    const struct context_kept *k = context_kept_if(c);
    size_t sent = prompt_bytes(&c->prompt) + st->bytes - bytes_from(st, st->n_sent);
    /* what the server cleared was sent, but not counted */
    double ratio = (double)sent / (double)(tokens_in + (k ? k->cleared_tokens : 0));
    (void)set_ratio(c, ratio); /* images and the like would throw it off */
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
