#include "engine/meters.h"

#include <string.h>

#include "base/json.h"
#include "engine/context.h"
#include "engine/engine_private.h"

/* ---- the watch ---- */

static uint64_t
hash_messages(const struct state *st, size_t n)
{
    uint64_t h = str_hash(STR(""));
    for (size_t i = 0; i < n && i < st->n; i++) {
        /* immutable: the same bytes stand at the same place */
        const char *at = st->messages[i]->json.ptr;
        h = str_hash_more(h, str_make((const char *)&at, sizeof at));
    }
    return h;
}

void
meters_watch(struct core *c)
{
    const struct prompt *p = &c->prompt;
    struct ledger_parts parts = {
        .model = str_hash(str_from(c->model)) | 1,
        .tools = str_hash(buf_str(&p->tools)),
        .memory = str_hash(buf_str(&p->memory)),
        .system = str_hash(STR("")),
        .history = hash_messages(&c->state, c->state.n),
        .history_then = hash_messages(&c->state, c->state.n_sent),
    };
    for (size_t i = 0; i < PROMPT_SEGMENTS; i++)
        parts.system = str_hash_more(parts.system, buf_str(&p->seg[i]));
    ledger_watch(&c->usage.ledger, &parts);
}

/* ---- the answer ---- */

enum source { SRC_SYSTEM, SRC_TOOLS, SRC_MEMORY, SRC_MESSAGES, SRC_RESULTS, SRC_COUNT };

static void
count_bytes(const struct core *c, double bytes[SRC_COUNT])
{
    const struct prompt *p = &c->prompt;
    for (size_t i = 0; i < PROMPT_SEGMENTS; i++)
        bytes[SRC_SYSTEM] += (double)p->seg[i].len;
    bytes[SRC_TOOLS] = (double)p->tools.len;
    bytes[SRC_MEMORY] = (double)p->memory.len;
    for (size_t i = 0; i < c->state.n; i++) {
        const struct message *m = c->state.messages[i];
        size_t results = 0;
        for (size_t k = 0; k < m->n_blocks; k++)
            if (m->blocks[k].kind == BLOCK_TOOL_RESULT)
                results += m->blocks[k].text.len;
        if (results > m->json.len)
            results = m->json.len;
        bytes[SRC_RESULTS] += (double)results;
        bytes[SRC_MESSAGES] += (double)(m->json.len - results);
    }
}

/* The fill by where it comes from. Nobody counts the parts: they share the whole by their bytes. */
static void
write_sources(struct jw *w, const struct core *c)
{
    static const char *const names[SRC_COUNT] = {"system", "tools", "memory", "messages",
                                                 "results"};
    double bytes[SRC_COUNT] = {0}, all = 0;
    count_bytes(c, bytes);
    for (size_t i = 0; i < SRC_COUNT; i++)
        all += bytes[i];
    double used = (double)context_used(c);
    jw_key(w, "sources");
    jw_array(w);
    for (size_t i = 0; i < SRC_COUNT; i++) {
        jw_object(w);
        jw_kcstr(w, "name", names[i]);
        jw_kint(w, "tokens", all > 0 ? (int64_t)(used * bytes[i] / all + 0.5) : 0);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_cost(struct jw *w, double cost)
{
    jw_key(w, "cost_usd");
    if (cost < 0)
        jw_null(w);
    else
        jw_num(w, cost);
}

static void
write_tokens(struct jw *w, const struct usage *u)
{
    jw_kint(w, "input", u->input);
    jw_kint(w, "output", u->output);
    jw_kint(w, "cache_read", u->cache_read);
    jw_kint(w, "cache_write", u->cache_write);
    jw_kbool(w, "estimated", u->estimated);
}

static void
write_models(struct jw *w, const struct passport *p)
{
    jw_key(w, "models");
    jw_array(w);
    for (size_t i = 0; i < p->n_usage; i++) {
        const struct session_model_usage *r = &p->usage[i];
        struct usage u = {r->input, r->output, r->cache_read, r->cache_write, false};
        jw_object(w);
        jw_kcstr(w, "model", r->model);
        jw_kint(w, "requests", r->requests);
        write_tokens(w, &u);
        write_cost(w, r->cost_usd);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_agents(struct jw *w, const struct ledger *l)
{
    jw_key(w, "agents");
    jw_array(w);
    for (size_t i = 0; i < l->n_agents; i++) {
        jw_object(w);
        jw_kcstr(w, "agent", l->agents[i].name);
        jw_kint(w, "requests", l->agents[i].requests);
        write_tokens(w, &l->agents[i].usage);
        write_cost(w, l->agents[i].cost_usd);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_requests(struct jw *w, const struct ledger *l)
{
    const struct ledger_row *r;
    jw_key(w, "requests");
    jw_array(w);
    for (size_t i = 0; (r = ledger_at(l, i)); i++) {
        jw_object(w);
        jw_kint(w, "turn", r->turn);
        jw_kcstr(w, "purpose", r->purpose);
        jw_kcstr(w, "model", r->model);
        jw_kcstr(w, "agent", r->agent[0] ? r->agent : LEDGER_MAIN);
        write_tokens(w, &r->usage);
        write_cost(w, r->cost_usd);
        jw_kint(w, "context", ledger_context(r));
        jw_end(w);
    }
    jw_end(w);
}

static void
write_breaks(struct jw *w, const struct ledger *l)
{
    const struct ledger_break *b;
    jw_key(w, "cache_breaks");
    jw_array(w);
    for (size_t i = 0; (b = ledger_break_at(l, i)); i++) {
        jw_object(w);
        jw_kint(w, "turn", b->turn);
        jw_kcstr(w, "reason", b->reason);
        jw_kint(w, "tokens", b->tokens);
        jw_end(w);
    }
    jw_end(w);
}

/* Where the fill changes its state, as context.c says it: asked of it at each percent, so that there is one place for it. */
static void
write_tiers(struct jw *w, int64_t window)
{
    const char *state = context_state_name(0, window);
    jw_key(w, "tiers");
    jw_array(w);
    for (int percent = 1; window > 0 && percent <= 100; percent++) {
        const char *now = context_state_name((int64_t)((double)window * percent / 100), window);
        if (strcmp(now, state) == 0)
            continue;
        state = now;
        jw_object(w);
        jw_kcstr(w, "id", now);
        jw_kcstr(w, "name", now);
        jw_kint(w, "percent", percent);
        jw_end(w);
    }
    jw_end(w);
}

void
query_meters(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    const struct core *c = &e->core;
    int64_t used = context_used(c), window = context_window(c);
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "context");
    jw_object(&w);
    jw_kint(&w, "used", used);
    jw_kint(&w, "window", window);
    jw_kcstr(&w, "state", context_state_name(used, window));
    jw_kbool(&w, "estimated", c->state.context_tokens <= 0 || c->state.n_counted < c->state.n);
    jw_end(&w);
    write_sources(&w, c);
    write_models(&w, &c->passport);
    write_agents(&w, &c->usage.ledger);
    write_requests(&w, &c->usage.ledger);
    write_breaks(&w, &c->usage.ledger);
    write_tiers(&w, window);
    jw_knum(&w, "budget_usd", c->max_budget_usd);
    write_cost(&w, usage_cost_now(&c->usage, c->info));
    jw_kint(&w, "api_ms", c->passport.api_ms);
    jw_kint(&w, "tool_ms", c->passport.tool_ms);
    jw_kbool(&w, "estimated", c->usage.total.estimated);
    jw_end(&w);
}
