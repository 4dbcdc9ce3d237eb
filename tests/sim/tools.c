/* The tools of a simulated session: Read, Edit, Write and Grep are the real ones, in a small project of the session's own; Bash is played
 * ("# size=N ms=N fail"), its time is the world's. Each run is counted by its id. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "perm/chain.h"
#include "sim/session.h"
#include "sim/world.h"
#include "tools/tool.h"

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

static void
note_run(const struct tool_ctx *ctx)
{
    for (size_t i = 0; i < sim->n_ran; i++)
        if (strcmp(sim->ran[i], ctx->tool_use_id) == 0)
            sim_fail("the call %s ran twice", ctx->tool_use_id);
    ARRAY_GROW(sim->ran, sim->n_ran, sim->cap_ran);
    sim->ran[sim->n_ran++] = xstrdup(ctx->tool_use_id);
    if (sim->n_ran > 4096) { /* a long session: the newest half is enough */
        for (size_t i = 0; i < 2048; i++)
            free(sim->ran[i]);
        memmove(sim->ran, sim->ran + 2048, (sim->n_ran - 2048) * sizeof *sim->ran);
        sim->n_ran -= 2048;
    }
    sim->report->calls++;
}

#define REAL(name)                                                                                 \
    static void run_##name(struct tool_ctx *ctx, const struct cJSON *input,                        \
                           struct tool_result *ret)                                                \
    {                                                                                              \
        note_run(ctx);                                                                             \
        tool_find(STR(#name))->run(ctx, input, ret);                                               \
    }
REAL(Read)
REAL(Edit)
REAL(Write)
REAL(Grep)

static long
parameter(const char *command, const char *name)
{
    const char *at = strstr(command, name);
    return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

static void
run_Bash(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    const char *command = json_cstr(input, "command", "");
    note_run(ctx);
    long ms = parameter(command, "ms="), size = parameter(command, "size=");
    struct pollfd p = {.fd = cancel_fd(ctx->cancel), .events = POLLIN};
    if (ms > 0 && __wrap_poll(&p, 1, (int)ms) > 0) {
        tool_result_fail(ret, "interrupted");
        return;
    }
    buf_addf(&ret->text, "$ %s\n", command);
    for (long i = 0; (long)ret->text.len < size; i++)
        buf_addf(&ret->text, "line %ld of the output: test_%ld passed in %ld ms\n", i, i * 7 % 900,
                 i * 13 % 70);
    if (strstr(command, "fail")) {
        ret->is_error = true;
        buf_adds(&ret->text, "error: 1 of 9 tests failed: expected 3, got 4 at f2.c:17\n");
    }
}

static void
describe_bash(const struct cJSON *input, const char *cwd, struct buf *out)
{
    (void)cwd;
    buf_adds(out, json_cstr(input, "command", "?"));
}

#define BASH_SCHEMA                                                                                \
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"}},\"required\":["       \
    "\"command\"]}"

static struct tool rows[] = {
    {.name = "Read", .run = run_Read},
    {.name = "Edit", .run = run_Edit},
    {.name = "Write", .run = run_Write},
    {.name = "Grep", .run = run_Grep},
    {"Bash", NULL, TOOL_SHELL | TOOL_DESTRUCTIVE, "Runs a command.", BASH_SCHEMA, NULL, run_Bash,
     describe_bash, NULL, NULL},
};

/* Everything else of a real tool's row stands. Before the first engine starts. */
static void
fill_rows(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct tool *real = tool_find(str_from(rows[i].name));
        if (rows[i].schema)
            continue;
        void (*run)(struct tool_ctx *, const struct cJSON *, struct tool_result *) = rows[i].run;
        rows[i] = *real;
        rows[i].run = run;
        rows[i].description = "Works on files.";
    }
}

static const struct tool *
find(struct str name)
{
    fill_rows();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

static void
schema(const char *const *denied, struct buf *out)
{
    (void)denied;
    fill_rows();
    buf_addc(out, '[');
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (i)
            buf_addc(out, ',');
        tool_schema_write(&rows[i], out);
    }
    buf_addc(out, ']');
}

static void
check(const struct perm_request *req, struct decision *ret)
{
    const struct sim_profile *p = sim->profile;
    unsigned at = world_pick(1000);
    decision_init(ret);
    bool deny = at < p->denies;
    bool ask = !deny && at < p->denies + p->asks && req->mode != PERM_BYPASS;
    enum verdict v = deny ? VERDICT_DENY : ask ? VERDICT_ASK : VERDICT_ALLOW;
    ret->liftable_by = ask ? LIFT_PERSON : LIFT_NONE;
    decision_add(ret, "rules", v, NULL, NULL, "the seed says %s", verdict_name(v));
    ret->verdict = v;
}

static bool
read_only(const struct perm_request *req)
{
    return strncmp(json_cstr(req->input, "command", ""), "ls", 2) == 0;
}

static size_t
suggest(const struct perm_request *req, char *ret_rules[5], const char **ret_why)
{
    (void)req;
    (void)ret_rules;
    *ret_why = "nothing is saved here";
    return 0;
}

static enum stop_hook_answer
stop_hook(void *user, const char *last_text, bool active, char **ret_reason)
{
    (void)user;
    (void)last_text;
    unsigned at = world_pick(1000);
    if (active || sim->server.calm || at >= sim->profile->hooks)
        return STOP_HOOK_PASS;
    if (at % 4 == 0)
        return STOP_HOOK_PREVENT;
    *ret_reason = xstrdup("The tests were not run yet.");
    return STOP_HOOK_GO_ON;
}

const struct engine_seams sim_seams = {
    .stop_hook = stop_hook,
    .tool_find = find,
    .tools_schema = schema,
    .perm_check = check,
    .bash_read_only = read_only,
    .perm_suggest = suggest,
};
