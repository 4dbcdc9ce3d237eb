/* The person of a simulated session, and what must hold whatever happens. */
#include "sim/sim.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "model/catalog.h"
#include "model/provider.h"
#include "sim/world.h"
#include "store/session.h"

/* Of the world's time. */
#define PATIENCE_MS ((int64_t)48 * 3600 * 1000)
#define QUIET_MS 7200000

/* Of sim_tier_names: these leave what a person typed as it is. */
#define TIERS_THAT_KEEP_WORDS 6

struct sim *sim;

#define X(id, name, ...) name,
const char *const sim_transition_names[SIM_TRANSITIONS] = {LOOP_TRANSITIONS(X)};
#undef X
const char *const sim_tier_names[SIM_TIERS] = {"budget",  "snip", "micro",  "collapse", "trim",
                                               "earlier", "auto", "person", "reactive"};

/* ---- what went wrong ---- */

void
sim_fail(const char *fmt, ...)
{
    va_list ap;
    char text[400];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sim_log("FAILED: %s", text);
    if (!sim->report->ok)
        return;
    sim->report->ok = false;
    memcpy(sim->report->why, text, sizeof text);
}

void
sim_log(const char *fmt, ...)
{
    if (!sim->verbose)
        return;
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "%9.3f  ", (double)world_now_ms() / 1000 - 1000);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void
sim_mix(struct str bytes)
{
    /* Folders differ from run to run, so the length stands for the bytes. */
    sim->report->outcome = sim->report->outcome * 1099511628211u + bytes.len + 1;
}

/* ---- the project ---- */

static void
write_project(void)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (unsigned f = 0; f < 8; f++) {
        char *path = xasprintf("%s/f%u.c", sim->root, f);
        buf_clear(&b);
        for (unsigned i = 0; i < 40; i++)
            buf_addf(&b, "int f%u_%u = 0;\n%s", f, i,
                     world_pick(3) ? "" : "/* what it is for */\n");
        FILE *out = fopen(path, "w");
        if (!out || fwrite(b.data, 1, b.len, out) != b.len)
            sim_fail("cannot write %s", path);
        if (out)
            fclose(out);
        free(path);
    }
    buf_release(&b);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static bool
make_folders(void)
{
    struct err err = {0};
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char name[9] = "aaaaaaaa"; /* letters only, so that it has as many tokens in every process */
    unsigned pid = (unsigned)getpid();
    for (int i = 0; i < 8; i++, pid /= 16)
        name[i] = (char)('a' + pid % 16);
    snprintf(sim->dir, sizeof sim->dir, "%s/yare-sim-%s", base, name);
    nftw(sim->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS); /* of a process that crashed */
    sim->root = fs_join(sim->dir, "root");
    sim->data = fs_join(sim->dir, "data");
    sim->config = fs_join(sim->dir, "config");
    if (!fs_mkdirs(sim->root, 0755, &err))
        return false;
    write_project();
    return true;
}

/* ---- events ---- */

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

static void
on_event(const struct event *e)
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

/* ---- what the person does ---- */

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

/* Until nothing happens any more: each submit has its result, and what was typed meanwhile its turn. The person does things, and may
 * see the program die (true). */
static bool
wait_until_quiet(bool may_die)
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
        on_event(e);
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

/* ---- lives ---- */

static bool
start(const char *resume)
{
    struct err err = {0};
    const struct anthropic_config c = {.base_url = "http://sim", .api_key = "sk-sim"};
    sim->cfg.take_provider = anthropic_provider_new(&c);
    sim->cfg.resume_id = resume;
    sim->closed = false;
    sim->results = sim->results_due = 0;
    sim->n_asks = 0;
    sim->open_blocks = sim->open_tools = sim->open_turns = sim->open_compacts = 0;
    sim->e = engine_start(&sim->cfg, &err);
    if (!sim->e) {
        sim_fail("engine_start: %s", err.text);
        return false;
    }
    snprintf(sim->session, sizeof sim->session, "%s", engine_session_id(sim->e));
    return true;
}

static void
stop(void)
{
    if (!sim->e)
        return;
    engine_stop(sim->e);
    struct event *e;
    while (!sim->closed && (e = engine_next_event(sim->e, 3600000)) != NULL) {
        if (!sim->dying)
            on_event(e);
        event_free(e);
    }
    if (!sim->dying &&
        (sim->open_blocks || sim->open_tools || sim->open_turns || sim->open_compacts))
        sim_fail("at the end something is open: %d blocks, %d tools, %d turns, %d compactions",
                 sim->open_blocks, sim->open_tools, sim->open_turns, sim->open_compacts);
    engine_free(sim->e);
    sim->e = NULL;
}

static char *
journal_path(void)
{
    struct session_paths p;
    session_paths_make(sim->data, sim->root, sim->session, &p);
    char *path = xstrdup(p.journal);
    session_paths_release(&p);
    return path;
}

