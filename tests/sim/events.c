/* What the engine tells: counted, and remembered for what the person and the checks need. */
#include "sim/session.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world.h"

/* Of sim_tier_names: these leave what a person typed as it is. */
#define TIERS_THAT_KEEP_WORDS 6

static int
find_name(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static void
on_transition(const struct event *e)
{
    struct sim_report *r = sim->report;
    const char *name = e->u.transition.name;
    if (!e->u.transition.is_exit) {
        int t = find_name(sim_transition_names, SIM_TRANSITIONS, name);
        if (t < 0)
            sim_fail("a transition that loop.h does not name: %s", name);
        else
            r->transitions[t]++;
        return;
    }
    for (int x = 0; x < LOOP_EXIT_COUNT; x++)
        if (strcmp(loop_exit_name((enum loop_exit)x), name) == 0) {
            r->exits[x]++;
            return;
        }
    sim_fail("an exit that loop.h does not name: %s", name);
}

static unsigned
tag_of(const char *text)
{
    const char *at = strstr(text, "[m");
    return at ? (unsigned)strtoul(at + 2, NULL, 10) : 0;
}

static struct said *
find_said(unsigned tag)
{
    for (size_t i = sim->n_said; i > 0; i--)
        if (sim->said[i - 1].tag == tag)
            return &sim->said[i - 1];
    return NULL;
}

/* A new conversation: what was said before it is in the transcript alone. */
static void
on_session(const struct event *e)
{
    snprintf(sim->session, sizeof sim->session, "%s", e->u.session.id ? e->u.session.id : "");
    if (!e->u.session.cleared)
        return;
    for (size_t i = 0; i < sim->n_said; i++)
        sim->said[i].cleared |= sim->said[i].state == SAID_KEPT;
    for (size_t i = 0; i < sim->n_facts; i++)
        sim->report->facts_said -= sim->facts[i].said;
    sim->n_facts = 0;
    sim->server.used_ids_from = (unsigned)sim->server.n_ids;
}

/* A message that was acknowledged may hold several that were typed. */
static void
on_user(const struct event *e)
{
    const char *at = e->u.user.text;
    if (e->u.user.hidden || e->u.user.replayed)
        return;
    while ((at = strstr(at, "[m")) != NULL) {
        struct said *s = find_said(tag_of(at));
        if (s && s->state == SAID_SENT) {
            s->state = SAID_KEPT;
            sim->report->messages++;
        }
        at += 2;
    }
    sim->no_pins |= strncmp(e->u.user.text, "/pin", 4) == 0; /* it was taken for a prompt */
    for (size_t i = 0; i < sim->n_facts; i++)
        if (strstr(e->u.user.text, sim->facts[i].text) && !sim->facts[i].said) {
            sim->facts[i].said = true;
            sim->report->facts_said++;
        }
}

static void
on_compact(const struct event *e)
{
    int tier = find_name(sim_tier_names, SIM_TIERS, e->u.compact.tier);
    if (!*e->u.compact.tier) /* of a history that is shown again */
        return;
    if (tier < 0)
        sim_fail("a tier that has no name here: %s", e->u.compact.tier);
    sim->open_compacts += e->phase == PHASE_START ? 1 : e->phase == PHASE_END ? -1 : 0;
    if (e->phase == PHASE_START)
        sim_log("compact %s begins", e->u.compact.tier);
    if (e->phase != PHASE_END || tier < 0)
        return;
    sim_log("compact %s%s: %lld to %lld tokens", e->u.compact.tier,
            e->u.compact.failed ? " failed" : "", (long long)e->u.compact.before,
            (long long)e->u.compact.after);
    if (e->u.compact.failed) {
        sim->report->tiers_failed[tier]++;
        return;
    }
    sim->report->tiers[tier]++;
    if (tier < TIERS_THAT_KEEP_WORDS)
        return;
    for (size_t i = 0; i < sim->n_said; i++)
        sim->said[i].compacted |= sim->said[i].state == SAID_KEPT;
}

static void
on_result(const struct event *e)
{
    const char *exit = e->u.result.exit ? e->u.result.exit : "";
    bool aborted = strncmp(exit, "aborted", 7) == 0;
    sim->results++;
    snprintf(sim->last_exit, sizeof sim->last_exit, "%s", exit);
    if (sim->open_turns || sim->open_blocks || sim->open_tools)
        sim_fail("at the result something is open: %d turns, %d blocks, %d tools", sim->open_turns,
                 sim->open_blocks, sim->open_tools);
    for (size_t i = 0; aborted && i < sim->n_said; i++)
        if (sim->said[i].state == SAID_SENT)
            sim->said[i].state = SAID_FREED; /* its sender's again */
    if (sim->profile->no_summary &&
        (strcmp(exit, "blocking_limit") == 0 || strcmp(exit, "prompt_too_long") == 0))
        sim_fail("a turn ended with %s where extracts can make room", exit);
    if (sim->server.forcing) {
        sim->server.forcing = false;
        if (strcmp(exit, "completed") == 0)
            sim->report->recovered[sim->server.force]++;
    }
}

static void
on_ask(const struct event *e)
{
    if (sim->n_asks == ARRAY_LEN(sim->asks))
        return;
    unsigned how = world_pick(10);
    int64_t after = how < 6 ? 0 : how < 9 ? (int64_t)world_pick(600000) : -1;
    if (sim->server.calm)
        after = 0;
    sim->asks[sim->n_asks].id = e->u.ask.id;
    sim->asks[sim->n_asks++].due_ms = after < 0 ? INT64_MAX : world_now_ms() + after;
}

static void
count_open(const struct event *e)
{
    int step = e->phase == PHASE_START ? 1 : e->phase == PHASE_END ? -1 : 0;
    if (e->kind == EV_BLOCK && !e->u.block.replayed)
        sim->open_blocks += step;
    if (e->kind == EV_TOOL && !e->u.tool.replayed)
        sim->open_tools += step;
    if (e->kind == EV_TURN) {
        sim->open_turns += step;
        sim->report->rounds += step == 1;
    }
}

void
events_take(const struct event *e)
{
    count_open(e);
    switch (e->kind) {
    case EV_SESSION:
        on_session(e);
        break;
    case EV_USER:
        on_user(e);
        break;
    case EV_TRANSITION:
        on_transition(e);
        sim_log("%s%s", e->u.transition.is_exit ? "exit " : "", e->u.transition.name);
        break;
    case EV_COMPACT:
        on_compact(e);
        break;
    case EV_RESULT:
        on_result(e);
        break;
    case EV_PERM_ASK:
        on_ask(e);
        break;
    case EV_RETRY:
        sim->report->retries++;
        sim_log("retry in %lld ms: %s", (long long)e->u.retry.delay_ms, e->u.retry.err.text);
        break;
    case EV_NOTICE:
        sim_log("notice: %s", e->u.notice.text);
        sim->pin_told |= strncmp(e->u.notice.text, "pinned, ", 8) == 0;
        break;
    case EV_ERROR:
        sim_log("error: %s", e->u.error.err.text);
        break;
    case EV_TOOL:
        if (e->phase == PHASE_END)
            sim_log("tool %s %s %s", e->u.tool.id, e->u.tool.name,
                    tool_state_name(e->u.tool.state));
        break;
    case EV_CLOSED:
        sim->closed = true;
        break;
    default:
        break;
    }
}
