#include "engine/ledger.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define CACHE_LIFE_MS (5 * 60 * 1000)
/* Below these a drop is noise: blocks of the cache are counted in steps, and short prompts are not cached. */
#define BREAK_TOKENS 2000
#define BREAK_PERCENT 5

static void
put_text(char *to, size_t size, const char *s)
{
    (void)snprintf(to, size, "%s", s ? s : "");
}

void
ledger_watch(struct ledger *l, const struct ledger_parts *parts)
{
    l->parts = *parts;
}

/* Which part explains it; what changes the most of the prompt comes first. */
static const char *
break_reason(const struct ledger *l, int64_t now_ms)
{
    const struct ledger_parts *a = &l->last_parts, *b = &l->parts;
    if (!a->model) /* from before this run */
        return now_ms - l->cached_ms > CACHE_LIFE_MS ? "over five minutes since the request before"
                                                     : "not known: the session was resumed";
    if (a->model != b->model)
        return "the model was changed";
    if (a->tools != b->tools)
        return "the tools changed";
    if (a->system != b->system)
        return "the system prompt changed";
    if (a->memory != b->memory)
        return "the memory files changed";
    if (a->history != b->history_then)
        return "the conversation was compacted or rewritten";
    if (now_ms - l->cached_ms > CACHE_LIFE_MS)
        return "the cache ran out: over five minutes between requests";
    return "the server no longer had it";
}

static void
note_break(struct ledger *l, const struct ledger_row *row)
{
    int64_t lost = l->cached - row->usage.cache_read;
    if (lost < BREAK_TOKENS || lost < l->cached / 100 * BREAK_PERCENT)
        return;
    struct ledger_break *b = &l->breaks[l->n_breaks++ % LEDGER_BREAKS];
    b->turn = row->turn;
    b->tokens = lost;
    put_text(b->reason, sizeof b->reason, break_reason(l, row->wall_ms));
}

/* Rows that a server's answer did not count say nothing of its cache. */
static void
follow_cache(struct ledger *l, const struct ledger_row *row)
{
    if (row->agent[0] || strcmp(row->purpose, LEDGER_MAIN) != 0 || row->usage.estimated)
        return;
    if (l->cached)
        note_break(l, row);
    l->cached = row->usage.cache_read + row->usage.cache_write;
    l->cached_ms = row->wall_ms;
    l->last_parts = l->parts;
}

static struct ledger_agent *
agent_of(struct ledger *l, const char *name)
{
    if (!l->n_agents)
        put_text(l->agents[l->n_agents++].name, sizeof l->agents[0].name, "main");
    if (!name[0])
        return &l->agents[0];
    for (size_t i = 1; i < l->n_agents; i++)
        if (strcmp(l->agents[i].name, name) == 0)
            return &l->agents[i];
    /* the last one takes the rest when there are too many */
    if (l->n_agents == LEDGER_AGENTS) {
        put_text(l->agents[LEDGER_AGENTS - 1].name, sizeof l->agents[0].name, "others");
        return &l->agents[LEDGER_AGENTS - 1];
    }
    put_text(l->agents[l->n_agents].name, sizeof l->agents[0].name, name);
    return &l->agents[l->n_agents++];
}

void
ledger_add(struct ledger *l, const struct ledger_row *row)
{
    struct ledger_agent *a = agent_of(l, row->agent);
    a->usage.input += row->usage.input;
    a->usage.output += row->usage.output;
    a->usage.cache_read += row->usage.cache_read;
    a->usage.cache_write += row->usage.cache_write;
    a->usage.estimated |= row->usage.estimated;
    a->cost_usd = a->cost_usd < 0 || row->cost_usd < 0 ? -1 : a->cost_usd + row->cost_usd;
    a->requests++;
    follow_cache(l, row);
    l->rows[l->n++ % LEDGER_ROWS] = *row;
}

const struct ledger_row *
ledger_at(const struct ledger *l, size_t i)
{
    uint64_t kept = l->n < LEDGER_ROWS ? l->n : LEDGER_ROWS;
    return i < kept ? &l->rows[(l->n - kept + i) % LEDGER_ROWS] : NULL;
}

const struct ledger_break *
ledger_break_at(const struct ledger *l, size_t i)
{
    uint64_t kept = l->n_breaks < LEDGER_BREAKS ? l->n_breaks : LEDGER_BREAKS;
    return i < kept ? &l->breaks[(l->n_breaks - kept + i) % LEDGER_BREAKS] : NULL;
}

int64_t
ledger_context(const struct ledger_row *row)
{
    const struct usage *u = &row->usage;
    return u->input + u->cache_read + u->cache_write + u->output;
}

void
ledger_write_note(const struct ledger_row *row, struct buf *out)
{
    buf_addf(out, "\"turn\":%lld,\"wall_ms\":%lld,\"purpose\":", (long long)row->turn,
             (long long)row->wall_ms);
    json_quote(out, str_from(row->purpose));
    if (row->agent[0]) {
        buf_adds(out, ",\"agent\":");
        json_quote(out, str_from(row->agent));
    }
}

bool
ledger_read_note(struct str record, struct ledger_row *ret)
{
    struct ledger_row r = {.cost_usd = -1};
    struct cJSON *t = json_parse(record, NULL);
    const char *model = json_cstr(t, "model", NULL);
    bool ok = model && json_is_object(json_get(t, "usage"));
    if (ok) {
        put_text(r.model, sizeof r.model, model);
        put_text(r.purpose, sizeof r.purpose, json_cstr(t, "purpose", LEDGER_MAIN));
        put_text(r.agent, sizeof r.agent, json_cstr(t, "agent", ""));
        r.turn = json_count(t, "turn");
        r.wall_ms = json_count(t, "wall_ms");
        r.usage.input = json_count(t, "usage.input_tokens");
        r.usage.output = json_count(t, "usage.output_tokens");
        r.usage.cache_read = json_count(t, "usage.cache_read_input_tokens");
        r.usage.cache_write = json_count(t, "usage.cache_creation_input_tokens");
        r.usage.estimated = json_bool(t, "estimated", false);
        *ret = r;
    }
    json_free(t);
    return ok;
}
