#include "engine/loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/failure.h"
#include "engine/fallback.h"
#include "engine/loop_private.h"
#include "engine/spend.h"
#include "engine/toolsum.h"

/* ---- the machine ---- */

static const struct {
    const char *name;
    enum flow (*run)(struct loop *l, struct round *r);
} steps[] = {
    {"context", step_context}, {"request", step_request}, {"stream", step_stream},
    {"tools", step_tools},     {"decide", step_decide},
};

static void
emit_turn(struct loop *l, enum event_phase phase)
{
    struct event *e = event_new(EV_TURN);
    e->phase = phase;
    e->u.turn.n = l->core->passport.turns + l->core->state.turn; /* as the meters count */
    core_emit(l->core, e);
}

static enum flow
run_round(struct loop *l)
{
    struct round r = {0};
    enum flow f = FLOW_NEXT;
    permit_look(l->core->permit);
    l->core->state.turn++;
    emit_turn(l, PHASE_START);
    for (size_t i = 0; i < ARRAY_LEN(steps) && f == FLOW_NEXT; i++) {
        log_debug("loop", "turn %lld: %s", (long long)l->core->state.turn, steps[i].name);
        f = steps[i].run(l, &r);
    }
    emit_turn(l, PHASE_END);
    stream_blocks_free(r.blocks);
    return f;
}

/* What was sent is the beginning of the next request, byte for byte: the next prompt must not join its last message. An answer that
 * was thrown away to be asked for again leaves it so when the loop ends before that. */
static void
close_sent_request(struct loop *l)
{
    const struct state *st = &l->core->state;
    const struct message *last = state_last(st);
    if (!last || last->role != ROLE_USER || st->n_sent < st->n)
        return;
    if (!loop_append_stub(l, "(interrupted before an answer)"))
        log_error("loop", "%s", l->result->err.text);
}

void
loop_run(struct engine *e, struct cancel *turn, struct loop_result *ret)
{
    struct loop l = {.e = e, .core = &e->core, .turn = turn, .result = ret};
    struct spend_limits limits;
    memset(ret, 0, sizeof *ret);
    permit_look(l.core->permit);
    fallback_return(l.core);
    spend_limits(l.core, &limits); /* the meters show them */
    bool told = loop_tell_repeat(&l);
    if (!told)
        (void)loop_fail(&l, &ret->err);
    while (told && run_round(&l) != FLOW_EXIT)
        ;
    close_sent_request(&l);
    toolsum_late(l.core); /* nobody looks at the screen for it any more */
}

/* ---- transitions and exits ---- */

static const char *const transition_names[] = {
#define X(id, name, what) [id] = name,
    LOOP_TRANSITIONS(X)
#undef X
};
static const struct {
    const char *name, *subtype;
    int code;
} exits[] = {
#define X(id, name, subtype, code, what) [id] = {name, subtype, code},
    LOOP_EXITS(X)
#undef X
};

const char *
loop_exit_name(enum loop_exit x)
{
    return exits[x].name;
}

const char *
loop_exit_subtype(enum loop_exit x)
{
    return exits[x].subtype;
}

int
loop_exit_code(enum loop_exit x, enum cancel_reason reason)
{
    return exits[x].code == 130 && reason == CANCEL_TERM ? 143 : exits[x].code;
}

/* The only writer of a transition: ring, log, event. */
static void
write_transition(struct loop *l, const char *name, bool is_exit, const char *file, int line)
{
    const struct state_transition t = {
        .name = name,
        .file = file,
        .line = line,
        .is_exit = is_exit,
        .turn = l->core->state.turns_before + l->core->state.turn,
        .wall_ms = clock_wall_ms(),
    };
    const char *from = l->core->state.last.name;
    state_note_transition(&l->core->state, &t);
    log_info("loop", "%s > %s (%s:%d)", from ? from : "start", name, file, line);
    struct event *e = event_new(EV_TRANSITION);
    e->u.transition.name = name;
    e->u.transition.is_exit = is_exit;
    e->u.transition.file = file;
    e->u.transition.line = line;
    e->u.transition.turn = t.turn;
    core_emit(l->core, e);
}

enum flow
loop_go(struct loop *l, enum loop_transition t, const char *file, int line)
{
    write_transition(l, transition_names[t], false, file, line);
    core_save_passport(l->core, SESSION_RUNNING, NULL);
    return FLOW_AGAIN;
}

enum flow
loop_end(struct loop *l, enum loop_exit x, const char *file, int line)
{
    l->result->exit = x;
    write_transition(l, exits[x].name, true, file, line);
    return FLOW_EXIT;
}

enum flow
loop_fail(struct loop *l, const struct err *err)
{
    if (err != &l->result->err)
        l->result->err = *err;
    executor_abort(l->core->executor, CANCEL_TIMEOUT);
    core_error(l->core, err, l->result->request_id);
    return LOOP_END(l, EXIT_MODEL_ERROR);
}

/* ---- small services of the steps ---- */

bool
loop_attend(struct loop *l)
{
    waker_clear(l->core->wake);
    ops_drain(l->e);
    if (cancel_fired(l->turn) != CANCEL_NONE)
        return false;
    toolsum_poll(l->core);
    executor_pump(l->core->executor);
    return true;
}

static bool
append_text(struct loop *l, enum role role, const char *text)
{
    struct err err = {0};
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    struct message *m = message_build(b);
    if (!m)
        return true;
    m->hidden = true;
    m->partial = role == ROLE_ASSISTANT;
    message_ref(m);
    bool ok = core_append(l->core, m, &err);
    if (ok && role == ROLE_USER)
        core_emit_user(l->core, m, text, false);
    if (ok)
        core_emit_message(l->core, m, NULL);
    else
        l->result->err = err;
    message_free(m);
    return ok;
}

