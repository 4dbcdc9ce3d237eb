/* What a front end asks for: prompts are queued in order, the rest is done on the spot. Engine thread. */
#include <stdlib.h>
#include <string.h>

#include "base/slash.h"
#include "base/trust.h"
#include "engine/engine_private.h"
#include "engine/executor.h"
#include "engine/permit.h"
#include "engine/side.h"
#include "engine/spend.h"
#include "engine/tasks.h"

#define STEERS_MAX 64

/* ---- work that waits its turn ---- */

void
work_free(struct work *w)
{
    if (!w)
        return;
    free(w->text);
    free(w);
}

static void
push_work(struct engine *e, struct work *w, bool in_front)
{
    e->n_work++;
    if (in_front) {
        w->next = e->work;
        e->work = w;
        if (!w->next)
            e->work_end = &w->next;
        return;
    }
    *e->work_end = w;
    e->work_end = &w->next;
}

void
ops_queue_work(struct engine *e, enum work_kind kind, const char *text, bool wants_result,
               bool in_front)
{
    if (e->n_work >= WORK_MAX) {
        struct err err = {0};
        err_set(&err, ERR_LIMIT, "%d prompts wait already; this one was not taken", WORK_MAX);
        core_error(&e->core, &err, NULL);
        if (wants_result)
            engine_emit_not_run(e, EXIT_MODEL_ERROR, &err);
        return;
    }
    struct work *w = xcalloc(1, sizeof *w);
    w->kind = kind;
    w->text = xstrdup(text ? text : "");
    w->wants_result = wants_result;
    push_work(e, w, in_front);
}

struct work *
ops_next_work(struct engine *e)
{
    struct work *w = e->work;
    if (!w)
        return NULL;
    e->work = w->next;
    if (!e->work)
        e->work_end = &e->work;
    w->next = NULL;
    e->n_work--;
    return w;
}

/* ---- ops ---- */

static void
on_submit(struct engine *e, const struct op *op)
{
    struct str text = str_trim(str_from(op->text));
    bool command = command_is_known(text) || slash_is_command(text);
    ops_queue_work(e, command ? WORK_COMMAND : WORK_PROMPT, op->text, true, false);
}

static bool
take_back(struct engine *e, const char *text)
{
    for (size_t i = e->n_steer; text && i-- > 0;) {
        if (strcmp(e->steer[i], text) != 0)
            continue;
        free(e->steer[i]);
        e->n_steer--;
        memmove(e->steer + i, e->steer + i + 1, (e->n_steer - i) * sizeof *e->steer);
        return true;
    }
    return false;
}

static void
on_unsteer(struct engine *e, const struct op *op)
{
    struct event *ev = event_new(EV_ANSWER);
    ev->seq = op->seq;
    ev->u.answer.json = xasprintf("{\"taken_back\":%s}", take_back(e, op->text) ? "true" : "false");
    core_emit(&e->core, ev);
}

static void
on_command(struct engine *e, const struct op *op)
{
    struct str text = str_trim(str_from(op->text));
    if (str_starts(text, "!"))
        ops_queue_work(e, WORK_SHELL, op->text, true, false);
    else if (command_is_immediate(text) || (!e->running && !command_takes_time(text)))
        (void)command_run(e, op->text ? op->text : "", NULL, NULL); /* what went wrong was told */
    else
        ops_queue_work(e, WORK_COMMAND, op->text, false, false);
}

static void
on_steer(struct engine *e, const struct op *op)
{
    if (!e->running || e->n_work) { /* what was typed first is done first */
        on_submit(e, op);
        return;
    }
    if (!str_trim(str_from(op->text)).len)
        return;
    if (command_is_known(str_from(op->text))) { /* who sent it may have seen a file of that name */
        on_command(e, op);
        return;
    }
    if (e->n_steer >= STEERS_MAX) {
        core_notice(&e->core,
                    "too much was typed while the turn runs; the last line was not taken");
        return;
    }
    ARRAY_GROW(e->steer, e->n_steer, e->cap_steer);
    e->steer[e->n_steer++] = xstrdup(op->text);
}

bool
ops_trust(struct engine *e)
{
    struct core *c = &e->core;
    struct err err = {0};
    if (!trust_grant(c->config_dir, c->root, &err)) {
        core_refuse_err(c, &err);
        return false;
    }
    c->trusted = true;
    permit_reload(c->permit);
    core_emit_session(c, false);
    executor_reconsider(c->executor, false);
    return true;
}

/* As a command when it has to wait for the running turn: "/model x". */
static void
as_command(struct engine *e, const char *name, const char *arg)
{
    char *line = xasprintf("/%s %s", name, arg ? arg : "");
    if (e->running || command_takes_time(str_from(line)))
        ops_queue_work(e, WORK_COMMAND, line, false, false);
    else
        (void)command_run(e, line, NULL, NULL);
    free(line);
}

static void
on_quit(struct engine *e)
{
    e->quit = true;
    engine_cancel(e, CANCEL_USER);
}

static void
handle(struct engine *e, const struct op *op)
{
    struct core *c = &e->core;
    switch (op->kind) {
    case OP_SUBMIT:
        on_submit(e, op);
        break;
    case OP_STEER:
        on_steer(e, op);
        break;
    case OP_UNSTEER:
        on_unsteer(e, op);
        break;
    case OP_PERM_ANSWER:
        if (!spend_answer(c, op))
            executor_answer(c->executor, op);
        break;
    case OP_SET_MODE:
        core_set_mode(c, op->mode);
        executor_reconsider(c->executor, op->stepped);
        break;
    case OP_SET_MODEL:
        as_command(e, "model", op->text);
        break;
    case OP_COMMAND:
        on_command(e, op);
        break;
    case OP_COMPACT:
        as_command(e, "compact", op->text);
        break;
    case OP_RESUME:
        as_command(e, "resume", op->text);
        break;
    case OP_REWIND:
        core_notice(c, "rewind is not available yet");
        break;
    case OP_QUESTION_ANSWER:
        core_notice(c, "no question is open");
        break;
    case OP_STOP_TOOL:
        if (!executor_stop_call(c->executor, str_from(op->text)) &&
            !tasks_stop(c, str_from(op->text)))
            core_notice(c, "that call is over already");
        break;
    case OP_BACKGROUND_TOOL:
        if (!executor_background_call(c->executor, str_from(op->text)))
            core_notice(c, "no command runs that could go to the background");
        break;
    case OP_TRUST:
        (void)ops_trust(e); /* what went wrong was told */
        break;
    case OP_QUERY:
        query_answer(e, op);
        break;
    case OP_QUIT:
        on_quit(e);
        break;
    }
}

void
ops_drain(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    struct op **ops = e->inbox;
    size_t n = e->n_inbox;
    bool overflow = e->overflow && !e->closed;
    size_t refused = e->n_refused;
    e->inbox = NULL;
    e->n_inbox = e->cap_inbox = 0;
    e->overflow = false;
    e->n_refused = 0;
    e->busy |= n > 0;
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < n; i++) {
        handle(e, ops[i]);
        op_free(ops[i]);
    }
    free(ops);
    tasks_pump(&e->core);
    side_reap(&e->core);
    if (!overflow)
        return;
    struct err err = {0};
    err_set(&err, ERR_LIMIT, "more than %d requests came at once; some were dropped", INBOX_MAX);
    core_error(&e->core, &err, NULL);
    for (size_t i = 0; i < refused; i++)
        engine_emit_not_run(e, EXIT_MODEL_ERROR, &err);
}
