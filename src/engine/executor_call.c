#include "engine/executor_call.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/record.h"
#include "engine/permit_sandbox.h"
#include "engine/query_log.h"
#include "engine/tasks.h"
#include "perm/confinement.h"

#define SHOWN_MAX ((size_t)64 << 10)

bool
call_is_open(const struct call *c)
{
    return c->state == TOOL_WAITING || call_is_parked(c) || c->state == TOOL_RUNNING;
}

bool
call_is_parked(const struct call *c)
{
    return c->state == TOOL_ASKING || c->state == TOOL_JUDGING;
}

void
call_release(struct call *c)
{
    free(c->id);
    free(c->name);
    free(c->input);
    json_free(c->tree);
    cancel_free(c->cancel);
    cancel_free(c->background);
    confinement_unref(c->confinement);
    tool_result_release(&c->result);
}

struct permit_call
call_permit(const struct executor *x, const struct call *c)
{
    return (struct permit_call){
        .id = c->id,
        .tool = c->tool,
        .input = c->tree,
        .raw = str_from(c->input),
        .person = x->person,
    };
}

/* ---- events ---- */

static struct event *
tool_event(const struct executor *x, const struct call *c, enum event_phase phase)
{
    struct event *e = event_new(EV_TOOL);
    e->place = x->place;
    e->phase = phase;
    e->u.tool.id = xstrdup(c->id);
    e->u.tool.name = xstrdup(c->tool ? c->tool->name : c->name);
    e->u.tool.state = c->state;
    return e;
}

static void
emit_start(struct executor *x, const struct call *c)
{
    struct event *e = tool_event(x, c, PHASE_START);
    e->u.tool.what = tool_describe(c->tool, c->tree, x->core->cwd);
    e->u.tool.input = xstrdup(c->input);
    core_emit(x->core, e);
}

static void
set_state(struct executor *x, struct call *c, enum tool_state state)
{
    c->state = state;
    struct event *e = tool_event(x, c, PHASE_DELTA);
    if (c->edited) /* what runs is not what was announced */
        e->u.tool.what = tool_describe(c->tool, c->tree, x->core->cwd);
    core_emit(x->core, e);
}

struct str
call_shown(const struct call *c, bool *ret_diff)
{
    struct str s = buf_str(c->result.display.len ? &c->result.display : &c->result.text);
    *ret_diff = str_starts(s, "@@ ") || str_starts(s, "--- ");
    return s;
}

static void
emit_end(struct executor *x, const struct call *c)
{
    struct event *e = tool_event(x, c, PHASE_END);
    struct str shown = call_shown(c, &e->u.tool.is_diff);
    e->u.tool.output = str_dup(str_sub(shown, 0, SHOWN_MAX));
    e->u.tool.summary = xstrdup(c->result.summary);
    e->u.tool.is_error = c->result.is_error;
    e->u.tool.bytes = (int64_t)c->result.text.len;
    e->u.tool.elapsed_ms = c->ended_ms - c->started_ms;
    core_emit(x->core, e);
}

/* ---- the one result ---- */

static void
record_result(struct executor *x, const struct call *c)
{
    const struct record_field f[] = {
        REC_S("tool_name", c->tool ? c->tool->name : c->name),
        REC_S("state", tool_state_name(c->state)),
        REC_B("success", !c->result.is_error),
        REC_I("duration_ms", c->ended_ms - c->started_ms),
        REC_SECRET("tool_input", c->input),
    };
    record_event("tool_result", x->core->session_id, f, ARRAY_LEN(f));
}

/* The result stands in c->result. The guard refuses a second one, so nothing late can pollute the session. */
static void
finish(struct executor *x, struct call *c, enum tool_state state)
{
    struct err err = {0};
    if (!c->ended_ms)
        c->ended_ms = clock_mono_ms();
    if (!c->repeat && !state_handle_tool_result(&x->core->state, str_from(c->id), &err))
        log_warn("executor", "%s", err.text);
    c->state = state;
    c->job = NULL;
    c->ask_id = 0;
    x->core->passport.tool_ms += c->ran ? c->ended_ms - c->started_ms : 0;
    emit_end(x, c);
    record_result(x, c);
    char *what = tool_describe(c->tool, c->tree, x->core->cwd);
    query_log_keep(x->core, c->id, c->tool ? c->tool->name : c->name, what, state, &c->result);
    free(what);
}

void
call_answer(struct executor *x, struct call *c, enum tool_state state, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_clear(&c->result.text);
    buf_vaddf(&c->result.text, fmt, ap);
    va_end(ap);
    c->result.is_error = true;
    finish(x, c, state);
}

