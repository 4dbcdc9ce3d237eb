#include "engine/meters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/command_context.h"
#include "engine/context.h"
#include "engine/engine_private.h"

/* ---- the watch ---- */

static void
add_betas(struct ledger_parts *parts, const char *betas)
{
    struct str rest = str_from(betas ? betas : ""), one;
    while (str_split(&rest, ',', &one)) {
        char *name = str_dup(one);
        if (one.len)
            ledger_part_add(parts, "beta header", name, one);
        free(name);
    }
}

void
meters_watch(struct core *c, const struct model_request *req)
{
    struct ledger_parts parts = c->prompt.parts;
    const struct state *st = &c->state;
    (void)snprintf(parts.model, sizeof parts.model, "%s", c->model);
    parts.cache_min = c->info ? c->info->cache_min : 0;
    parts.wall_ms = clock_wall_ms();
    parts.rewritten = st->n_same < st->n_cached;
    if (req->fast)
        ledger_part_add(&parts, "speed", "fast", STR("fast"));
    add_betas(&parts, req->betas);
    if (req->context_management)
        ledger_part_add(&parts, "context management", "", str_from(req->context_management));
    ledger_watch(&c->usage.ledger, &parts);
}

void
meters_answered(struct core *c, const struct usage *u)
{
    if (u->input || u->cache_read || u->cache_write)
        state_note_cached(&c->state, c->state.n_sent);
    context_note_cleared(c, u->cleared_uses, u->cleared_tokens);
    const struct ledger_break *b = c->usage.broke;
    c->usage.broke = NULL;
    if (!b)
        return;
    struct buf note;
    buf_init(&note, 1024);
    ledger_write_break(b, &note);
    core_note(c, "cache-break", NULL, buf_str(&note));
    buf_release(&note);
    if (b->expected)
        log_info("cache", "%lld tokens were paid again: %s", (long long)b->tokens, b->reason);
    else
        log_warn("cache", "%lld tokens were paid again: %s", (long long)b->tokens, b->reason);
    struct event *e = event_new(EV_CACHE_BREAK);
    e->u.cache_break.reason = xstrdup(b->reason);
    e->u.cache_break.tokens = b->tokens;
    e->u.cache_break.cost_usd = b->cost_usd;
    e->u.cache_break.expected = b->expected;
    e->u.cache_break.turn = b->turn;
    core_emit(c, e);
}

/* ---- the answer ---- */

enum source { SRC_SYSTEM, SRC_TOOLS, SRC_MEMORY, SRC_MESSAGES, SRC_RESULTS };
const char *const meters_source_names[METERS_SOURCES] = {"system", "tools", "memory", "messages",
                                                         "results"};

static void
count_bytes(const struct core *c, double bytes[METERS_SOURCES])
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
    /* it stands in the first message */
    if (bytes[SRC_MESSAGES] >= bytes[SRC_MEMORY])
        bytes[SRC_MESSAGES] -= bytes[SRC_MEMORY];
}

/* Nobody counts the parts: they share the whole by their bytes. */
void
meters_sources(const struct core *c, int64_t ret[METERS_SOURCES])
{
    double bytes[METERS_SOURCES] = {0}, all = 0;
    count_bytes(c, bytes);
    for (size_t i = 0; i < METERS_SOURCES; i++)
        all += bytes[i];
    double used = (double)context_used(c);
    for (size_t i = 0; i < METERS_SOURCES; i++)
        ret[i] = all > 0 ? (int64_t)(used * bytes[i] / all + 0.5) : 0;
}

/* The fill by where it comes from. */
static void
write_sources(struct jw *w, const struct core *c)
{
    int64_t tokens[METERS_SOURCES];
    meters_sources(c, tokens);
    jw_key(w, "sources");
    jw_array(w);
    for (size_t i = 0; i < METERS_SOURCES; i++) {
        jw_object(w);
        jw_kcstr(w, "name", meters_source_names[i]);
        jw_kint(w, "tokens", tokens[i]);
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
        struct usage u = {.input = r->input,
                          .output = r->output,
                          .cache_read = r->cache_read,
                          .cache_write = r->cache_write};
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
        jw_kbool(w, "expected", b->expected);
        write_cost(w, b->cost_usd);
        jw_end(w);
    }
    jw_end(w);
}

/* Tiers and states of the fill, by where they begin. */
struct mark {
    const char *id, *name;
    double percent;
};

static int
by_percent(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return x->percent < y->percent ? -1 : x->percent > y->percent;
}

/* Where the fill changes its state, as context.c says it: asked of it at each percent, so that there is one place for it. */
static size_t
add_states(struct mark *marks, size_t n, int64_t window)
{
    const char *state = context_state_name(0, window);
    for (int percent = 1; percent <= 100; percent++) {
        const char *now = context_state_name((int64_t)((double)window * percent / 100), window);
        if (strcmp(now, state) != 0)
            marks[n++] = (struct mark){now, now, percent};
        state = now;
    }
    return n;
}

static void
write_tiers(struct jw *w, const struct core *c, int64_t window)
{
    struct mark marks[16];
    size_t n = 0, n_tiers;
    int64_t before, after;
    const struct context_tier *t = context_tiers(&n_tiers);
    for (size_t i = 0; window > 0 && i < n_tiers && i < 8; i++)
        if (t[i].at)
            marks[n++] = (struct mark){t[i].id, t[i].name, context_tier_percent(c, &t[i])};
    if (window > 0)
        n = add_states(marks, n, window);
    qsort(marks, n, sizeof *marks, by_percent);
    jw_key(w, "tiers");
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        jw_object(w);
        jw_kcstr(w, "id", marks[i].id);
        jw_kcstr(w, "name", marks[i].name);
        jw_kint(w, "percent", (int64_t)(marks[i].percent + 0.5));
        if (context_tier_last(c, marks[i].name, &before, &after)) {
            jw_kint(w, "before", before);
            jw_kint(w, "after", after);
        }
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
    write_tiers(&w, c, window);
    struct buf about;
    buf_init(&about, 64 << 10);
    command_context_about(e, &about);
    jw_kcstr(&w, "about", buf_cstr(&about));
    buf_release(&about);
    jw_knum(&w, "budget_usd", c->max_budget_usd);
    write_cost(&w, usage_cost_now(&c->usage, c->info));
    jw_kint(&w, "api_ms", c->passport.api_ms);
    jw_kint(&w, "tool_ms", c->passport.tool_ms);
    jw_kbool(&w, "estimated", c->usage.total.estimated);
    jw_end(&w);
}
