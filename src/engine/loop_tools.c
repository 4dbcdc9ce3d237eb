/* The tools step: the answer is appended, its calls are waited for, their results become the next user message. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/attach.h"
#include "engine/context.h"
#include "engine/loop_private.h"
#include "engine/toolsum.h"

/* The API's message object for stream-json, around the bytes of ours; its "type" is left to who prints it. */
static void
emit_assistant(struct loop *l, const struct round *r, const struct message *m)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    struct jw w;
    jw_init(&w, &b);
    jw_object(&w);
    struct str id = stream_blocks_message_id(r->blocks);
    if (id.len)
        jw_kstr(&w, "id", id);
    jw_kcstr(&w, "role", "assistant");
    jw_kcstr(&w, "model", l->core->model);
    jw_kraw(&w, "content", json_raw_member(m->json, "content"));
    jw_key(&w, "stop_reason");
    jw_cstr(&w, r->stop == STOP_NONE ? NULL : stop_reason_name(r->stop));
    struct buf u;
    buf_init(&u, 1024);
    usage_write(stream_blocks_usage(r->blocks), &u);
    jw_kraw(&w, "usage", buf_str(&u));
    jw_end(&w);
    struct event *e = event_new(EV_MESSAGE);
    e->place = core_next_place(l->core) - 1;
    e->u.message.json = buf_take(&b);
    e->u.message.uuid = xstrdup(m->uuid);
    e->u.message.assistant = true;
    e->u.message.hidden = m->hidden;
    e->u.message.partial = m->partial;
    core_emit(l->core, e);
    buf_release(&u);
}

static bool
append_answer(struct loop *l, struct round *r)
{
    struct message *m = stream_blocks_message(r->blocks, l->core->model, r->broken);
    if (!loop_says_something(
            m)) { /* no message may end in thinking: dropped later, it would join what was sent already */
        message_free(m);
        return loop_append_stub(l, "(empty answer)");
    }
    message_ref(m);
    bool ok = core_append_done(l->core, m, &l->result->err);
    if (ok) {
        const struct usage *u = stream_blocks_usage(r->blocks);
        context_calibrate(l->core, u->input + u->cache_read + u->cache_write, u->output);
        emit_assistant(l, r, m);
    }
    message_free(m);
    return ok;
}

/* What the person typed while the turn ran stands behind the results. */
static void
take_steers(struct engine *e, struct message_builder *b)
{
    for (size_t i = 0; i < e->n_steer; i++) {
        message_add_text(b, str_from(e->steer[i]));
        submit_attach_files(&e->core, b, e->steer[i]);
    }
}

static void
emit_steers(struct engine *e, const struct message *m)
{
    for (size_t i = 0; i < e->n_steer; i++) {
        core_emit_user(&e->core, m, e->steer[i], false);
        permit_hear(e->core.permit, e->steer[i]);
        free(e->steer[i]);
    }
    e->n_steer = 0;
}

bool
loop_append_results(struct loop *l, struct err *err)
{
    struct core *c = l->core;
    struct buf json;
    buf_init(&json, BUF_MAX);
    struct message_builder *b = message_builder_new(ROLE_USER);
    executor_results(c->executor, b, &json);
    bool steer = l->e->n_steer > 0 && cancel_fired(l->turn) == CANCEL_NONE;
    attach_all(c, b);
    if (steer)
        take_steers(l->e, b);
    struct message *m = message_build(b);
    if (!m) {
        buf_release(&json);
        return true;
    }
    message_ref(m);
    bool ok = core_append_done(c, m, err);
    if (ok) {
        state_index_answers(&c->state, m);
        loop_note_calls(l, m);
        core_emit_message(c, m, buf_cstr(&json));
        attach_emit(c, m);
        if (steer)
            emit_steers(l->e, m);
        ok = core_sync(c, err);
    }
    message_free(m);
    buf_release(&json);
    return ok;
}

static void
wait_for_tools(struct loop *l)
{
    struct core *c = l->core;
    executor_pump(c->executor);
    while (!executor_done(c->executor)) {
        if (cancel_fired(l->turn) == CANCEL_NONE)
            waker_wait(c->wake, executor_timeout_ms(c->executor));
        if (!loop_attend(l)) {
            executor_abort(c->executor, cancel_fired(l->turn));
            return;
        }
    }
}

/* The disk is full: calls that have not begun do not begin, those that run finish; all results go with the answer when there
 * is room. */
static void
hold_tools(struct loop *l)
{
    struct core *c = l->core;
    executor_drop_waiting(c->executor, "the disk is full; call it again when there is room");
    if (!executor_done(c->executor))
        core_notice(c, "%s; what runs is waited for, nothing else begins", l->result->err.text);
}

/* The batch is the last answer and the results behind it. */
static void
sum_up(struct core *c)
{
    const struct state *st = &c->state;
    if (st->n >= 2 && st->messages[st->n - 2]->role == ROLE_ASSISTANT)
        toolsum_begin(c, st->messages[st->n - 2], st->messages[st->n - 1]);
}

enum flow
step_tools(struct loop *l, struct round *r)
{
    if (r->cut || r->shorter)
        return FLOW_NEXT; /* the same request again; nothing of this one is kept */
    toolsum_poll(l->core);
    toolsum_late(l->core); /* the next answer is here: what is not ready by now is late */
    if (!append_answer(l, r))
        return loop_fail(l, &l->result->err);
    context_emit(l->core);
    if (!executor_len(l->core->executor))
        return core_sync(l->core, &l->result->err) ? FLOW_NEXT : loop_fail(l, &l->result->err);
    if (l->core->unsaved.n)
        hold_tools(l);
    wait_for_tools(l);
    if (!loop_append_results(l, &l->result->err))
        return loop_fail(l, &l->result->err);
    sum_up(l->core);
    return FLOW_NEXT;
}
