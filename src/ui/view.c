#include "ui/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "ui/view_parts.h"

void
view_init(struct view *v)
{
    *v = (struct view){0};
}

void
view_release(struct view *v)
{
    view_items_clear(v);
    view_queue_clear(v, true);
    free(v->items);
    free(v->past.items);
    free(v->acts);
    free(v->asks);
    free(v->model);
    free(v->session_id);
    free(v->cwd);
    free(v->provider);
    free(v->retry);
    free(v->last_answer);
    view_init(v);
}

void
view_set(char **p, const char *s)
{
    if (!s || (*p && strcmp(*p, s) == 0))
        return;
    free(*p);
    *p = xstrdup(s);
}

/* ---- the session and its meters ---- */

static void
on_session(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    if (e->u.session.cleared) {
        view_items_clear(v);
        view_queue_clear(v, false);
        free(v->last_answer);
        v->last_answer = NULL;
        v->ctx_used = 0;
        v->turn = 0;
        v->running = false;
    }
    const char *model = e->u.session.model_shown ? e->u.session.model_shown : e->u.session.model;
    bool other = v->model && model && strcmp(v->model, model) != 0;
    if (e->u.session.context_window > 0 || other) /* 0: nobody knows that model's */
        v->ctx_window = e->u.session.context_window;
    view_set(&v->session_id, e->u.session.id);
    view_set(&v->model, model);
    view_set(&v->cwd, e->u.session.cwd);
    view_set(&v->provider, e->u.session.provider);
    v->mode = e->u.session.mode;
    v->trusted = e->u.session.trusted;
    v->offline = e->u.session.offline;
    v->fast = e->u.session.fast;
    v->bypass_allowed = e->u.session.bypass_allowed;
}

static void
start_running(struct view *v)
{
    if (!v->running)
        v->running_since_ms = clock_mono_ms();
    v->running = true;
}

static void
clear_retry(struct view *v)
{
    free(v->retry);
    v->retry = NULL;
    v->retry_at_ms = 0;
}

static void
on_user(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    struct item *it = view_item_add(v, ITEM_USER, e->u.user.text);
    it->hidden = e->u.user.hidden;
    if (it->hidden && e->u.user.brief)
        view_set(&it->over, e->u.user.brief);
    if (!e->u.user.replayed && !e->u.user.hidden)
        start_running(v);
}

static void
on_turn(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    if (e->phase == PHASE_START) {
        start_running(v);
        v->attempt_no = v->last_no;
        v->redo = false;
    }
    if (e->u.turn.n > 0)
        v->turn = e->u.turn.n;
    clear_retry(v);
}

static void
on_block(struct view *v, struct event *e)
{
    if (e->agent)
        return; /* what a sub-agent says is its own; its tools are in the activity pane */
    clear_retry(v);
    if (v->redo && e->phase == PHASE_START) {
        view_items_take_back(v, v->attempt_no, false);
        v->redo = false;
    }
    view_on_block(v, e);
}

/* What was said of an answer that broke off stands in the history: the next attempt goes on from it. */
static void
on_message(struct view *v, struct event *e)
{
    if (e->agent || !e->u.message.assistant || !e->u.message.partial || !v->redo)
        return;
    view_items_take_back(v, v->attempt_no, true);
    v->attempt_no = v->last_no;
    v->redo = false;
}

static void
on_tool(struct view *v, struct event *e)
{
    view_on_tool_activity(v, e);
    if (!e->agent)
        view_on_tool_item(v, e);
    if (e->phase == PHASE_END)
        view_asks_drop_tool(v, e->u.tool.id);
}

static void
on_mode(struct view *v, struct event *e)
{
    if (!e->agent)
        v->mode = e->u.mode.mode;
}

static void
on_usage(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    v->in = e->u.usage.input;
    v->out = e->u.usage.output;
    v->cache_read = e->u.usage.cache_read;
    v->cache_write = e->u.usage.cache_write;
    v->cost = e->u.usage.cost_usd;
    v->budget = e->u.usage.budget_usd;
    v->estimated = e->u.usage.estimated;
}

static void
on_context(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    v->ctx_used = e->u.context.used;
    if (e->u.context.window > 0)
        v->ctx_window = e->u.context.window;
    v->ctx_state = e->u.context.state;
}

/* ---- lines for the person ---- */

static void
on_notice(struct view *v, struct event *e)
{
    char *s =
        e->agent ? xasprintf("%s: %s", e->agent, e->u.notice.text ? e->u.notice.text : "") : NULL;
    view_item_add(v, ITEM_NOTICE, s ? s : e->u.notice.text);
    free(s);
}

static void
on_error(struct view *v, struct event *e)
{
    struct buf b;
    buf_init(&b, 1 << 16);
    if (e->agent)
        buf_addf(&b, "%s: ", e->agent);
    buf_adds(&b, e->u.error.err.text[0] ? e->u.error.err.text : "unknown");
    /* A server's own words come with its status and the request's id mostly: nothing is said twice. */
    const struct err *err = &e->u.error.err;
    char status[16];
    snprintf(status, sizeof status, "%d", err->http);
    if (err->http && err->kind[0] && !strstr(err->text, status))
        buf_addf(&b, " (%d %s)", err->http, err->kind);
    if (e->u.error.request_id && !strstr(err->text, e->u.error.request_id))
        buf_addf(&b, "\nrequest %s", e->u.error.request_id);
    view_item_add(v, ITEM_ERROR, buf_cstr(&b));
    buf_release(&b);
}

