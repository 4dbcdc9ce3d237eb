#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "ui/view_parts.h"

#define DONE_KEPT 50
#define ACTS_MAX 1000
#define ASKS_MAX 1000
#define TODOS_MAX 200

/* ---- activity ---- */

static void
act_release(struct activity *a)
{
    free(a->id);
    free(a->name);
    free(a->what);
    free(a->last_line);
    free(a->summary);
    free(a->agent);
    free(a->task);
    free(a->processes);
}

static bool
is_over(enum tool_state s)
{
    return s == TOOL_DONE || s == TOOL_FAILED || s == TOOL_DENIED || s == TOOL_CANCELLED;
}

static void
act_drop(struct view *v, size_t i)
{
    act_release(&v->acts[i]);
    memmove(v->acts + i, v->acts + i + 1, (v->n_acts - i - 1) * sizeof(*v->acts));
    v->n_acts--;
}

static void
acts_trim(struct view *v)
{
    size_t done = 0;
    for (size_t i = 0; i < v->n_acts; i++)
        done += is_over(v->acts[i].state);
    for (size_t i = 0; i < v->n_acts && done > DONE_KEPT;) {
        if (is_over(v->acts[i].state)) {
            act_drop(v, i);
            done--;
        } else {
            i++;
        }
    }
    while (v->n_acts > ACTS_MAX)
        act_drop(v, 0);
}

static struct activity *
act_find(struct view *v, const char *id)
{
    for (size_t i = v->n_acts; id && i-- > 0;)
        if (v->acts[i].id && strcmp(v->acts[i].id, id) == 0)
            return &v->acts[i];
    return NULL;
}

static struct activity *
act_add(struct view *v, const char *id, const char *agent)
{
    ARRAY_GROW(v->acts, v->n_acts, v->cap_acts);
    struct activity *a = &v->acts[v->n_acts++];
    *a = (struct activity){.started_ms = clock_mono_ms()};
    view_set(&a->id, id);
    view_set(&a->agent, agent);
    return a;
}

void
view_on_tool_activity(struct view *v, const struct event *e)
{
    struct activity *a = act_find(v, e->u.tool.id);
    if (e->u.tool.replayed)
        return; /* of an earlier run of the session: not activity */
    if (!a)
        a = act_add(v, e->u.tool.id, e->agent);
    else if (a->task || (is_over(a->state) && e->phase != PHASE_END))
        return;
    view_set(&a->name, e->u.tool.name);
    view_set(&a->what, e->u.tool.what);
    view_set(&a->summary, e->u.tool.summary);
    if (e->phase == PHASE_DELTA)
        view_set(&a->last_line, e->u.tool.output);
    if (e->u.tool.state == TOOL_RUNNING && a->state != TOOL_RUNNING && e->u.tool.elapsed_ms == 0)
        a->started_ms = clock_mono_ms(); /* the wait for a permission is not counted */
    a->state = e->u.tool.state;
    a->elapsed_ms = e->u.tool.elapsed_ms;
    if (e->u.tool.bytes)
        a->bytes = e->u.tool.bytes;
    if (e->phase == PHASE_END) {
        if (!is_over(a->state))
            a->state = e->u.tool.is_error ? TOOL_FAILED : TOOL_DONE;
        acts_trim(v);
    }
}

void
view_queue_settle(struct view *v)
{
    for (size_t i = 0; i < v->n_acts; i++)
        if (!v->acts[i].agent && !v->acts[i].task && !is_over(v->acts[i].state))
            v->acts[i].state = TOOL_CANCELLED;
    acts_trim(v);
}

/* ---- asks ---- */

static void
ask_drop(struct view *v, size_t i)
{
    event_free(v->asks[i].ev);
    memmove(v->asks + i, v->asks + i + 1, (v->n_asks - i - 1) * sizeof(*v->asks));
    v->n_asks--;
}