/* "before it ran" or "before it finished" follows. */
static const char *
cancel_words(enum cancel_reason reason)
{
    switch (reason) {
    case CANCEL_SIBLING:
        return "cancelled: another call of the same batch failed";
    case CANCEL_TERM:
        return "interrupted: yare was ended";
    case CANCEL_STOP:
        return "stopped by the person";
    case CANCEL_TIMEOUT:
        return "timed out";
    case CANCEL_USER:
    case CANCEL_NONE:
        break;
    }
    return "interrupted by the person";
}

void
call_cancelled(struct executor *x, struct call *c, enum cancel_reason reason)
{
    const char *when = c->ran ? "before it finished" : "before it ran";
    if (reason == CANCEL_SIBLING)
        call_answer(x, c, TOOL_CANCELLED,
                    "cancelled %s: another call of the same batch failed (%s)", when,
                    x->failed ? x->failed : "a shell command");
    else
        call_answer(x, c, TOOL_CANCELLED, "%s %s", cancel_words(reason), when);
}

/* ---- opening ---- */

static void
use_stored(struct executor *x, struct call *c)
{
    const struct block *b = state_answer(&x->core->state, str_from(c->id));
    c->repeat = true;
    if (b)
        buf_add_str(&c->result.text, b->text);
    c->result.is_error = b && b->is_error;
    finish(x, c, TOOL_DONE);
}

/* parse_err: why there is no tree, if anything is known. */
static void
check_input(struct executor *x, struct call *c, const struct err *parse_err)
{
    struct err err = {0};
    if (!c->tool) {
        call_answer(x, c, TOOL_FAILED, "there is no tool '%s'; use one of those that were declared",
                    c->name);
        return;
    }
    if (!c->tree || !json_is_object(c->tree)) {
        call_answer(x, c, TOOL_FAILED,
                    "the input of %s is no JSON object%s%s; send it again, complete", c->tool->name,
                    parse_err->text[0] ? ": " : "", parse_err->text);
        return;
    }
    if (!tool_validate(c->tool, c->tree, &err))
        call_answer(x, c, TOOL_FAILED, "wrong input for %s: %s", c->tool->name, err.text);
}

void
call_open(struct executor *x, struct call *c, struct str id, struct str name, struct str input,
          bool bad_input)
{
    memset(c, 0, sizeof *c);
    tool_result_init(&c->result);
    c->id = str_dup(id);
    c->name = str_dup(name);
    c->input = str_dup(input.len ? input : STR("{}"));
    c->state = TOOL_WAITING;
    c->started_ms = clock_mono_ms();
    c->cancel = cancel_new(x->batch);
    c->background = cancel_new(NULL);
    c->tool = x->core->seams.tool_find(name);
    enum call_entry entry = state_call_open(&x->core->state, id, name, str_from(c->input));
    struct err err = {0};
    if (!bad_input && c->tool)
        c->tree = json_parse(str_from(c->input), &err);
    emit_start(x, c);
    if (entry == CALL_REPEAT) {
        use_stored(x, c);
    } else if (entry == CALL_CONFLICT) {
        c->repeat = true;
        call_answer(x, c, TOOL_FAILED,
                    "the tool_use id '%s' was used for another call; make the call again", c->id);
    } else {
        check_input(x, c, &err);
    }
}

/* A command that changes the folder must not overlap, whatever else it does. */
static bool
names_cd(struct str command)
{
    for (size_t i = 0; i + 1 < command.len; i++) {
        if (command.ptr[i] == 'c' && command.ptr[i + 1] == 'd')
            return true;
        if (str_starts(str_sub(command, i, 5), "pushd") ||
            str_starts(str_sub(command, i, 4), "popd"))
            return true;
    }
    return false;
}

bool
call_is_safe(struct executor *x, struct call *c)
{
    if (c->tool->flags & TOOL_CONCURRENCY_SAFE)
        return true;
    if (!(c->tool->flags & TOOL_SHELL) || x->person)
        return false;
    if (c->safe_gen != x->cwd_gen) {
        struct permit_call pc = call_permit(x, c);
        c->safe =
            !names_cd(json_str(c->tree, "command")) && permit_is_read_only(x->core->permit, &pc);
        c->safe_gen = x->cwd_gen;
    }
    return c->safe;
}

/* ---- running ---- */

static void
run(struct executor *x, struct call *c)
{
    c->ran = true;
    c->started_ms = clock_mono_ms();
    c->job = call_make_job(x, c);
    set_state(x, c, TOOL_RUNNING);
    pool_submit(x->core->pool, c->job);
}

