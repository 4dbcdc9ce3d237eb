#include "engine/executor.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/context.h"
#include "engine/executor_call.h"
#include "engine/tasks.h"

struct executor *
executor_new(struct core *c)
{
    struct executor *x = xcalloc(1, sizeof *x);
    x->core = c;
    x->cwd_gen = 1;
    return x;
}

static void
clear(struct executor *x)
{
    for (size_t i = 0; i < x->n; i++)
        call_release(&x->calls[i]);
    x->n = 0;
    free(x->failed);
    x->failed = NULL;
    cancel_free(x->batch);
    x->batch = NULL;
}

void
executor_free(struct executor *x)
{
    if (!x)
        return;
    clear(x);
    free(x->calls);
    free(x);
}

void
executor_begin(struct executor *x, struct cancel *turn, bool person)
{
    clear(x);
    x->batch = cancel_new(turn);
    x->person = person;
    x->place = core_next_place(x->core);
}

static struct call *
find_call(struct executor *x, struct str id)
{
    for (size_t i = 0; i < x->n; i++)
        if (str_is(id, x->calls[i].id))
            return &x->calls[i];
    return NULL;
}

void
executor_add(struct executor *x, struct str id, struct str name, struct str input, bool bad_input)
{
    if (find_call(x, id)) {
        log_warn("executor",
                 "the model used one tool_use id twice in a message; the second is left out");
        return;
    }
    ARRAY_GROW(x->calls, x->n, x->cap);
    call_open(x, &x->calls[x->n], id, name, input, bad_input);
    x->n++;
    executor_pump(x);
}

/* ---- pumping ---- */

static bool
collect(struct executor *x)
{
    bool any = false;
    struct job *j;
    while ((j = pool_take_done(x->core->pool)) != NULL) {
        struct call *c = NULL;
        for (size_t i = 0; i < x->n && !c; i++)
            if (x->calls[i].job == j)
                c = &x->calls[i];
        if (c) {
            call_take_job(x, c, j);
            any = true;
            continue;
        }
        struct err err = {0};
        if (state_handle_tool_result(&x->core->state, str_from(j->ctx.tool_use_id), &err))
            log_error("executor", "an answer of '%s' came without its call", j->ctx.tool_use_id);
        else
            log_warn("executor", "%s", err.text);
        if (j->result.task_id)
            tasks_drop(x->core, j->result.task_id);
        job_free(j);
    }
    return any;
}

static struct call *
find_parked(struct executor *x, uint64_t ask_id)
{
    for (size_t i = 0; i < x->n; i++)
        if (call_is_parked(&x->calls[i]) && x->calls[i].ask_id == ask_id)
            return &x->calls[i];
    return NULL;
}

typedef enum permit_verdict (*settle_fn)(struct permit *p, uint64_t ask_id,
                                         const struct permit_call *call, struct buf *ret_reason);

static void
settle_parked(struct executor *x, uint64_t ask_id, settle_fn settle)
{
    struct call *c = find_parked(x, ask_id);
    if (!c) {
        permit_abort(x->core->permit, ask_id);
        return;
    }
    struct permit_call pc = call_permit(x, c);
    struct buf reason;
    buf_init(&reason, BUF_MAX);
    enum permit_verdict v = settle(x->core->permit, ask_id, &pc, &reason);
    call_settle(x, c, v, buf_str(&reason), ask_id);
    buf_release(&reason);
}

/* The classifier's verdicts that came, and asks that waited long enough. */
static void
settle_what_came(struct executor *x)
{
    uint64_t id;
    while ((id = permit_next_judged(x->core->permit)) != 0)
        settle_parked(x, id, permit_judged);
    while ((id = permit_next_expired(x->core->permit)) != 0)
        settle_parked(x, id, permit_expire);
}

int
executor_timeout_ms(const struct executor *x)
{
    return permit_timeout_ms(x->core->permit);
}

/* What holds whom, gathered while the calls are walked in order. */
struct holds {
    bool running;   /* something runs */
    bool exclusive; /* ... that must be alone */
    bool parked;    /* a call before this one asks */
    bool barrier;   /* an unsafe call before this one waits for its turn */
};

static bool
may_start(struct holds *h, bool safe)
{
    if (safe)
        return !h->exclusive && !h->barrier;
    if (!h->running && !h->parked && !h->barrier)
        return true;
    /* Behind a parked call later safe ones may pass; behind a mere queue they may not, or it would starve. */
    if (!h->parked)
        h->barrier = true;
    return false;
}

