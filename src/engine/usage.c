#include "engine/usage.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

/* The model's row; the last row takes the rest when there are too many models. */
static struct session_model_usage *
row_of(struct passport *p, const char *model)
{
    for (size_t i = 0; i < p->n_usage; i++)
        if (strcmp(p->usage[i].model, model) == 0)
            return &p->usage[i];
    if (p->n_usage == ARRAY_LEN(p->usage))
        return &p->usage[p->n_usage - 1];
    struct session_model_usage *r = &p->usage[p->n_usage++];
    memset(r, 0, sizeof *r);
    r->model = xstrdup(model);
    return r;
}

double
usage_cost_of(const struct model_info *info, const struct usage *u)
{
    if (!info)
        return -1;
    if (info->provider && strcmp(info->provider, "offline") == 0)
        return 0;
    return catalog_cost(info, u);
}

static double
plus(double a, double b)
{
    return a < 0 || b < 0 ? -1 : a + b;
}

void
usage_load(struct usage_meter *m, const struct passport *p)
{
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < p->n_usage; i++) {
        const struct session_model_usage *r = &p->usage[i];
        m->total.input += r->input;
        m->total.output += r->output;
        m->total.cache_read += r->cache_read;
        m->total.cache_write += r->cache_write;
        m->requests += r->requests;
        m->cost_usd = plus(m->cost_usd, r->cost_usd);
        m->total.estimated |= r->estimated;
    }
}

static void
add_to_row(struct passport *p, const char *model, const struct usage *u, double cost)
{
    struct session_model_usage *r = row_of(p, model);
    r->input += u->input;
    r->output += u->output;
    r->cache_read += u->cache_read;
    r->cache_write += u->cache_write;
    r->requests++;
    r->cost_usd = plus(r->cost_usd, cost);
    r->estimated |= u->estimated;
}

/* What m says of the request that is being added. */
static struct ledger_row
row_for(const struct usage_meter *m, const char *model, const struct usage *u, double cost)
{
    struct ledger_row r = {
        .turn = m->turn, .wall_ms = clock_wall_ms(), .usage = *u, .cost_usd = cost};
    (void)snprintf(r.model, sizeof r.model, "%s", model);
    (void)snprintf(r.purpose, sizeof r.purpose, "%s", m->purpose ? m->purpose : LEDGER_MAIN);
    (void)snprintf(r.agent, sizeof r.agent, "%s", m->agent ? m->agent : "");
    return r;
}

/* What the lost tokens cost as new ones, less what reading them would have. */
static double
cost_of_break(const struct model_info *info, const struct ledger_break *b, const struct usage *u)
{
    int64_t written = u->cache_write < b->tokens ? u->cache_write : b->tokens;
    const struct usage paid = {.input = b->tokens - written, .cache_write = written};
    const struct usage saved = {.cache_read = b->tokens};
    double more = usage_cost_of(info, &paid), less = usage_cost_of(info, &saved);
    return more < 0 || less < 0 ? -1 : more > less ? more - less : 0;
}

void
usage_commit(struct usage_meter *m, struct passport *p, const char *model,
             const struct model_info *info)
{
    double cost = usage_cost_of(info, &m->running);
    usage_add(&m->total, &m->running);
    usage_add(&m->submit, &m->running);
    add_to_row(p, model, &m->running, cost);
    struct ledger_row row = row_for(m, model, &m->running, cost);
    m->broke = ledger_add(&m->ledger, &row);
    if (m->broke)
        m->broke->cost_usd = cost_of_break(info, m->broke, &row.usage);
    m->cost_usd = plus(m->cost_usd, cost);
    p->cost_usd = m->cost_usd;
    m->requests++;
    m->purpose = m->agent = NULL;
    memset(&m->running, 0, sizeof m->running);
}

double
usage_cost_now(const struct usage_meter *m, const struct model_info *info)
{
    const struct usage *u = &m->running;
    if (!u->input && !u->output && !u->cache_read && !u->cache_write)
        return m->cost_usd;
    return plus(m->cost_usd, usage_cost_of(info, u));
}

