/* The activity pane's keys, the full log of a tool, and what both ask the engine. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "ui/app_private.h"
#include "ui/term.h"

#define BEHIND_MS                                                                                  \
    10000 /* between two looks at what runs in the background, while nothing else goes on */
#define TREE_SEQ ((uint64_t)1 << 45)
#define TREE_LINES 8

void
app_activity_init(struct app *a)
{
    log_view_init(&a->log);
    a->last_tree_seq = TREE_SEQ;
}

void
app_activity_release(struct app *a)
{
    log_view_release(&a->log);
    free(a->selected_id);
    free(a->tree_id);
}

/* ---- the selection: it stands on a tool, not on a row, since rows move while tools end ---- */

static void
select_row(struct app *a, int row)
{
    const struct activity *at = activity_at(&a->view, row);
    a->selected = row;
    free(a->selected_id);
    a->selected_id = at ? xstrdup(at->id) : NULL;
}

void
app_activity_leave(struct app *a)
{
    a->selected = 0;
    free(a->selected_id);
    a->selected_id = NULL;
}

void
app_activity_follow(struct app *a)
{
    const struct activity *at;
    if (a->focus != PANE_ACTIVITY)
        return;
    for (int i = 0; a->selected_id && (at = activity_at(&a->view, i)) != NULL; i++)
        if (at->id && strcmp(at->id, a->selected_id) == 0) {
            a->selected = i;
            return;
        }
    while (a->selected > 0 && !activity_at(&a->view, a->selected))
        a->selected--;
    select_row(a, a->selected);
}

/* ---- what can be done to a tool ---- */

static bool
is_running(const struct activity *at)
{
    return at->state == TOOL_RUNNING || at->state == TOOL_WAITING || at->state == TOOL_ASKING ||
           at->state == TOOL_JUDGING;
}

static void
note_about(struct app *a, const char *what_is_done, const struct activity *at)
{
    struct buf b;
    buf_init(&b, 4096);
    struct str what = str_from(at->what);
    size_t nl = str_find(what, '\n', 0);
    text_visible(&b, str_sub(what, 0, nl < 60 ? nl : 60));
    app_note(a, "%s %s  %s", what_is_done, at->name ? at->name : "tool", buf_cstr(&b));
    buf_release(&b);
}

static void
stop(struct app *a, const struct activity *at)
{
    if (!is_running(at)) {
        app_note(a, "it is over already");
        return;
    }
    app_post(a, OP_STOP_TOOL, at->id);
    note_about(a, "stopping", at);
}

static void
send_behind(struct app *a, const struct activity *at)
{
    if (at->state != TOOL_RUNNING || at->task) {
        app_note(a, at->task && at->state == TOOL_RUNNING ? "it runs in the background already"
                                                          : "it does not run");
        return;
    }
    app_post(a, OP_BACKGROUND_TOOL, at->id);
    note_about(a, "to the background:", at);
}

void
app_background(struct app *a)
{
    app_post(a, OP_BACKGROUND_TOOL, NULL);
}

bool
app_activity_key(struct app *a, int key)
{
    return app_activity_action(a, key == YK_DOWN ? ACT_ACT_NEXT
                                  : key == YK_UP ? ACT_ACT_BACK
                                                 : keys_action_in(KEYS_ACTIVITY, key, 0));
}

bool
app_activity_action(struct app *a, enum key_action act)
{
    app_activity_follow(a);
    const struct activity *at = activity_at(&a->view, a->selected);
    if (act == ACT_ACT_NEXT)
        select_row(a, a->selected + (activity_at(&a->view, a->selected + 1) != NULL));
    else if (act == ACT_ACT_BACK)
        select_row(a, a->selected - (a->selected > 0));
    else if (act == ACT_ACT_LOG && at)
        log_view_open(&a->log, at->id);
    else if (act == ACT_ACT_STOP && at)
        stop(a, at);
    else if (act == ACT_ACT_BACKGROUND && at)
        send_behind(a, at);
    else
        return act == ACT_ACT_LOG;
    return true;
}