static bool
start_what_may(struct executor *x)
{
    struct holds h = {0};
    bool any = false;
    for (size_t i = 0; i < x->n; i++) {
        if (x->calls[i].state != TOOL_RUNNING)
            continue;
        h.running = true;
        h.exclusive |= !call_is_safe(x, &x->calls[i]);
    }
    for (size_t i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        if (call_is_parked(c))
            h.parked = true;
        if (c->state != TOOL_WAITING)
            continue;
        bool safe = call_is_safe(x, c);
        if (!may_start(&h, safe))
            continue;
        call_start(x, c);
        any = true;
        h.running |= c->state == TOOL_RUNNING;
        h.exclusive |= c->state == TOOL_RUNNING && !safe;
        h.parked |= call_is_parked(c);
    }
    return any;
}

/* What has not started is answered at once; why: NULL: a sibling failed. */
static void
drop_waiting(struct executor *x, const char *why)
{
    for (size_t i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        if (call_is_parked(c))
            permit_abort(x->core->permit, c->ask_id);
        if (!call_is_parked(c) && c->state != TOOL_WAITING)
            continue;
        if (why)
            call_answer(x, c, TOOL_CANCELLED, "cancelled before it ran: %s", why);
        else
            call_cancelled(x, c, CANCEL_SIBLING);
    }
}

void
executor_pump(struct executor *x)
{
    bool more = true;
    settle_what_came(x);
    while (more) {
        more = collect(x);
        if (x->failed)
            drop_waiting(x, NULL);
        more |= start_what_may(x);
    }
}

bool
executor_done(const struct executor *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (call_is_open(&x->calls[i]))
            return false;
    return true;
}

size_t
executor_len(const struct executor *x)
{
    return x->n;
}

bool
executor_started(const struct executor *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->calls[i].ran || !call_is_open(&x->calls[i]))
            return true;
    return false;
}

/* ---- the end of a batch ---- */

static bool
any_running(const struct executor *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->calls[i].state == TOOL_RUNNING)
            return true;
    return false;
}

static void
wait_for_workers(struct executor *x)
{
    int64_t until = clock_mono_ms() + x->core->seams.kill_wait_ms;
    collect(x);
    while (any_running(x)) {
        int64_t left = until - clock_mono_ms();
        if (left <= 0)
            return;
        if (waker_wait(x->core->wake, (int)left))
            waker_clear(x->core->wake);
        collect(x);
    }
    /* Ops that came meanwhile are looked at by the engine's own loop. */
    waker_signal(x->core->wake);
}

void
executor_abort(struct executor *x, enum cancel_reason reason)
{
    if (!x->batch)
        return;
    cancel_fire(x->batch, reason);
    for (size_t i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        if (call_is_parked(c))
            permit_abort(x->core->permit, c->ask_id);
        if (call_is_parked(c) || c->state == TOOL_WAITING)
            call_cancelled(x, c, reason);
    }
    wait_for_workers(x);
    for (size_t i = 0; i < x->n; i++)
        if (call_is_open(&x->calls[i]))
            call_cancelled(x, &x->calls[i], reason);
}

void
executor_drop_waiting(struct executor *x, const char *why)
{
    drop_waiting(x, why);
}

void
executor_discard(struct executor *x)
{
    for (size_t i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        if (call_is_parked(c))
            permit_abort(x->core->permit, c->ask_id);
        if (call_is_open(c))
            call_answer(x, c, TOOL_CANCELLED,
                        "the connection broke; the answer is asked for again");
        state_call_forget(&x->core->state, str_from(c->id));
    }
    clear(x);
}

static void
add_result(struct call *c, struct message_builder *b)
{
    const struct tool_result *r = &c->result;
    if (r->image.len && !r->is_error)
        message_add_tool_result_image(b, str_from(c->id), str_from(r->image_type),
                                      buf_str(&r->image));
    else
        message_add_tool_result(b, str_from(c->id), buf_str(&r->text), r->is_error);
}

/* The budget over the batch: each result within its cap, all of them within the message's. */
static void
budget(struct executor *x)
{
    size_t *lens = xcalloc(x->n + 1, sizeof *lens);
    for (size_t i = 0; i < x->n; i++)
        lens[i] = x->calls[i].repeat ? 0 : x->calls[i].result.text.len;
    int64_t cap = context_result_cap(lens, x->n);
    free(lens);
    const struct tool_ctx ctx = {.session_id = x->core->session_id,
                                 .spill_dir = x->core->paths.spill};
    for (size_t i = 0; i < x->n; i++) {
        struct tool_ctx one = ctx;
        one.tool_use_id = x->calls[i].id;
        struct tool_result *r = &x->calls[i].result;
        int64_t before = (int64_t)r->text.len;
        if (before <= cap)
            continue;
        tool_result_cap(&one, r, cap);
        x->core->state.budget_saved += before - (int64_t)r->text.len;
    }
}

