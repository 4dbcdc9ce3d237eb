/* What a worker gets of a call: everything it needs is copied or referenced, so that it never touches the core. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/executor_call.h"
#include "perm/confinement.h"
#include "perm/read_filter.h"

static void
report_progress(void *user, struct str last_line, int64_t bytes)
{
    struct job *j = user;
    struct event *e = event_new(EV_TOOL);
    e->phase = PHASE_DELTA;
    e->place = j->place;
    e->u.tool.id = xstrdup(j->ctx.tool_use_id);
    e->u.tool.name = xstrdup(j->tool->name);
    e->u.tool.state = TOOL_RUNNING;
    e->u.tool.output = str_dup(str_sub(last_line, 0, 4096));
    e->u.tool.bytes = bytes;
    e->u.tool.elapsed_ms = clock_mono_ms() - j->started_ms;
    /* Progress never holds a tool up: where the reader is behind, this line is left out. */
    if (!queue_try_push(j->out, e))
        event_free(e);
}

static char *
get_variable(void *user, const char *name)
{
    struct job *j = user;
    if (!j->store)
        return NULL;
    char *key = xasprintf("var:%s:%s", j->ctx.session_id, name);
    struct buf value;
    uint64_t version = 0;
    struct err err = {0};
    buf_init(&value, BUF_MAX);
    char *out = NULL;
    if (!store_get(j->store, key, &value, &version, &err))
        log_warn("executor", "%s", err.text);
    else if (version)
        out = buf_take(&value);
    buf_release(&value);
    free(key);
    return out;
}

static const char *
own(struct job *j, size_t i, const char *s)
{
    return j->strings[i] = xstrdup(s);
}

static bool
may_read(void *user, const char *path)
{
    const struct job *j = user;
    return read_filter_allows(j->filter, path);
}

/* The rules as they are when the search begins. Who said yes to this very call lifted the ask rules from it. */
static void
set_filter(struct executor *x, const struct call *c, struct job *j)
{
    j->filter = read_filter_new(permit_rules(x->core->permit), j->ctx.root, j->ctx.cwd,
                                x->core->original_cwd, j->ctx.home, !c->yes);
    if (!j->filter)
        return;
    j->ctx.may_read = may_read;
    j->ctx.kept_by = read_filter_told(j->filter);
}

struct job *
call_make_job(struct executor *x, struct call *c)
{
    const struct core *core = x->core;
    struct job *j = job_new();
    j->place = x->place;
    j->tool = c->tool;
    j->input = xstrdup(c->input);
    j->out = core->out;
    j->store = core->store;
    j->ctx = (struct tool_ctx){
        .session_id = own(j, 0, core->session_id),
        .tool_use_id = own(j, 1, c->id),
        .root = own(j, 2, core->root),
        .cwd = own(j, 3, core->cwd),
        .home = own(j, 4, core->home),
        .spill_dir = own(j, 5, core->paths.spill),
        .child_env = (const char *const *)core->child_env,
        .files = file_state_ref(core->files),
        .confinement = confinement_ref(c->confinement),
        .cancel = cancel_ref(c->cancel),
        .background = cancel_ref(c->background),
        .tasks = core->tasks,
        .may_outlive = call_may_outlive(x, c),
        .progress = report_progress,
        .get_variable = get_variable,
        .user = j,
        .host = core->seams.tool_host,
    };
    j->judged = judged_take(&x->core->judged, c->id);
    j->ctx.judged = (const char *const *)j->judged;
    set_filter(x, c, j);
    return j;
}