bool
app_activity_press(struct app *a)
{
    struct layout l;
    int x, y, w = a->canvas.w, h = a->canvas.h;
    if (app_covered(a))
        return false;
    layout_make(&a->view, w, h, 1, &l);
    layout_make(&a->view, w, h, input_rows(&a->input, l.prompt.w), &l);
    term_mouse(&x, &y);
    struct rect r = l.activity;
    if (l.tiny || x < r.x || x >= r.x + r.w || y < r.y || y >= r.y + r.h)
        return false;
    int place =
        activity_place(&a->view, r, l.strip, a->focus == PANE_ACTIVITY, a->selected, y - r.y);
    if (place < 0)
        return true;
    a->focus = PANE_ACTIVITY;
    a->line = LINE_PROMPT;
    select_row(a, place);
    return true;
}

/* ---- the log ---- */

static const struct activity *
tool_of_log(const struct app *a)
{
    const struct activity *at;
    for (int i = 0; (at = activity_at(&a->view, i)) != NULL; i++)
        if (at->id && strcmp(at->id, a->log.id) == 0)
            return at;
    return NULL;
}

void
app_log_key(struct app *a, int key, struct str typed)
{
    const struct activity *at = tool_of_log(a);
    switch (log_view_key(&a->log, key, typed)) {
    case LOG_KEY_STOP:
        if (at)
            stop(a, at);
        break;
    case LOG_KEY_BACKGROUND:
        if (at)
            send_behind(a, at);
        break;
    case LOG_KEY_USED:
        break;
    }
}

static void
take_processes(struct app *a, const struct event *ev)
{
    struct err err = {0};
    char *lines[TREE_LINES];
    struct buf all;
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), &err);
    size_t n = log_process_lines(tree, lines, TREE_LINES);
    buf_init(&all, 1 << 16);
    for (size_t i = 0; i < n; i++) {
        buf_addf(&all, "%s%s", i ? "\n" : "", lines[i]);
        free(lines[i]);
    }
    if (view_set_processes(&a->view, a->tree_id, buf_cstr(&all)))
        a->dirty = true;
    buf_release(&all);
    json_free(tree);
    a->tree_seq = 0;
}

void
app_activity_event(struct app *a, const struct event *ev)
{
    log_view_note(&a->log, ev);
    if (ev->kind == EV_TOOL && ev->phase == PHASE_END && ev->u.tool.id && a->log.id)
        a->dirty = true;
    if (ev->kind != EV_ANSWER)
        return;
    if (a->tree_seq && ev->seq == a->tree_seq)
        take_processes(a, ev);
    else if (log_view_answer(&a->log, ev))
        a->dirty = true;
}

/* ---- time ---- */

/* The command whose processes are shown: the selected one, else the first that runs. */
static const struct activity *
tool_with_tree(const struct app *a)
{
    const struct activity *at = activity_at(&a->view, a->focus == PANE_ACTIVITY ? a->selected : 0);
    return at && at->state == TOOL_RUNNING && at->name && strcmp(at->name, "Bash") == 0 ? at : NULL;
}

/* Only while the pane has room for them, one question at a time. */
void
app_ask_processes(struct app *a)
{
    struct layout l;
    const struct activity *at = tool_with_tree(a);
    layout_make(&a->view, a->canvas.w, a->canvas.h, 1, &l);
    if (!at || !at->id || l.strip || !l.activity.h || a->tree_seq || !a->engine || a->engine_closed)
        return;
    free(a->tree_id);
    a->tree_id = xstrdup(at->id);
    char *arg = xasprintf("%s 0", at->id);
    struct op *op = op_new(OP_QUERY, arg);
    op->query = QUERY_TOOL_LOG;
    op->seq = a->tree_seq = ++a->last_tree_seq;
    engine_post(a->engine, op);
    free(arg);
}

static bool
runs_behind(const struct app *a)
{
    for (size_t i = 0; i < a->view.n_acts; i++)
        if (a->view.acts[i].task && a->view.acts[i].state == TOOL_RUNNING)
            return true;
    return false;
}

int64_t
app_activity_due(const struct app *a)
{
    int64_t at = log_view_due(&a->log);
    if (a->engine_closed || !a->engine)
        return -1;
    if (runs_behind(a) && (at < 0 || a->tick_ms + BEHIND_MS < at))
        at = a->tick_ms + BEHIND_MS;
    return at;
}

void
app_activity_time(struct app *a, int64_t now)
{
    if (!a->engine || a->engine_closed)
        return;
    struct op *op = log_view_ask(&a->log, now);
    if (op)
        engine_post(a->engine, op);
    if (runs_behind(a) && now >= a->tick_ms + BEHIND_MS) {
        a->tick_ms = now;
        a->dirty = true;
        app_ask_processes(a);
    }
}