void
view_on_ask(struct view *v, struct event *take_e)
{
    struct item *it = take_e->agent ? NULL : view_tool_item(v, take_e->u.ask.tool_use_id);
    struct activity *a = act_find(v, take_e->u.ask.tool_use_id);
    int64_t since_ms = clock_mono_ms();
    for (size_t i = 0; i < v->n_asks; i++)
        if (v->asks[i].id == take_e->u.ask.id) { /* asked again: a new request */
            if (take_e->u.ask.offer)
                since_ms = v->asks[i].since_ms; /* the same one in other words */
            ask_drop(v, i);
            break;
        }
    if (v->n_asks >=
        ASKS_MAX) { /* the engine keeps waiting for it; it is asked again when resumed */
        event_free(take_e);
        return;
    }
    if (it && !it->done) {
        if (it->state == TOOL_DENIED) { /* an edited call: the reason was the one before's */
            free(it->summary);
            it->summary = NULL;
        }
        it->state = TOOL_ASKING;
        view_set(&it->what, take_e->u.ask.what); /* what runs is what was asked for last */
        view_item_touch(v, it);
    }
    if (a && (!is_over(a->state) || a->state == TOOL_DENIED)) {
        a->state = TOOL_ASKING;
        view_set(&a->what, take_e->u.ask.what);
    }
    ARRAY_GROW(v->asks, v->n_asks, v->cap_asks);
    v->asks[v->n_asks++] = (struct ask){take_e->u.ask.id, take_e, since_ms, ++v->version};
}

void
view_asks_drop_tool(struct view *v, const char *tool_use_id)
{
    for (size_t i = 0; tool_use_id && i < v->n_asks;) {
        const char *id = v->asks[i].ev->u.ask.tool_use_id;
        if (id && strcmp(id, tool_use_id) == 0)
            ask_drop(v, i);
        else
            i++;
    }
}

void
view_asks_drop(struct view *v, bool all)
{
    for (size_t i = 0; i < v->n_asks;) {
        if (all || !v->asks[i].ev->agent)
            ask_drop(v, i);
        else
            i++;
    }
}

/* The reason that decided, for a call that was refused without asking. */
static const char *
deny_reason(const struct decision *d)
{
    for (size_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].verdict == d->verdict)
            return d->findings[i].reason;
    return NULL;
}

/* What was done in the person's name says so, and why; the reason mostly begins with who let it through. */
static char *
judged_line(const struct decision *d)
{
    static const char who[] = "the classifier ";
    for (size_t i = d->n_findings; i-- > 0;) {
        const char *why = d->findings[i].reason;
        if (strcmp(d->findings[i].layer, "L6") != 0 || !why)
            continue;
        if (strncmp(why, who, sizeof who - 1) == 0)
            return xasprintf("AFK: %s", why);
        return xasprintf("AFK, the classifier let it through: %s", why);
    }
    return xstrdup("AFK, the classifier let it through");
}

void
view_on_decided(struct view *v, const struct event *e)
{
    struct item *it = e->agent ? NULL : view_tool_item(v, e->u.decided.tool_use_id);
    struct activity *a = act_find(v, e->u.decided.tool_use_id);
    enum tool_state now = e->u.decided.allowed ? TOOL_WAITING : TOOL_DENIED;
    for (size_t i = 0; e->u.decided.ask_id && i < v->n_asks; i++)
        if (v->asks[i].id == e->u.decided.ask_id) {
            ask_drop(v, i);
            break;
        }
    if (it && !it->done && (it->state == TOOL_ASKING || !e->u.decided.allowed)) {
        it->state = now;
        if (!e->u.decided.allowed && !it->summary)
            view_set(&it->summary, deny_reason(&e->u.decided.decision));
        view_item_touch(v, it);
    }
    if (it && e->u.decided.allowed && e->u.decided.who &&
        strcmp(e->u.decided.who, "classifier") == 0) {
        free(it->judged);
        it->judged = judged_line(&e->u.decided.decision);
        view_item_touch(v, it);
    }
    if (a && !is_over(a->state) && (a->state == TOOL_ASKING || !e->u.decided.allowed))
        a->state = now;
}

