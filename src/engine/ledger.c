#include "engine/ledger.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define CACHE_LIFE_MS ((int64_t)5 * 60 * 1000)
#define CACHE_LONG_MS ((int64_t)60 * 60 * 1000)
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

void
ledger_expect(struct ledger *l, const char *why, bool all)
{
    if (l->expected_all && !all)
        return;
    l->expected_all = all;
    put_text(l->expected, sizeof l->expected, why);
}

void
ledger_part_add(struct ledger_parts *p, const char *kind, const char *name, struct str bytes)
{
    bool full = p->n == LEDGER_PARTS;
    struct ledger_part *part = full ? &p->part[LEDGER_PARTS - 1] : &p->part[p->n++];
    uint64_t before = full ? part->hash : str_hash(STR(""));
    if (full)
        put_text(part->name, sizeof part->name, "other parts");
    else
        (void)snprintf(part->name, sizeof part->name, "%s%s%s", kind, name[0] ? " " : "", name);
    part->hash = str_hash_more(before, bytes) | 1;
}

/* ---- why a cache did not hold ---- */

static const struct ledger_part *
find_part(const struct ledger_parts *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->part[i].name, name) == 0)
            return &p->part[i];
    return NULL;
}

/* The first part that is not what it was, and how many; the cache ends at the first. */
static const char *
changed_part(const struct ledger_parts *was, const struct ledger_parts *is, const char **ret_how,
             size_t *ret_n)
{
    const char *first = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < is->n; i++) {
        const struct ledger_part *a = find_part(was, is->part[i].name);
        if (a && a->hash == is->part[i].hash)
            continue;
        if (!first) {
            first = is->part[i].name;
            *ret_how = a ? "changed" : "is new";
        }
        ++*ret_n;
    }
    for (size_t i = 0; i < was->n; i++) {
        if (find_part(is, was->part[i].name))
            continue;
        if (!first) {
            first = was->part[i].name;
            *ret_how = "is gone";
        }
        ++*ret_n;
    }
    return first;
}

/* announced: what comes first where a beta beside it is mostly its own doing (a tier names one); "" where the part says more. */
static void
explain_parts(const char *announced, const char *part, const char *how, size_t n,
              struct ledger_break *b)
{
    char more[40] = "";
    if (n > 1)
        (void)snprintf(more, sizeof more, ", and %zu more part%s", n - 1, n > 2 ? "s" : "");
    (void)snprintf(b->reason, sizeof b->reason, "%.60s%s%s %s%s", announced,
                   announced[0] ? "; " : "", part, how, more);
}

static void
explain(const struct ledger *l, int64_t now_ms, struct ledger_break *b)
{
    const struct ledger_parts *was = &l->last_parts, *is = &l->parts;
    int64_t idle_ms = (is->wall_ms ? is->wall_ms : now_ms) - l->cached_ms;
    bool known = was->model[0] && is->model[0];
    const char *how = "", *part;
    size_t n = 0;
    b->expected = true;
    if (known && strcmp(was->model, is->model) != 0) {
        (void)snprintf(b->reason, sizeof b->reason, "the model was changed to %.60s", is->model);
    } else if (l->expected_all) {
        put_text(b->reason, sizeof b->reason, l->expected);
    } else if (known && (part = changed_part(was, is, &how, &n)) != NULL) {
        b->expected = l->expected[0] && strncmp(part, "beta header", 11) == 0;
        explain_parts(b->expected ? l->expected : "", part, how, n, b);
    } else if (l->expected[0]) {
        put_text(b->reason, sizeof b->reason, l->expected);
    } else if (known && is->rewritten) {
        put_text(b->reason, sizeof b->reason, "the conversation was rewritten");
    } else if (idle_ms > l->life_ms) {
        (void)snprintf(b->reason, sizeof b->reason,
                       "the cache expired (%lld min since the request before)",
                       (long long)(idle_ms / 60000));
    } else if (!known) {
        put_text(b->reason, sizeof b->reason, "not known: the session was resumed");
    } else {
        b->expected = false;
        put_text(b->reason, sizeof b->reason, "the server no longer had it");
    }
}