void
call_settle(struct executor *x, struct call *c, enum permit_verdict v, struct str reason,
            uint64_t ask_id)
{
    switch (v) {
    case PERMIT_ALLOW:
        c->approved = true;
        confinement_unref(c->confinement);
        c->confinement = permit_take_confinement(x->core->permit);
        c->ask_id = 0;
        if (call_is_parked(c))
            c->state = TOOL_WAITING; /* it starts when its turn comes */
        break;
    case PERMIT_PARKED:
        c->ask_id = ask_id;
        if (c->state != TOOL_ASKING)
            set_state(x, c, TOOL_ASKING);
        break;
    case PERMIT_JUDGING:
        c->ask_id = ask_id;
        if (!call_is_parked(c)) /* one that a person is asked about stays so meanwhile */
            set_state(x, c, TOOL_JUDGING);
        break;
    case PERMIT_DENY:
        permit_for_person(reason, &c->result.display);
        call_answer(x, c, TOOL_DENIED, "%.*s", (int)reason.len, reason.ptr);
        break;
    case PERMIT_FAIL:
        call_answer(x, c, TOOL_FAILED, "%.*s", (int)reason.len, reason.ptr);
        break;
    }
}

void
call_start(struct executor *x, struct call *c)
{
    enum cancel_reason fired = cancel_fired(c->cancel);
    if (fired != CANCEL_NONE) {
        call_cancelled(x, c, fired);
        return;
    }
    if (!c->approved) {
        struct permit_call pc = call_permit(x, c);
        struct buf reason;
        uint64_t ask_id = 0;
        buf_init(&reason, BUF_MAX);
        enum permit_verdict v = permit_judge(x->core->permit, &pc, &reason, &ask_id);
        call_settle(x, c, v, buf_str(&reason), ask_id);
        buf_release(&reason);
    }
    if (c->state == TOOL_WAITING)
        run(x, c);
}

/* ---- coming back ---- */

static void
take_cwd(struct executor *x, struct call *c)
{
    if (!c->result.new_cwd || strcmp(c->result.new_cwd, x->core->cwd) == 0)
        return;
    free(x->core->cwd);
    x->core->cwd = xstrdup(c->result.new_cwd);
    x->cwd_gen++;
}

/* Cancelled in mid-run: what it had printed is worth keeping. */
static void
finish_interrupted(struct executor *x, struct call *c, enum cancel_reason reason)
{
    struct buf partial = c->result.text;
    buf_init(&c->result.text, partial.max ? partial.max : BUF_MAX);
    buf_addf(&c->result.text, "%s before it finished", cancel_words(reason));
    struct str kept = str_trim(buf_str(&partial));
    if (kept.len) {
        buf_adds(&c->result.text, "\nwhat it had said until then:\n");
        buf_add_str(&c->result.text, kept);
    }
    c->result.is_error = true;
    buf_release(&partial);
    finish(x, c, TOOL_CANCELLED);
}

static void
note_edit(struct call *c)
{
    if (!c->edited)
        return;
    if (!c->result.display.len)
        buf_add_str(&c->result.display, buf_str(&c->result.text));
    buf_adds(&c->result.display, "\n(as you changed it)");
    buf_addf(&c->result.text, "\n[the person changed the input of this call to %s]", c->input);
}

/* A shell command that failed takes the rest of its batch along: what they were for is in doubt. */
static void
cancel_siblings(struct executor *x, const struct call *c)
{
    if (!(c->tool->flags & TOOL_SHELL) || !c->result.is_error || c->result.benign || x->failed)
        return;
    x->failed = xstrdup(c->result.summary[0] ? c->result.summary : c->name);
    cancel_fire(x->batch, CANCEL_SIBLING);
}

void
call_take_job(struct executor *x, struct call *c, struct job *take_j)
{
    tool_result_release(&c->result);
    c->result = take_j->result;
    tool_result_init(&take_j->result);
    c->started_ms = take_j->started_ms;
    c->ended_ms = take_j->ended_ms;
    job_free(take_j);
    enum cancel_reason fired = cancel_fired(c->cancel);
    if (fired != CANCEL_NONE && c->result.is_error) {
        finish_interrupted(x, c, fired);
        return;
    }
    take_cwd(x, c);
    note_edit(c);
    cancel_siblings(x, c);
    finish(x, c, c->result.is_error ? TOOL_FAILED : TOOL_DONE);
    if (c->result.task_id)
        tasks_announce(x->core, c->result.task_id);
}
