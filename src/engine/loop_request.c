/* The request step: a legal history, the frozen prompt, the cache breakpoints. */
#include <string.h>

#include "engine/context.h"
#include "engine/loop_private.h"

#define DEFAULT_MAX_TOKENS 32000
#define UNKNOWN_MAX_TOKENS 8192
#define LEAST_TOKENS 512

int
loop_wanted_tokens(const struct core *c)
{
    if (c->state.max_output_override > 0)
        return c->state.max_output_override;
    if (c->given.max_tokens > 0)
        return c->given.max_tokens;
    if (!c->info || c->info->max_output <= 0)
        return UNKNOWN_MAX_TOKENS;
    return c->info->max_output < DEFAULT_MAX_TOKENS ? (int)c->info->max_output : DEFAULT_MAX_TOKENS;
}

/* A server that is started with a size refuses (vLLM) or cuts (Ollama) a request whose prompt and answer do not fit together. */
int
loop_max_tokens(const struct core *c)
{
    int wanted = loop_wanted_tokens(c);
    int64_t window = context_window(c), left = window - context_used(c);
    if (!c->provider->server || window <= 0 || left >= wanted)
        return wanted;
    return left > LEAST_TOKENS ? (int)left : LEAST_TOKENS;
}

/* The server finds what it has cached only at a breakpoint or up to twenty blocks before it. A turn may add more than that, so one
 * stands where the last answered request ended; when that was rewritten, behind the last message that still is as it was sent,
 * within reach of the ends of earlier requests. */
static void
set_message_breaks(const struct state *st, struct model_request *req)
{
    size_t at = st->n_same < st->n ? st->n_same : st->n;
    req->message_break[0] = req->message_break[1] = SIZE_MAX;
    if (st->n)
        req->message_break[1] = st->n - 1;
    if (at && at < st->n)
        req->message_break[0] = at - 1;
}

static void
set_betas(const struct core *c, struct round *r)
{
    struct buf b;
    buf_init(&b, sizeof r->betas - 1);
    latches_betas(c, &b);
    memcpy(r->betas, buf_cstr(&b), b.len + 1);
    r->req.betas = b.len ? r->betas : NULL;
    buf_release(&b);
}

void
loop_fill_request(const struct core *c, struct round *r)
{
    r->req = (struct model_request){
        .model = c->model,
        .max_tokens = loop_max_tokens(c),
        .system = c->prompt.system,
        .n_system = c->prompt.n_system,
        .system_break = {c->prompt.breaks[0], c->prompt.breaks[1]},
        .tools = buf_str(&c->prompt.tools),
        .messages = c->state.messages,
        .n_messages = c->state.n,
        .edition = c->state.edition,
        .context_management = context_management(c),
        .fast = fast_is_on(c),
        .session_id = c->session_id,
        .cwd = c->cwd,
    };
    set_message_breaks(&c->state, &r->req);
    set_betas(c, r);
}

bool
loop_build_request(struct loop *l, struct round *r)
{
    core_mend(l->core, " before it was sent");
    if (fast_is_on(l->core))
        latch_set(l->core, LATCH_FAST);
    loop_fill_request(l->core, r);
    return core_sync(l->core, &l->result->err);
}

enum flow
step_request(struct loop *l, struct round *r)
{
    if (!loop_build_request(l, r))
        return loop_fail(l, &l->result->err);
    return FLOW_NEXT;
}