static struct ledger_break *
find_break(struct ledger *l, const struct ledger_row *row)
{
    int64_t lost = l->cached - row->usage.cache_read;
    if (lost < BREAK_TOKENS || lost < l->cached / 100 * BREAK_PERCENT ||
        l->cached < l->parts.cache_min)
        return NULL;
    struct ledger_break *b = &l->breaks[l->n_breaks++ % LEDGER_BREAKS];
    *b = (struct ledger_break){.turn = row->turn, .tokens = lost, .cost_usd = -1};
    explain(l, row->wall_ms, b);
    return b;
}

/* Rows that a server's answer did not count say nothing of its cache. */
static bool
tells_of_cache(const struct ledger_row *row)
{
    return !row->agent[0] && strcmp(row->purpose, LEDGER_MAIN) == 0 && !row->usage.estimated;
}

static void
follow_cache(struct ledger *l, const struct ledger_row *row)
{
    l->cached = row->usage.cache_read + row->usage.cache_write;
    l->cached_ms = l->parts.wall_ms ? l->parts.wall_ms : row->wall_ms;
    l->life_ms = row->usage.cache_write_1h ? CACHE_LONG_MS : CACHE_LIFE_MS;
    l->last_parts = l->parts;
    l->expected[0] = '\0';
    l->expected_all = false;
}

/* ---- rows ---- */

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

static void
add_row(struct ledger *l, const struct ledger_row *row)
{
    struct ledger_agent *a = agent_of(l, row->agent);
    usage_add(&a->usage, &row->usage);
    a->cost_usd = a->cost_usd < 0 || row->cost_usd < 0 ? -1 : a->cost_usd + row->cost_usd;
    a->requests++;
    l->rows[l->n++ % LEDGER_ROWS] = *row;
}

struct ledger_break *
ledger_add(struct ledger *l, const struct ledger_row *row)
{
    struct ledger_break *b = NULL;
    add_row(l, row);
    if (tells_of_cache(row)) {
        b = l->cached ? find_break(l, row) : NULL;
        follow_cache(l, row);
    }
    return b;
}

void
ledger_add_old(struct ledger *l, const struct ledger_row *row)
{
    add_row(l, row);
    if (tells_of_cache(row))
        follow_cache(l, row);
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
        r.usage.cache_write_1h = json_count(t, "usage.cache_creation.ephemeral_1h_input_tokens");
        r.usage.fast = str_is(json_str(t, "usage.speed"), "fast");
        r.usage.estimated = json_bool(t, "estimated", false);
        *ret = r;
    }
    json_free(t);
    return ok;
}

void
ledger_write_break(const struct ledger_break *b, struct buf *out)
{
    buf_addf(out, "\"turn\":%lld,\"tokens\":%lld,\"expected\":%s,\"cost_usd\":", (long long)b->turn,
             (long long)b->tokens, b->expected ? "true" : "false");
    if (b->cost_usd < 0)
        buf_adds(out, "null");
    else
        buf_addf(out, "%.9g", b->cost_usd);
    buf_adds(out, ",\"reason\":");
    json_quote(out, str_from(b->reason));
}

bool
ledger_read_break(struct ledger *l, struct str record)
{
    struct cJSON *t = json_parse(record, NULL);
    const char *reason = json_cstr(t, "reason", NULL);
    bool ok = str_is(json_str(t, "type"), "cache-break") && reason;
    if (ok) {
        struct ledger_break *b = &l->breaks[l->n_breaks++ % LEDGER_BREAKS];
        *b =
            (struct ledger_break){.turn = json_count(t, "turn"), .tokens = json_count(t, "tokens")};
        b->cost_usd = json_num(t, "cost_usd", -1);
        b->expected = json_bool(t, "expected", false);
        put_text(b->reason, sizeof b->reason, reason);
    }
    json_free(t);
    return ok;
}
