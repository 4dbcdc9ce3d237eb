/* The small ones: mode, plan mode, the todo list, the date, background commands that ended. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/attach.h"
#include "engine/attach_private.h"
#include "engine/core.h"
#include "engine/hidden.h"
#include "engine/session_private.h"
#include "engine/tasks.h"

#define PLAN_EVERY 10
#define TODO_IDLE 10
#define TODO_ITEMS 30

void
attach_today(char ret[11])
{
    struct buf b;
    buf_init(&b, 64);
    clock_iso8601(clock_wall_ms(), &b);
    (void)memcpy(ret, buf_cstr(&b), b.len < 10 ? b.len : 10);
    ret[b.len < 10 ? b.len : 10] = '\0';
    buf_release(&b);
}

bool
attach_date(struct core *c, struct buf *out)
{
    char today[11];
    attach_today(today);
    if (strcmp(today, c->told->date) == 0)
        return false;
    memcpy(c->told->date, today, sizeof today);
    buf_addf(out, "The date has changed: it is %s now.", today);
    return true;
}

bool
attach_task_notes(struct core *c, struct buf *out)
{
    tasks_add_reminders(c, out);
    session_was_add_reminder(c, out);
    return out->len > 0;
}

/* ---- modes ---- */

#define PLAN_RULE                                                                                  \
    "Only read and search: change nothing, run nothing that changes anything. End with a plan "    \
    "for the person to judge."

bool
attach_mode(struct core *c, struct buf *out)
{
    if (c->mode == c->told_mode)
        return false;
    buf_addf(out, HIDDEN_MODE "\"%s\".", perm_mode_shown(c->mode));
    if (c->mode == PERM_PLAN)
        buf_adds(out, " " PLAN_RULE);
    else if (c->told_mode == PERM_PLAN)
        buf_adds(out, " The restriction to reading is lifted.");
    c->told_mode = c->mode;
    c->told->plan_turn = c->told->turn;
    return true;
}

bool
attach_plan(struct core *c, struct buf *out)
{
    struct attach_told *t = c->told;
    if (c->mode != PERM_PLAN || t->turn - t->plan_turn < PLAN_EVERY)
        return false;
    t->plan_turn = t->turn;
    buf_adds(out, "Plan mode is still on. " PLAN_RULE);
    return true;
}

/* ---- todos ---- */

void
attach_todos(struct core *c, const char *list_json)
{
    struct attach_told *t = c->told;
    if (!t)
        return;
    free(t->todos);
    t->todos = xstrdup(list_json);
    t->todos_turn = t->turn;
}

static bool
is_open(const struct cJSON *item)
{
    return json_is_object(item) && !str_is(json_str(item, "status"), "completed");
}

bool
attach_todo(struct core *c, struct buf *out)
{
    struct attach_told *t = c->told;
    size_t open = 0;
    if (!t->todos || t->turn - t->todos_turn < TODO_IDLE)
        return false;
    struct cJSON *tree = json_parse(str_from(t->todos), NULL);
    for (const struct cJSON *k = json_first(tree); k; k = json_next(k))
        open += is_open(k);
    if (open)
        buf_addf(out,
                 "The todo list has %zu open %s and has not changed for a while. Keep it up to "
                 "date where it still helps; the person need not hear of this.",
                 open, open == 1 ? "item" : "items");
    size_t shown = 0;
    for (const struct cJSON *k = json_first(tree); k && shown < TODO_ITEMS; k = json_next(k)) {
        if (!is_open(k))
            continue;
        buf_addf(out, "\n- [%s] %.200s", json_cstr(k, "status", "pending"),
                 json_cstr(k, "content", ""));
        shown++;
    }
    json_free(tree);
    return open > 0;
}
