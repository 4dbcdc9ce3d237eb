/* What the person of a session does: prompts, words typed meanwhile, answers, commands, and waiting. */
#include "sim/session.h"

#include <stdio.h>
#include <string.h>

#include "sim/world.h"

/* Of the world's time. */
#define PATIENCE_MS ((int64_t)48 * 3600 * 1000)
#define QUIET_MS 7200000

static void
post(enum op_kind kind, const char *text)
{
    sim_log("op %d %s", (int)kind, text ? text : "");
    engine_post(sim->e, op_new(kind, text));
}

static struct said *
new_said(bool steer)
{
    ARRAY_GROW(sim->said, sim->n_said, sim->cap_said);
    struct said *s = &sim->said[sim->n_said];
    *s = (struct said){.tag = (unsigned)sim->n_said + 1, .steer = steer};
    sim->n_said++;
    return s;
}

static void
submit(const char *extra)
{
    const struct said *s = new_said(false);
    char text[400];
    snprintf(text, sizeof text, "[m%u] please look at f%u.c and make the tests pass%s%s", s->tag,
             world_pick(8), *extra ? ". " : "", extra);
    sim->results_due++;
    sim->report->submits++;
    post(OP_SUBMIT, text);
}

static void
steer(void)
{
    const struct said *s = new_said(true);
    char text[100];
    snprintf(text, sizeof text, "[m%u] and keep it short", s->tag);
    post(OP_STEER, text);
}

static void
answer_asks(void)
{
    for (size_t i = 0; i < sim->n_asks;) {
        if (sim->asks[i].due_ms > world_now_ms()) {
            i++;
            continue;
        }
        struct op *op = op_new(OP_PERM_ANSWER, NULL);
        op->perm.ask_id = sim->asks[i].id;
        op->perm.answer = world_pick(4) ? PERM_ANSWER_ONCE : PERM_ANSWER_NO;
        op->perm.reason = world_pick(2) ? xstrdup("not like this") : NULL;
        engine_post(sim->e, op);
        sim->asks[i] = sim->asks[--sim->n_asks];
    }
}

static void
set_mode(void)
{
    static const enum perm_mode modes[] = {PERM_DEFAULT, PERM_ACCEPT_EDITS, PERM_PLAN};
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = modes[world_pick(ARRAY_LEN(modes))];
    engine_post(sim->e, op);
}

static void
interrupt(void)
{
    sim_log("interrupt");
    engine_cancel(sim->e, CANCEL_USER);
}

static void
disturb(const struct event *e)
{
    switch (world_pick(7)) {
    case 0:
        interrupt();
        break;
    case 1:
    case 2:
        steer();
        break;
    case 3:
        if (e->kind == EV_TOOL)
            post(OP_STOP_TOOL, e->u.tool.id);
        break;
    case 4:
        set_mode();
        break;
    case 5:
        submit("");
        break;
    default:
        post(OP_COMMAND, world_pick(2) ? "/context" : "/cost");
        break;
    }
}

/* ---- waiting ---- */

static int
next_wait_ms(void)
{
    int64_t until = world_now_ms() + QUIET_MS;
    for (size_t i = 0; i < sim->n_asks; i++)
        if (sim->asks[i].due_ms < until)
            until = sim->asks[i].due_ms;
    int64_t left = until - world_now_ms();
    return left > 0 ? (int)left : 0;
}

/* Nothing has happened for so long that nothing will. False: the person did something about it. */
static bool
is_over(void)
{
    if (sim->n_asks) { /* an answer that nobody will give */
        sim->n_asks = 0;
        interrupt();
        return false;
    }
    if (sim->results < sim->results_due) {
        sim_fail("a prompt has no result, and nothing happens any more");
        sim->report->stuck = true;
    }
    return true;
}

bool
person_wait(bool may_die)
{
    int64_t began = world_now_ms(), last = began;
    bool busy = !sim->server.calm && !sim->at_rest;
    while (!sim->closed) {
        answer_asks();
        struct event *e = engine_next_event(sim->e, next_wait_ms());
        if (!e) {
            if (world_now_ms() - last >= QUIET_MS && is_over())
                return false;
            continue;
        }
        last = world_now_ms();
        events_take(e);
        bool over = e->kind == EV_RESULT;
        if (!over && busy && world_chance(sim->profile->trouble))
            disturb(e);
        event_free(e);
        if (may_die && !over && world_pick(40) == 0)
            return true;
        if (last - began > PATIENCE_MS) {
            sim_fail("a prompt takes more than two days");
            sim->report->stuck = true;
            return false;
        }
    }
    sim_fail("the engine closed by itself");
    return false;
}

/* ---- between prompts ---- */

static struct fact *
new_fact(void)
{
    static const char *const whats[] = {
        "the API must stay source compatible", "never touch the lock file",
        "errors are told in lower case", "the port is", "tests run under valgrind"};
    if (sim->n_facts == FACTS_MAX)
        return NULL;
    struct fact *f = &sim->facts[sim->n_facts++];
    *f = (struct fact){0};
    snprintf(f->text, sizeof f->text, "fact %zu: %s #%u", sim->n_facts,
             whats[world_pick(ARRAY_LEN(whats))], world_pick(90000) + 1000);
    return f;
}

/* One that stands in the conversation and is not pinned yet. */
static struct fact *
said_fact(void)
{
    for (size_t i = 0; i < sim->n_facts; i++)
        if (sim->facts[i].said && !sim->facts[i].pinned &&
            str_contains(buf_str(&sim->server.last.body), str_from(sim->facts[i].text)))
            return &sim->facts[i];
    return NULL;
}

/* A command between two prompts; it is over when this is. */
static void
command(const char *line)
{
    sim->results_due++;
    post(OP_SUBMIT, line);
    sim->at_rest = true;
    person_wait(false);
    sim->at_rest = false;
}

static void
pin(struct fact *f)
{
    char line[200];
    snprintf(line, sizeof line, "/pin %s", f->text);
    sim->pin_told = false;
    command(line);
    f->pinned = !sim->no_pins;
    if (f->pinned && !sim->pin_told)
        sim_fail("nothing says that it was pinned: %s", f->text);
    if (f->pinned) {
        f->pinned_at = sim->report->requests;
        sim->report->facts_said += !f->said;
        f->said = true;
        sim->report->pins++;
    }
}

void
person_between_prompts(void)
{
    const struct sim_profile *p = sim->profile;
    if (world_chance(p->pins) && !sim->no_pins) {
        struct fact *f = said_fact();
        if (!f && world_chance(p->new_pins))
            f = new_fact();
        if (f)
            pin(f);
    }
    if (world_chance(p->compacts))
        command(world_pick(2) ? "/compact keep the file names" : "/compact");
    if (world_chance(p->clears))
        command("/clear");
    if (world_chance(p->modes)) {
        set_mode();
        person_wait(false);
    }
    if (world_chance(p->modes)) {
        post(OP_SET_MODEL, world_pick(2) ? "claude-opus-4-5" : "claude-sonnet-4-5");
        person_wait(false);
    }
}

bool
person_prompts(bool calm)
{
    const struct sim_profile *p = sim->profile;
    bool says = !calm && sim->n_facts < p->facts && world_pick(2);
    struct fact *f = says ? new_fact() : NULL;
    submit(f ? f->text : "");
    bool may_die = !calm && world_chance(p->kills);
    return person_wait(may_die);
}