/* One line for a run of retries: the last one stands. */
static void
on_retry(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    struct item *last = v->n_items ? &v->items[v->n_items - 1] : NULL;
    bool again = v->retry && last && last->kind == ITEM_NOTICE &&
                 strcmp(buf_cstr(&last->text), v->retry) == 0;
    clear_retry(v);
    v->redo = v->attempt_no > 0; /* 0: the turn's begin was not seen */
    v->retry = xasprintf("retry %d of %d: %s", e->u.retry.attempt, e->u.retry.max_attempts,
                         e->u.retry.err.text);
    v->retry_at_ms = clock_mono_ms() + (e->u.retry.delay_ms > 0 ? e->u.retry.delay_ms : 0);
    if (!again) {
        view_item_add(v, ITEM_NOTICE, v->retry);
        return;
    }
    v->text_bytes -= last->text.len;
    buf_clear(&last->text);
    view_item_text(v, last, str_from(v->retry));
}

/* How a run ended, when it was not by being done and nothing else said so. */
static void
say_exit(struct view *v, const struct event *e)
{
    const char *exit = e->u.result.exit;
    if (exit && strncmp(exit, "aborted", 7) == 0) {
        view_item_add(v, ITEM_NOTICE, "interrupted: what was done is kept");
        return;
    }
    for (size_t i = v->n_items; i-- > 0 && v->items[i].kind != ITEM_USER;)
        if (v->items[i].kind == ITEM_ERROR)
            return;
    char *s = xasprintf("stopped: %s", event_end_words(exit));
    view_item_add(v, ITEM_ERROR, s);
    free(s);
}

static void
on_result(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    view_items_settle(v);
    view_queue_settle(v);
    view_asks_drop(v, false);
    clear_retry(v);
    v->running = v->compacting = v->compact_alone = false;
    if (e->u.result.text && *e->u.result.text)
        view_set(&v->last_answer, e->u.result.text);
    if (e->u.result.is_error)
        say_exit(v, e);
}

static void
on_closed(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    view_items_settle(v);
    view_queue_settle(v);
    view_asks_drop(v, true);
    clear_retry(v);
    v->running = false;
    v->closed = true;
}

/* What a tier did is a line of its own; that it began shows in the meters, and Esc ends it. */
static void
on_compact(struct view *v, struct event *e)
{
    if (e->agent)
        return;
    v->compacting = e->phase == PHASE_START;
    if (v->compacting && !v->running) {
        v->compact_alone = true;
        start_running(v);
    } else if (e->phase == PHASE_END && v->compact_alone) {
        v->compact_alone = v->running = false;
    }
    if (e->phase == PHASE_END && e->u.compact.text)
        view_item_add(v, ITEM_NOTICE, e->u.compact.text);
}

static void
on_tool_summary(struct view *v, struct event *e)
{
    struct cJSON *ids = e->agent ? NULL : json_parse(str_from(e->u.tool_summary.calls), NULL);
    for (const struct cJSON *id = json_first(ids); id; id = json_next(id)) {
        char *s = str_dup(json_value_str(id));
        struct item *it = view_tool_item(v, s);
        free(s);
        if (!it)
            continue;
        view_set(&it->over, e->u.tool_summary.text);
        view_item_touch(v, it);
        break; /* over the first that is still here */
    }
    json_free(ids);
}

static void
on_decided(struct view *v, struct event *e)
{
    view_on_decided(v, e);
}

/* What is not in the table changes nothing that panes show. */
static void (*const handlers[])(struct view *v, struct event *e) = {
    [EV_SESSION] = on_session,      [EV_USER] = on_user,       [EV_TURN] = on_turn,
    [EV_BLOCK] = on_block,          [EV_MESSAGE] = on_message, [EV_TOOL] = on_tool,
    [EV_PERM_DECIDED] = on_decided, [EV_MODE] = on_mode,       [EV_USAGE] = on_usage,
    [EV_CONTEXT] = on_context,      [EV_TASK] = view_on_task,  [EV_NOTICE] = on_notice,
    [EV_ERROR] = on_error,          [EV_COMPACT] = on_compact, [EV_RETRY] = on_retry,
    [EV_RESULT] = on_result,        [EV_CLOSED] = on_closed,   [EV_TOOL_SUMMARY] = on_tool_summary,
};

void
view_apply(struct view *v, struct event *take_ev)
{
    if (!take_ev)
        return;
    v->version++;
    v->at_place =
        take_ev->agent || take_ev->place < 0 || take_ev->place > INT32_MAX ? 0 : take_ev->place;
    if (take_ev->kind == EV_PERM_ASK) {
        view_on_ask(v, take_ev);
        return;
    }
    size_t kind = (size_t)take_ev->kind;
    if (kind < ARRAY_LEN(handlers) && handlers[kind])
        handlers[kind](v, take_ev);
    event_free(take_ev);
}
