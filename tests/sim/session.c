/* One session from its project to its end: the engine is started, killed, resumed and stopped here. */
#include "sim/session.h"

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
            events_take(e);
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

/* ---- the course of a session ---- */

static void
one_prompt(bool calm)
{
    if (!person_prompts(calm))
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
    person_wait(false);
    one_prompt(true);
    if (sim->profile->strict && strcmp(sim->last_exit, "completed") != 0)
        sim_fail("the last, calm prompt ended with %s", sim->last_exit);
    person_wait(false);
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
    checks_end();
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
        person_between_prompts();
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
        person_between_prompts();
        one_prompt(false);
        probe(ret);
    }
    if (alive && ret->ok)
        calm_down();
    end();
}
