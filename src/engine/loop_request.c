/* The request step: a legal history, the frozen prompt, the cache breakpoints. */
#include "engine/context.h"
#include "engine/loop_private.h"

#define DEFAULT_MAX_TOKENS 32000
#define UNKNOWN_MAX_TOKENS 8192
#define LEAST_TOKENS 512

static int
wanted_tokens(const struct core *c)
{
    if (c->state.max_output_override > 0)
        return c->state.max_output_override;
    if (c->max_tokens > 0)
        return c->max_tokens;
    if (!c->info || c->info->max_output <= 0)
        return UNKNOWN_MAX_TOKENS;
    return c->info->max_output < DEFAULT_MAX_TOKENS ? (int)c->info->max_output : DEFAULT_MAX_TOKENS;
}

/* A server that is started with a size refuses (vLLM) or cuts (Ollama) a request whose prompt and answer do not fit together. */
int
loop_max_tokens(const struct core *c)
{
    int wanted = wanted_tokens(c);
    int64_t window = context_window(c), left = window - context_used(c);
    if (!c->provider->server || window <= 0 || left >= wanted)
        return wanted;
    return left > LEAST_TOKENS ? (int)left : LEAST_TOKENS;
}

bool
loop_build_request(struct loop *l, struct round *r)
{
    struct core *c = l->core;
    core_mend(c, " before it was sent");
    r->req = (struct model_request){
        .model = c->model,
        .max_tokens = loop_max_tokens(c),
        .system = c->prompt.system,
        .n_system = c->prompt.n_system,
        .system_break = {c->prompt.breaks[0], c->prompt.breaks[1]},
        .tools = buf_str(&c->prompt.tools),
        .messages = c->state.messages,
        .n_messages = c->state.n,
        .message_break = {SIZE_MAX, SIZE_MAX},
        .session_id = c->session_id,
        .cwd = c->cwd,
    };
    if (c->state.n)
        r->req.message_break[1] = c->state.n - 1;
    if (c->state.n_sent && c->state.n_sent < c->state.n)
        r->req.message_break[0] = c->state.n_sent - 1;
    return core_sync(c, &l->result->err);
}

enum flow
step_request(struct loop *l, struct round *r)
{
    if (!loop_build_request(l, r))
        return loop_fail(l, &l->result->err);
    return FLOW_NEXT;
}
