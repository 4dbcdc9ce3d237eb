#include "fakes/toys.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/json.h"
#include "perm/chain.h"
#include "tools/filestate.h"
#include "tools/tool.h"

#define GATES 32

static int gates[GATES];
static atomic_int runs, inside;
static bool made;

void
toys_reset(void)
{
    for (size_t i = 0; i < GATES; i++) {
        if (made)
            close(gates[i]);
        gates[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    made = true;
    atomic_store(&runs, 0);
}

void
toys_open(int gate)
{
    uint64_t one = 1;
    ssize_t n = write(gates[gate], &one, sizeof one);
    (void)n;
}

void
toys_wait_until_idle(void)
{
    while (atomic_load(&inside) > 0)
        poll(NULL, 0, 1);
}

int
toys_runs(void)
{
    return atomic_load(&runs);
}

/* ---- tools ---- */

/* False: the token fired first. A deaf tool does not look at its token. */
static bool
pass_gate(struct tool_ctx *ctx, const struct cJSON *input)
{
    int gate = (int)json_int(input, "gate", -1);
    if (gate < 0)
        return cancel_fired(ctx->cancel) == CANCEL_NONE;
    bool deaf = json_bool(input, "deaf", false);
    struct pollfd p[2] = {{.fd = gates[gate], .events = POLLIN},
                          {.fd = deaf ? -1 : cancel_fd(ctx->cancel), .events = POLLIN}};
    while (poll(p, 2, -1) < 0)
        ;
    return !(p[1].revents & POLLIN);
}

static void
run_any(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    atomic_fetch_add(&runs, 1);
    atomic_fetch_add(&inside, 1);
    ctx->progress(ctx->user, STR("working"), 7);
    if (!pass_gate(ctx, input)) {
        tool_result_fail(ret, "partial output");
        atomic_fetch_sub(&inside, 1);
        return;
    }
    int64_t size = json_int(input, "size", 0);
    for (int64_t i = 0; i < size; i++)
        buf_addc(&ret->text, 'x');
    if (!size)
        buf_addf(&ret->text, "done %s in %s", json_cstr(input, "name", "?"), ctx->cwd);
    buf_addf(&ret->data, "{\"name\":\"%s\"}", json_cstr(input, "name", "?"));
    if (json_bool(input, "notes", false))
        file_state_note(ctx->files, "/toy", 1, STR("seen"));
    atomic_fetch_sub(&inside, 1);
}

/* "fail": an error; "nothing": a benign one; "quiet" in it: always the same answer; "cd PATH": changes the folder. */
static void
run_bash(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    const char *command = json_cstr(input, "command", "");
    atomic_fetch_add(&runs, 1);
    if (!pass_gate(ctx, input)) {
        tool_result_fail(ret, "partial output");
    } else if (strcmp(command, "fail") == 0) {
        tool_result_fail(ret, "exit 1");
    } else if (strcmp(command, "nothing") == 0) {
        ret->benign = true;
        buf_adds(&ret->text, "exit 1, nothing found");
    } else if (strstr(command, "quiet")) {
        buf_adds(&ret->text, "ran");
    } else {
        if (strncmp(command, "cd ", 3) == 0)
            ret->new_cwd = xstrdup(command + 3);
        buf_addf(&ret->text, "ran %s in %s", command, ctx->cwd);
    }
}

static void
describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    (void)cwd;
    buf_adds(out, json_cstr(input, "command", json_cstr(input, "name", "?")));
}

/* A toy called "unread" cannot be edited. */
static bool
precheck(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *ret_why)
{
    (void)ctx;
    if (strcmp(json_cstr(input, "name", ""), "unread") != 0)
        return true;
    buf_adds(ret_why, "read it first");
    return false;
}

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"command\":{\"type\":"   \
    "\"string\"},"                                                                                 \
    "\"gate\":{\"type\":\"integer\"},\"deaf\":{\"type\":\"boolean\"},\"size\":{\"type\":"          \
    "\"integer\"},"                                                                                \
    "\"notes\":{\"type\":\"boolean\"},\"perm\":{\"type\":\"string\"},\"file_path\":{\"type\":"     \
    "\"string\"}},"                                                                                \
    "\"additionalProperties\":false}"

static const struct tool toys[] = {
    {"Read", NULL, TOOL_READ_ONLY | TOOL_CONCURRENCY_SAFE, "reads", SCHEMA, NULL, run_any, describe,
     NULL, NULL},
    {"Edit", NULL, TOOL_DESTRUCTIVE, "edits", SCHEMA, NULL, run_any, describe, NULL, precheck},
    {"Bash", NULL, TOOL_SHELL, "runs", SCHEMA, NULL, run_bash, describe, NULL, NULL},
};

static const struct tool *
find(struct str name)
{
    for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++)
        if (str_is(name, toys[i].name))
            return &toys[i];
    return NULL;
}

static void
schema(const char *const *denied, struct buf *out)
{
    (void)denied;
    buf_adds(out, "[{\"name\":\"Read\"},{\"name\":\"Edit\"},{\"name\":\"Bash\"}]");
}

/* ---- permissions ---- */

static bool
has_rule(const struct perm_request *req, enum verdict list)
{
    for (size_t i = 0; i < req->rules->n; i++) {
        const struct perm_rule *r = &req->rules->rules[i];
        if (r->verdict == list && strcmp(r->tool, req->tool) == 0)
            return true;
    }
    return false;
}

static void
check(const struct perm_request *req, struct decision *ret)
{
    decision_init(ret);
    const char *perm = json_cstr(req->input, "perm", "allow");
    bool deny = strcmp(perm, "deny") == 0 || has_rule(req, VERDICT_DENY);
    bool ask =
        strcmp(perm, "ask") == 0 && !has_rule(req, VERDICT_ALLOW) && req->mode != PERM_BYPASS;
    ret->verdict = deny ? VERDICT_DENY : ask ? VERDICT_ASK : VERDICT_ALLOW;
    ret->liftable_by = ask && !deny ? LIFT_PERSON : LIFT_NONE;
    enum verdict v = ret->verdict;
    decision_add(ret, "rules", v, NULL, NULL, "the test says %s", verdict_name(v));
    ret->verdict = v;
}

/* "ls" overlaps, nothing else does. */
static bool
read_only(const struct perm_request *req)
{
    return strcmp(json_cstr(req->input, "command", ""), "ls") == 0;
}

static size_t
suggest(const struct perm_request *req, char *ret_rules[5], const char **ret_why)
{
    *ret_why = NULL;
    ret_rules[0] = xasprintf("%s(*)", req->tool);
    return 1;
}

const struct engine_seams toys_seams = {
    .tool_find = find,
    .tools_schema = schema,
    .perm_check = check,
    .bash_read_only = read_only,
    .perm_suggest = suggest,
    .retry_base_ms = 1,
    .kill_wait_ms = 10000,
};