/* The process is gone: what the journal held at this moment is there, perhaps with a torn end of what was not synced. */
static void
die_and_resume(void)
{
    char *path = journal_path();
    struct buf was;
    struct err err = {0};
    buf_init(&was, BUF_MAX);
    bool has = fs_read(path, BUF_MAX, &was, &err);
    size_t synced = has ? disk_synced(path) : 0;
    size_t keep =
        was.len > synced ? synced + world_pick((unsigned)(was.len - synced) + 1) : was.len;
    sim_log("killed: %zu of %zu bytes stay", keep, was.len);
    sim->report->kills++;
    sim->server.used_ids_from =
        (unsigned)sim->server.n_ids; /* what was never on disk cannot be known */
    sim->dying = true;
    stop();
    sim->dying = false;
    for (size_t i = 0; i < sim->n_said; i++)
        if (sim->said[i].state == SAID_SENT)
            sim->said[i].state = SAID_DROPPED; /* never acknowledged */
    if (!has || keep < 200) {                  /* not one message was on disk */
        start(NULL);
    } else {
        FILE *f = fopen(path, "w");
        if (!f || fwrite(was.data, 1, keep, f) != keep)
            sim_fail("cannot write %s", path);
        if (f)
            fclose(f);
        disk_note(path);
        char id[40];
        memcpy(id, sim->session, sizeof id);
        sim->report->resumes += start(id);
    }
    buf_release(&was);
    free(path);
}

/* ---- checks ---- */

static bool
must_stand(const struct said *s)
{
    return s->state == SAID_KEPT && !s->compacted && !s->cleared;
}

void
session_check_request(const struct view *v)
{
    struct str all = buf_str(&v->body);
    size_t from = sim->n_said > 400 ? sim->n_said - 400 : 0;
    for (size_t i = from; i < sim->n_said; i++)
        if (must_stand(&sim->said[i]) && !view_has_tag(v, sim->said[i].tag))
            sim_fail("request %u lacks the person's message m%u", sim->server.n_requests,
                     sim->said[i].tag);
    for (size_t i = 0; i < sim->n_facts; i++) {
        const struct fact *f = &sim->facts[i];
        if (!f->said)
            continue;
        bool there = str_contains(all, str_from(f->text));
        sim->report->checks++;
        if (f->pinned && !there)
            sim_fail("request %u lacks what was pinned: %s", sim->server.n_requests, f->text);
    }
}

static struct buf journals;

static int
add_file(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    struct err err = {0};
    if (kind == FTW_F && str_ends(str_from(path), ".jsonl"))
        if (!fs_read(path, BUF_MAX, &journals, &err))
            sim_fail("%s", err.text);
    return 0;
}

/* Whatever was acknowledged stands in a journal. */
static void
check_journals(void)
{
    buf_init(&journals, BUF_MAX);
    nftw(sim->data, add_file, 16, FTW_PHYS);
    for (size_t i = 0; i < sim->n_said; i++) {
        char mark[16];
        snprintf(mark, sizeof mark, "[m%u]", sim->said[i].tag);
        if (sim->said[i].state == SAID_KEPT && !str_contains(buf_str(&journals), str_from(mark)))
            sim_fail("the person's message m%u is in no journal", sim->said[i].tag);
    }
    buf_release(&journals);
}

static void
check_end(void)
{
    for (size_t i = 0; i < sim->n_said; i++)
        if (sim->said[i].state == SAID_SENT)
            sim_fail("the person's message m%u was never acknowledged", sim->said[i].tag);
    if (!sim->profile->quiet_disk)
        check_journals();
    for (size_t i = 0; i < sim->n_facts; i++) {
        const struct fact *f = &sim->facts[i];
        bool there = str_contains(buf_str(&sim->server.last.body), str_from(f->text));
        sim->report->facts_kept += f->said && there;
        sim->report->pins_said += f->pinned;
        sim->report->pins_kept += f->pinned && there;
    }
}

/* ---- the course of a session ---- */

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
    wait_until_quiet(false);
    sim->at_rest = false;
}

static void
pin(struct fact *f)
{
    char line[200];
    snprintf(line, sizeof line, "/pin %s", f->text);
    command(line);
    f->pinned = !sim->no_pins;
    if (f->pinned) {
        sim->report->facts_said += !f->said;
        f->said = true;
        sim->report->pins++;
    }
}

