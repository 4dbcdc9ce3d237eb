#include "engine/count.h"

#include "base/log.h"
#include "engine/core.h"
#include "engine/loop_private.h"

#define WAIT_MS 1500
#define NEAR_PERCENT 3

bool
context_is_near(int64_t used, int64_t limit)
{
    int64_t apart = used > limit ? used - limit : limit - used;
    return limit > 0 && apart * 100 <= limit * NEAR_PERCENT;
}

bool
context_count(struct core *c, int64_t *ret_tokens)
{
    struct state *st = &c->state;
    int64_t turn = c->passport.turns + st->turn, tokens = 0;
    struct err err = {0};
    struct round r = {0};
    /* what is new is estimated, all else was counted */
    if (!c->provider->count || !c->loaded || st->n_counted >= st->n || c->counted_turn == turn + 1)
        return false;
    c->counted_turn = turn + 1;
    /* a server counts what it would take, and what it would be sent */
    core_mend(c, " before it was counted");
    loop_fill_request(c, &r);
    if (!outgoing_prepare(&c->outgoing, c, &r.req, &err) ||
        !c->provider->count(c->provider->self, &r.req, WAIT_MS, &tokens, &err)) {
        log_info("context", "%s; the estimate stands", err.text);
        return false;
    }
    log_info("context", "the server counts %lld tokens", (long long)tokens);
    st->context_tokens = tokens;
    st->n_counted = st->n;
    *ret_tokens = tokens;
    return true;
}