bool
loop_append_hidden(struct loop *l, const char *text)
{
    return append_text(l, ROLE_USER, text);
}

bool
loop_append_stub(struct loop *l, const char *text)
{
    return append_text(l, ROLE_ASSISTANT, text);
}

/* ---- decide ---- */

static bool
is_at_cap(struct loop *l)
{
    const struct core *c = l->core;
    if (c->given.max_turns <= 0 || c->state.turn < c->given.max_turns)
        return false;
    err_set(&l->result->err, ERR_LIMIT, "stopped after %lld turns, the cap that was set",
            (long long)c->state.turn);
    return true;
}

static enum flow
after_tools(struct loop *l)
{
    struct core *c = l->core;
    if (cancel_fired(l->turn) != CANCEL_NONE)
        return LOOP_END(l, EXIT_ABORTED_TOOLS);
    if (is_at_cap(l))
        return LOOP_END(l, EXIT_MAX_TURNS);
    if (loop_goes_round(l))
        return LOOP_END(l, EXIT_REPEATING);
    c->state.reactive_compact_attempted = false; /* it went on: a later refusal is another one */
    c->state.stop_hook.row = 0;
    return LOOP_GO(l, TR_NEXT_TURN);
}

#define MAX_RECOVERIES 3

static enum flow
after_cut(struct loop *l, struct round *r)
{
    struct state *st = &l->core->state;
    if (r->cut) {
        st->max_output_override = LOOP_OUTPUT_MAX;
        if (l->core->info && l->core->info->max_output < LOOP_OUTPUT_MAX)
            st->max_output_override = (int)l->core->info->max_output;
        return LOOP_GO(l, TR_MAX_OUTPUT_ESCALATE);
    }
    if (loop_is_short_of_room(l)) /* more of the same would be cut again */
        return loop_exceeded(l);
    if (st->max_output_recoveries < MAX_RECOVERIES) {
        st->max_output_recoveries++;
        if (!loop_append_hidden(l, LOOP_GO_ON_CUT))
            return loop_fail(l, &l->result->err);
        return LOOP_GO(l, TR_MAX_OUTPUT_RECOVERY);
    }
    core_notice(l->core, "the answer was cut off at the output limit %d times; it ends here",
                MAX_RECOVERIES + 1);
    return LOOP_END(l, EXIT_COMPLETED);
}

/* A hook that is never content must not hold a turn for ever: so often while no tool is called in between, and so often at all. */
#define STOP_HOOK_ROW 8
#define STOP_HOOK_MAX 50
#define STOP_HOOK_REASON ((size_t)16 << 10)

/* Its reason becomes a hidden prompt, unless it had its say often enough. */
static enum flow
go_on_for_hook(struct loop *l, struct str reason)
{
    struct core *c = l->core;
    struct state *st = &c->state;
    if (st->stop_hook.row >= STOP_HOOK_ROW || st->stop_hook.all >= STOP_HOOK_MAX) {
        struct str said = text_start(reason, 200);
        core_notice(c,
                    "a Stop hook made this turn go on %d times and still is not content; it ends "
                    "here. The hook said last: %.*s. Say 'go on' for more, or mend the hook",
                    st->stop_hook.all, (int)said.len, said.ptr);
        return LOOP_END(l, EXIT_COMPLETED);
    }
    if (is_at_cap(l))
        return LOOP_END(l, EXIT_MAX_TURNS);
    st->stop_hook.row++;
    st->stop_hook.all++;
    char *text = str_dup(text_start(reason, STOP_HOOK_REASON));
    bool ok = loop_append_hidden(l, text);
    free(text);
    return ok ? LOOP_GO(l, TR_STOP_HOOK_BLOCKING) : loop_fail(l, &l->result->err);
}

static enum flow
ask_stop_hook(struct loop *l)
{
    struct core *c = l->core;
    if (!c->seams.stop_hook)
        return LOOP_END(l, EXIT_COMPLETED);
    const struct message *last = state_last(&c->state);
    char *text = message_text(last && last->role == ROLE_ASSISTANT ? last : NULL), *reason = NULL;
    enum stop_hook_answer a =
        c->seams.stop_hook(c->seams.user, text, c->state.stop_hook.all > 0, &reason);
    struct str why = str_trim(str_from(reason ? reason : ""));
    enum flow f = a == STOP_HOOK_PREVENT ? LOOP_END(l, EXIT_HOOK_STOPPED)
                  : a == STOP_HOOK_PASS
                      ? LOOP_END(l, EXIT_COMPLETED)
                      : go_on_for_hook(l, why.len ? why : STR("A Stop hook asks you to go on."));
    free(text);
    free(reason);
    return f;
}

enum flow
step_decide(struct loop *l, struct round *r)
{
    l->result->stop = r->stop;
    if (r->shorter)
        return loop_shorter(l, r);
    if (r->calls || r->broken)
        return after_tools(l);
    if (r->stop == STOP_MAX_TOKENS)
        return after_cut(l, r);
    if (r->stop == STOP_CONTEXT_EXCEEDED)
        return loop_exceeded(l);
    if (r->stop == STOP_REFUSAL)
        core_notice(l->core, "%s; %s", failure_at(FAIL_REFUSAL)->what,
                    failure_at(FAIL_REFUSAL)->advice);
    return ask_stop_hook(l);
}