void
executor_results(struct executor *x, struct message_builder *b, struct buf *ret_json)
{
    budget(x);
    struct jw w;
    jw_init(&w, ret_json);
    jw_array(&w);
    for (size_t i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        add_result(c, b);
        if (c->result.data.len)
            jw_raw(&w, buf_str(&c->result.data));
        else
            jw_null(&w);
    }
    jw_end(&w);
    char *ends = executor_ends(x);
    if (ends)
        message_set_ends(b, str_from(ends));
    free(ends);
    clear(x);
}

void
executor_person_result(struct executor *x, struct buf *ret_text, char **ret_ends, bool *ret_error)
{
    budget(x);
    *ret_error = x->n && x->calls[0].result.is_error;
    if (x->n)
        buf_add_str(ret_text, buf_str(&x->calls[0].result.text));
    *ret_ends = executor_ends(x);
    clear(x);
}

/* ---- ops ---- */

/* The edited input in the place of the call's own; false: it is no valid input, the ask stays. */
static bool
take_edit(struct executor *x, struct call *c, const char *edited)
{
    struct err err = {0};
    struct cJSON *tree = json_parse(str_from(edited), &err);
    if (tree && !json_is_object(tree))
        err_set(&err, ERR_INVALID, "the edited input is no JSON object");
    if (!tree || !json_is_object(tree) || !tool_validate(c->tool, tree, &err)) {
        json_free(tree);
        err_wrap(&err, "the edited call was not accepted");
        core_error(x->core, &err, NULL);
        return false;
    }
    json_free(c->tree);
    c->tree = tree;
    free(c->input);
    c->input = xstrdup(edited);
    c->edited = true;
    c->safe_gen = 0;
    return true;
}

void
executor_answer(struct executor *x, const struct op *op)
{
    struct call *c = find_parked(x, op->perm.ask_id);
    if (!c || c->state != TOOL_ASKING) {
        core_notice(x->core, "that request is closed already; the answer changed nothing");
        return;
    }
    const char *edit = op->perm.answer == PERM_ANSWER_NO ? NULL : op->perm.edited_input;
    bool edited = edit && strcmp(edit, c->input) != 0;
    if (edited && !take_edit(x, c, edit))
        return;
    struct permit_call pc = call_permit(x, c);
    struct buf reason;
    uint64_t ask_id = 0;
    buf_init(&reason, BUF_MAX);
    enum permit_verdict v = permit_answer(x->core->permit, op, &pc, edited, &reason, &ask_id);
    c->yes = v == PERMIT_ALLOW;
    call_settle(x, c, v, buf_str(&reason), ask_id);
    buf_release(&reason);
    if (op->perm.answer == PERM_ANSWER_ALWAYS)
        executor_reconsider(x, false); /* the new rule may cover others that wait */
    executor_pump(x);
}

void
executor_reconsider(struct executor *x, bool stepped)
{
    for (size_t i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        if (!call_is_parked(c))
            continue;
        struct permit_call pc = call_permit(x, c);
        struct buf reason;
        buf_init(&reason, BUF_MAX);
        enum permit_verdict v =
            permit_reconsider(x->core->permit, c->ask_id, &pc, stepped, &reason);
        call_settle(x, c, v, buf_str(&reason), c->ask_id);
        buf_release(&reason);
    }
    if (x->n)
        executor_pump(x);
}

char *
executor_describe(const struct executor *x, struct str id, const char **ret_name,
                  enum tool_state *ret_state)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct call *c = &x->calls[i];
        if (!str_is(id, c->id) || !call_is_open(c))
            continue;
        *ret_name = c->tool ? c->tool->name : c->name;
        *ret_state = c->state;
        return tool_describe(c->tool, c->tree, x->core->cwd);
    }
    return NULL;
}

bool
executor_stop_call(struct executor *x, struct str id)
{
    struct call *c = find_call(x, id);
    if (!c || !call_is_open(c))
        return false;
    cancel_fire(c->cancel, CANCEL_STOP);
    if (call_is_parked(c))
        permit_abort(x->core->permit, c->ask_id);
    if (c->state != TOOL_RUNNING)
        call_cancelled(x, c, CANCEL_STOP);
    executor_pump(x);
    return true;
}