/* ---- todos ---- */

static void
todos_clear(struct view *v)
{
    for (size_t i = 0; i < v->n_todos; i++)
        free(v->todos[i].text);
    free(v->todos);
    v->todos = NULL;
    v->n_todos = 0;
}

static void
todo_add(struct view *v, size_t i, const struct cJSON *n)
{
    const char *status = json_cstr(n, "status", "pending");
    struct todo *t = &v->todos[i];
    struct str text = json_str(n, "content");
    t->state = strcmp(status, "completed") == 0     ? TODO_DONE
               : strcmp(status, "in_progress") == 0 ? TODO_ACTIVE
                                                    : TODO_PENDING;
    if (t->state == TODO_ACTIVE && json_str(n, "activeForm").len)
        text = json_str(n, "activeForm");
    t->text = text.ptr ? str_dup(str_sub(text, 0, 4096)) : xstrdup("");
}

static enum tool_state
state_named(const char *name)
{
    for (int s = TOOL_WAITING; s <= TOOL_CANCELLED; s++)
        if (strcmp(tool_state_name((enum tool_state)s), name) == 0)
            return (enum tool_state)s;
    return TOOL_RUNNING;
}

/* A command in the background: the row of the call that started it goes on. */
static void
task_apply(struct view *v, const struct event *e, const struct cJSON *task)
{
    const char *id = json_cstr(task, "tool_use_id", json_cstr(task, "id", NULL));
    if (!id)
        return;
    struct activity *a = act_find(v, id);
    if (!a)
        a = act_add(v, id, e->agent);
    view_set(&a->task, json_cstr(task, "id", id));
    view_set(&a->name, json_cstr(task, "name", "task"));
    view_set(&a->what, json_cstr(task, "what", NULL));
    view_set(&a->last_line, json_cstr(task, "last_line", NULL));
    view_set(&a->summary, json_cstr(task, "why", NULL));
    a->state = state_named(json_cstr(task, "state", ""));
    a->bytes = json_int(task, "bytes", a->bytes);
    a->elapsed_ms = json_int(task, "elapsed_ms", 0);
    a->started_ms = clock_mono_ms() - a->elapsed_ms;
    if (is_over(a->state)) {
        free(a->processes);
        a->processes = NULL;
        acts_trim(v);
    }
}

bool
view_set_processes(struct view *v, const char *id, const char *lines)
{
    struct activity *a = act_find(v, id);
    if (!a || is_over(a->state) || strcmp(a->processes ? a->processes : "", lines) == 0)
        return false;
    free(a->processes);
    a->processes = xstrdup(lines);
    v->version++;
    return true;
}

void
view_on_task(struct view *v, struct event *e)
{
    struct err err;
    if (!e->u.task.json || e->agent)
        return;
    struct cJSON *tree = json_parse(str_from(e->u.task.json), &err);
    const struct cJSON *list = tree ? json_at(tree, "todos") : NULL;
    if (json_is_array(list)) {
        size_t n = json_len(list), i = 0;
        todos_clear(v);
        v->n_todos = n < TODOS_MAX ? n : TODOS_MAX;
        v->todos = xcalloc(v->n_todos + 1, sizeof(*v->todos));
        for (const struct cJSON *m = json_first(list); m && i < v->n_todos; m = json_next(m))
            todo_add(v, i++, m);
        free(v->todos_json);
        v->todos_json = e->u.task.json;
        e->u.task.json = NULL;
    }
    task_apply(v, e, json_at(tree, "task"));
    json_free(tree);
}

void
view_queue_clear(struct view *v, bool all)
{
    while (v->n_asks)
        ask_drop(v, v->n_asks - 1);
    for (size_t i = v->n_acts; i-- > 0;)
        if (all || !v->acts[i].task || is_over(v->acts[i].state)) /* what runs behind goes on */
            act_drop(v, i);
    todos_clear(v);
    free(v->todos_json);
    v->todos_json = NULL;
}