static void
between_prompts(void)
{
    const struct sim_profile *p = sim->profile;
    if (world_chance(p->pins) && !sim->no_pins) {
        struct fact *f = said_fact();
        if (!f && world_chance(p->new_pins))
            f = new_fact();
        if (f)
            pin(f);
    }
    if (world_chance(p->compacts)) {
        command(world_pick(2) ? "/compact keep the file names" : "/compact");
    }
    if (world_chance(p->clears))
        command("/clear");
    if (world_chance(p->modes)) {
        set_mode();
        wait_until_quiet(false);
    }
    if (world_chance(p->modes)) {
        post(OP_SET_MODEL, world_pick(2) ? "claude-opus-4-5" : "claude-sonnet-4-5");
        wait_until_quiet(false);
    }
}

static void
one_prompt(bool calm)
{
    const struct sim_profile *p = sim->profile;
    bool says = !calm && sim->n_facts < p->facts && world_pick(2);
    struct fact *f = says ? new_fact() : NULL;
    submit(f ? f->text : "");
    bool may_die = !calm && world_chance(p->kills);
    if (!wait_until_quiet(may_die))
        return;
    die_and_resume();
    sim->results_due = sim->results = 0;
}

static void
calm_down(void)
{
    sim->server.calm = true;
    sim->server.storm = sim->server.cuts = 0;
    sim->server.once_refused = false;
    wait_until_quiet(false);
    one_prompt(true);
    if (sim->profile->strict && strcmp(sim->last_exit, "completed") != 0)
        sim_fail("the last, calm prompt ended with %s", sim->last_exit);
    wait_until_quiet(false);
}

static void
set_up(const struct sim_profile *p)
{
    sim->profile = p;
    sim->server.window = p->window ? p->window : 16000 + (int64_t)world_pick(44000);
    sim->server.max_bytes = (size_t)32 << 20;
    sim->server.force = (enum sim_force)world_pick(FORCE_COUNT);
    sim->server.force_at = p->force_too_long ? 3 + world_pick(30) : 0;
    sim->seams = sim_seams;
    sim->cfg = (struct engine_config){
        .model = "claude-sonnet-4-5",
        .cwd = sim->root,
        .root = sim->root,
        .home = sim->dir,
        .config_dir = sim->config,
        .data_dir = sim->data,
        .system_prompt =
            "You are a coding agent in a simulation. Do the task, keep to what the person said.",
        .interactive = true,
        .trusted = true,
        .max_retries = 10,
        .max_tokens = 4000,
        .context_window = sim->server.window,
        .seams = &sim->seams,
    };
    if (world_chance(p->caps))
        sim->cfg.max_turns = 2 + (int)world_pick(3);
    if (world_chance(p->caps)) /* nothing makes room: the limit blocks */
        sim->cfg.cli_settings = "{\"autoCompactEnabled\":false}";
    if (world_chance(p->caps))
        sim->cfg.max_budget_usd = 0.01 * (1 + (int)world_pick(10));
}

static void
tear_down(void)
{
    view_release(&sim->server.last);
    nftw(sim->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; i < sim->n_ran; i++)
        free(sim->ran[i]);
    free(sim->ran);
    free(sim->said);
    free(sim->server.ids);
    free(sim->root);
    free(sim->data);
    free(sim->config);
}

static void
begin(struct sim *s, const struct sim_profile *p, uint64_t seed, bool verbose,
      struct sim_report *ret)
{
    *ret = (struct sim_report){.seed = seed, .ok = true};
    sim = s;
    sim->report = ret;
    sim->verbose = verbose;
    world_begin(seed);
    if (!make_folders())
        sim_fail("cannot make a folder in %s", sim->dir);
    set_up(p);
}

static void
end(void)
{
    stop();
    check_end();
    sim->report->virtual_ms = world_now_ms() - 1000000;
    sim->report->steps = world_steps();
    int left = world_end();
    if (left)
        sim_fail("%d threads were left behind", left);
    tear_down();
    sim = NULL;
}

void
session_run(const struct sim_profile *p, uint64_t seed, bool log, const char *bodies,
            struct sim_report *ret)
{
    struct sim s = {0};
    begin(&s, p, seed, log, ret);
    s.bodies = bodies ? fopen(bodies, "w") : NULL;
    unsigned n = p->prompts_min + world_pick(p->prompts_max - p->prompts_min + 1);
    bool alive = ret->ok && start(NULL);
    for (unsigned i = 0; alive && i < n && sim->e && !ret->stuck; i++) {
        between_prompts();
        one_prompt(false);
    }
    if (alive && sim->e && !ret->stuck)
        calm_down();
    FILE *f = s.bodies;
    end();
    if (f)
        fclose(f);
}

void
session_long(const struct sim_profile *p, uint64_t seed, unsigned rounds, session_probe probe,
             struct sim_report *ret)
{
    struct sim s = {0};
    begin(&s, p, seed, false, ret);
    bool alive = ret->ok && start(NULL);
    while (alive && ret->rounds < rounds && ret->ok) {
        between_prompts();
        one_prompt(false);
        probe(ret);
    }
    if (alive && ret->ok)
        calm_down();
    end();
}