struct event *
usage_event(const struct usage_meter *m, const struct model_info *info, double budget_usd)
{
    struct event *e = event_new(EV_USAGE);
    e->u.usage.input = m->total.input + m->running.input;
    e->u.usage.output = m->total.output + m->running.output;
    e->u.usage.cache_read = m->total.cache_read + m->running.cache_read;
    e->u.usage.cache_write = m->total.cache_write + m->running.cache_write;
    e->u.usage.turn_input = m->running.input + m->running.cache_read + m->running.cache_write;
    e->u.usage.turn_output = m->running.output;
    e->u.usage.cost_usd = usage_cost_now(m, info);
    e->u.usage.budget_usd = budget_usd;
    e->u.usage.estimated = m->total.estimated || m->running.estimated;
    return e;
}

void
usage_write_models(const struct passport *p, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    for (size_t i = 0; i < p->n_usage; i++) {
        const struct session_model_usage *r = &p->usage[i];
        const struct model_info *info = catalog_find(r->model);
        jw_key(&w, r->model);
        jw_object(&w);
        jw_kint(&w, "inputTokens", r->input);
        jw_kint(&w, "outputTokens", r->output);
        jw_kint(&w, "cacheReadInputTokens", r->cache_read);
        jw_kint(&w, "cacheCreationInputTokens", r->cache_write);
        jw_kint(&w, "webSearchRequests", 0);
        jw_key(&w, "costUSD");
        if (r->cost_usd < 0)
            jw_null(&w);
        else
            jw_num(&w, r->cost_usd);
        jw_kint(&w, "contextWindow", info ? info->context : 0);
        jw_kint(&w, "maxOutputTokens", info ? info->max_output : 0);
        jw_end(&w);
    }
    jw_end(&w);
}

void
usage_write(const struct usage *u, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kint(&w, "input_tokens", u->input);
    jw_kint(&w, "output_tokens", u->output);
    jw_kint(&w, "cache_read_input_tokens", u->cache_read);
    jw_kint(&w, "cache_creation_input_tokens", u->cache_write);
    if (u->fast)
        jw_kcstr(&w, "speed", "fast");
    if (u->cache_write_1h) {
        jw_key(&w, "cache_creation");
        jw_object(&w);
        jw_kint(&w, "ephemeral_5m_input_tokens", u->cache_write - u->cache_write_1h);
        jw_kint(&w, "ephemeral_1h_input_tokens", u->cache_write_1h);
        jw_end(&w);
    }
    jw_end(&w);
}

void
usage_write_note(const struct usage_meter *m, const char *model, const struct usage *u,
                 struct buf *out)
{
    struct ledger_row row = row_for(m, model, u, -1);
    buf_adds(out, "\"model\":");
    json_quote(out, str_from(model));
    buf_addc(out, ',');
    ledger_write_note(&row, out);
    buf_addf(out, ",\"estimated\":%s,\"usage\":", u->estimated ? "true" : "false");
    usage_write(u, out);
}

void
usage_read_note(struct passport *p, struct str record)
{
    struct cJSON *t = json_parse(record, NULL);
    const char *model = json_cstr(t, "model", NULL);
    if (model) {
        struct usage u = {
            .input = json_count(t, "usage.input_tokens"),
            .output = json_count(t, "usage.output_tokens"),
            .cache_read = json_count(t, "usage.cache_read_input_tokens"),
            .cache_write = json_count(t, "usage.cache_creation_input_tokens"),
            .cache_write_1h = json_count(t, "usage.cache_creation.ephemeral_1h_input_tokens"),
            .fast = str_is(json_str(t, "usage.speed"), "fast"),
            .estimated = json_bool(t, "estimated", false),
        };
        double cost = usage_cost_of(catalog_find(model), &u);
        add_to_row(p, model, &u, cost);
        p->cost_usd = plus(p->cost_usd, cost);
    }
    json_free(t);
}

void
usage_restore(struct usage_meter *m, struct str record)
{
    struct ledger_row row;
    if (ledger_read_break(&m->ledger, record) || !ledger_read_note(record, &row))
        return;
    row.cost_usd = usage_cost_of(catalog_find(row.model), &row.usage);
    ledger_add_old(&m->ledger, &row);
}

void
usage_show_cost(struct buf *out, double usd, bool estimated)
{
    if (usd < 0)
        buf_adds(out, "no price known");
    else if (usd > 0 && usd < 0.0001)
        buf_adds(out, "<$0.0001");
    else
        buf_addf(out, "$%.*f", usd > 0 && usd < 0.01 ? 4 : 2, usd);
    if (estimated && usd > 0)
        buf_adds(out, " est");
}
