#include "engine/spend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/context.h"
#include "engine/core.h"
#include "engine/permit.h"
#include "engine/spend_day.h"

#define OUTPUT_LATE 8        /* requests whose answers tell how long the next may be */
#define OUTPUT_LEAST 500     /* tokens; also before any answer came */
#define BYTES_PER_TOKEN 3    /* of a call beside the loop, rather too few */
#define ASK_ID 1000000000000 /* far from the ids of the permission chain */

/* ---- limits ---- */

/* What the person said in this session comes before what is set. */
static double
in_force(double raised, double set)
{
    return raised < 0 ? 0 : raised > 0 ? raised : set;
}

/* The person's own settings alone (CONFIG_PERSON): a project must not raise what may be spent. */
void
spend_limits(struct core *c, struct spend_limits *ret)
{
    const struct spend *s = &c->spend;
    const struct config *cfg = permit_config(c->permit);
    ret->session = in_force(s->raised_session,
                            s->given > 0 ? s->given : config_num(cfg, "budget.session", true, 0));
    ret->day = in_force(s->raised_day, config_num(cfg, "budget.day", true, 0));
    c->max_budget_usd = ret->session; /* what the meters show */
}

/* ---- what it would cost ---- */

static int64_t
likely_output(const struct core *c, int max_tokens)
{
    const struct ledger *l = &c->usage.ledger;
    int64_t most = 0, quarter = max_tokens / 4;
    uint64_t looked = 0;
    for (uint64_t i = l->n; i > 0 && l->n - i < LEDGER_ROWS && looked < OUTPUT_LATE; i--) {
        const struct ledger_row *row = &l->rows[(i - 1) % LEDGER_ROWS];
        if (strcmp(row->purpose, LEDGER_MAIN) != 0)
            continue;
        looked++;
        if (row->usage.output > most)
            most = row->usage.output;
    }
    int64_t likely = most * 2 > OUTPUT_LEAST ? most * 2 : OUTPUT_LEAST;
    return likely < quarter ? likely : quarter;
}

double
spend_of_request(const struct core *c, int max_tokens)
{
    struct usage u = {.output = likely_output(c, max_tokens), .fast = fast_is_on(c)};
    int64_t in = context_used(c);
    u.cache_read = c->usage.ledger.cached < in ? c->usage.ledger.cached : in;
    if (c->info && c->info->provider && strcmp(c->info->provider, "anthropic") == 0)
        u.cache_write = in - u.cache_read; /* new input is written to the cache */
    else
        u.input = in - u.cache_read;
    if (strcmp(c->provider->name, "offline") == 0)
        return 0;
    return usage_cost_of(c->info, &u);
}

/* Of a request beside the loop, with nothing in the cache. */
static double
of_call(const char *model, size_t bytes, int max_tokens)
{
    const struct usage u = {.input = (int64_t)(bytes / BYTES_PER_TOKEN), .output = max_tokens / 4};
    return usage_cost_of(catalog_find(model), &u);
}

/* ---- may it be sent ---- */

/* So many digits that a small limit is not shown as none. */
static int
cents(double usd)
{
    return usd >= 0.01 ? 2 : usd >= 0.0001 ? 4 : 8;
}

static char *
shown(char *out, size_t size, double usd)
{
    snprintf(out, size, usd > 0 ? "$%.*f" : "$0", cents(usd), usd);
    return out;
}

static bool
say_over(struct err *err, const char *which, double limit, double spent, double projected)
{
    char a[32], b[32], c[32];
    return err_set(err, ERR_LIMIT,
                   "the budget of %s for this %s does not hold the next request: %s spent, and it "
                   "may cost %s",
                   shown(a, sizeof a, limit), which, shown(b, sizeof b, spent),
                   shown(c, sizeof c, projected));
}

static bool
pass_unknown(struct core *c)
{
    if (!c->spend.said_unknown)
        core_notice(c,
                    "the price of %s is not known: no budget can hold what it costs. Set it in "
                    "models.json",
                    c->model);
    c->spend.said_unknown = true;
    return true;
}

bool
spend_allows(struct core *c, double projected, struct err *err)
{
    struct spend_limits limits;
    spend_limits(c, &limits);
    if (limits.session <= 0 && limits.day <= 0)
        return true;
    double spent = c->usage.cost_usd;
    if (projected < 0 || spent < 0)
        return pass_unknown(c);
    if (limits.session > 0 && spent + projected > limits.session)
        return say_over(err, "session", limits.session, spent, projected);
    if (limits.day <= 0)
        return true;
    struct err broke = {0};
    if (!spend_day_read(c->data_dir, &spent, &broke)) {
        if (!c->spend.said_day)
            core_error(c, &broke, NULL);
        c->spend.said_day = true;
        return true;
    }
    spent += c->spend.owed;
    return spent + projected <= limits.day || say_over(err, "day", limits.day, spent, projected);
}

bool
spend_allows_call(struct core *c, const char *purpose, const char *model, size_t bytes,
                  int max_tokens, struct err *err)
{
    if (strcmp(c->provider->name, "offline") == 0 ||
        spend_allows(c, of_call(model, bytes, max_tokens), err))
        return true;
    if (!c->spend.said_sub)
        core_notice(c, "no request for '%s' is sent: %s", purpose, err->text);
    c->spend.said_sub = true;
    return false;
}

void
spend_note(struct core *c)
{
    const struct ledger *l = &c->usage.ledger;
    double usd = l->n ? l->rows[(l->n - 1) % LEDGER_ROWS].cost_usd : 0;
    struct err err = {0};
    if (usd <= 0)
        return;
    c->spend.owed += usd;
    if (spend_day_add(c->data_dir, c->spend.owed, &err)) {
        c->spend.owed = 0;
        return;
    }
    if (err.code == ERR_TIMEOUT ||
        c->spend.said_day) /* others write it just now: with the next one */
        return;
    c->spend.said_day = true;
    err_wrap(&err, "what this day costs is not counted");
    core_error(c, &err, NULL);
}

/* ---- the dialog ---- */

/* As much again as was allowed, so that the person is not asked at each request. */
static void
plan_raise(struct core *c, double projected)
{
    struct spend_limits limits;
    double spent = c->usage.cost_usd, day = 0;
    struct err ignored = {0};
    spend_limits(c, &limits);
    c->spend.raise_day = !(limits.session > 0 && spent + projected > limits.session);
    double limit = c->spend.raise_day ? limits.day : limits.session;
    if (c->spend.raise_day && spend_day_read(c->data_dir, &day, &ignored))
        spent = day;
    double least = spent + projected * 2;
    c->spend.raise_to = limit * 2 > least ? limit * 2 : least;
}

void
spend_ask(struct core *c, double projected, const struct err *why)
{
    struct decision d;
    plan_raise(c, projected);
    c->spend.open = true;
    c->spend.stopped = c->spend.raised = false;
    c->spend.asks++;
    decision_init(&d);
    d.verdict = VERDICT_ASK;
    d.liftable_by = LIFT_PERSON;
    decision_add(&d, "budget", VERDICT_ASK, NULL, NULL, "%s", why->text);
    struct event *e = event_new(EV_PERM_ASK);
    e->u.ask.id = ASK_ID + c->spend.asks;
    e->u.ask.tool_use_id = xasprintf("budget_%llu", (unsigned long long)c->spend.asks);
    e->u.ask.tool = xstrdup("Budget");
    char to[32];
    e->u.ask.what = xasprintf("raise the %s's budget to %s", c->spend.raise_day ? "day" : "session",
                              shown(to, sizeof to, c->spend.raise_to));
    e->u.ask.input = xasprintf("{\"budget\":\"%s\"}", e->u.ask.what);
    e->u.ask.rules_why = xstrdup("for longer: budget.session and budget.day in your settings");
    decision_copy(&e->u.ask.decision, &d);
    core_emit(c, e);
    decision_release(&d);
}

void
spend_close(struct core *c, bool allowed, const char *who)
{
    if (!c->spend.open)
        return;
    c->spend.open = false;
    struct event *e = event_new(EV_PERM_DECIDED);
    e->u.decided.ask_id = ASK_ID + c->spend.asks;
    e->u.decided.tool_use_id = xasprintf("budget_%llu", (unsigned long long)c->spend.asks);
    e->u.decided.tool = xstrdup("Budget");
    e->u.decided.what = xstrdup(allowed ? "the budget was raised" : "stopped at the budget");
    e->u.decided.who = xstrdup(who);
    e->u.decided.allowed = allowed;
    e->u.decided.decision.verdict = allowed ? VERDICT_ALLOW : VERDICT_DENY;
    core_emit(c, e);
}

bool
spend_answer(struct core *c, const struct op *op)
{
    if (!c->spend.open || op->perm.ask_id != ASK_ID + c->spend.asks)
        return false;
    c->spend.stopped = op->perm.answer == PERM_ANSWER_NO;
    c->spend.raised = !c->spend.stopped;
    if (c->spend.raised)
        *(c->spend.raise_day ? &c->spend.raised_day : &c->spend.raised_session) = c->spend.raise_to;
    return true;
}

/* ---- the command ---- */

static void
show(struct core *c)
{
    struct spend_limits limits;
    struct buf b;
    double day = 0;
    struct err err = {0};
    buf_init(&b, 1000);
    spend_limits(c, &limits);
    buf_adds(&b, "this session: ");
    usage_show_cost(&b, c->usage.cost_usd, c->usage.total.estimated);
    buf_adds(&b, c->usage.cost_usd < 0 ? ", so what was spent is not counted" : " spent");
    char of[32];
    if (limits.session > 0)
        buf_addf(&b, " of %s", shown(of, sizeof of, limits.session));
    if (!spend_day_read(c->data_dir, &day, &err)) {
        buf_addf(&b, "\ntoday: %s", err.text);
    } else {
        buf_adds(&b, "\ntoday, all sessions: ");
        usage_show_cost(&b, day, false);
    }
    if (limits.day > 0)
        buf_addf(&b, " of %s", shown(of, sizeof of, limits.day));
    buf_adds(&b, "\n/budget USD or /budget day USD sets one for this session, off lifts it; "
                 "budget.session and budget.day in your settings stay");
    core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
}

void
spend_command(struct core *c, struct str arg)
{
    bool day = str_is(arg, "day") || str_starts(arg, "day ");
    struct str rest = str_trim(day ? str_sub(arg, 3, arg.len) : arg);
    if (!rest.len) {
        show(c);
        return;
    }
    if (str_starts(rest, "$"))
        rest = str_sub(rest, 1, rest.len);
    char *text = str_dup(rest), *end;
    bool off = str_is(rest, "off");
    double usd = off ? -1 : strtod(text, &end);
    if (!off && (*end || !(usd > 0) || usd > 1e9)) {
        core_refuse(c, "'%.40s' is no amount: /budget 5, /budget day 20, /budget off", text);
    } else {
        *(day ? &c->spend.raised_day : &c->spend.raised_session) = usd;
        show(c);
        core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
    }
    free(text);
}
