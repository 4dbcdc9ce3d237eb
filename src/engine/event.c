#include "engine/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/event_fields.h"

/* A merged text stays below this, so that a slow reader still slows the writer. */
#define MERGE_MAX ((size_t)64 << 10)

static const char *const kind_names[] = {
    [EV_SESSION] = "session",
    [EV_USER] = "user",
    [EV_TURN] = "turn",
    [EV_BLOCK] = "block",
    [EV_MESSAGE] = "message",
    [EV_TOOL] = "tool",
    [EV_PERM_ASK] = "perm_ask",
    [EV_PERM_DECIDED] = "perm_decided",
    [EV_MODE] = "mode",
    [EV_USAGE] = "usage",
    [EV_CONTEXT] = "context",
    [EV_TRANSITION] = "transition",
    [EV_TASK] = "task",
    [EV_NOTICE] = "notice",
    [EV_ERROR] = "error",
    [EV_RETRY] = "retry",
    [EV_COMPACT] = "compact",
    [EV_ANSWER] = "answer",
    [EV_RESULT] = "result",
    [EV_RAW] = "raw",
    [EV_OFFER] = "offer",
    [EV_CLOSED] = "closed",
    [EV_CACHE_BREAK] = "cache_break",
    [EV_TOOL_SUMMARY] = "tool_summary",
};

static const char *const tool_state_names[] = {
    [TOOL_WAITING] = "waiting", [TOOL_ASKING] = "asking",       [TOOL_JUDGING] = "judging",
    [TOOL_RUNNING] = "running", [TOOL_DONE] = "done",           [TOOL_FAILED] = "failed",
    [TOOL_DENIED] = "denied",   [TOOL_CANCELLED] = "cancelled",
};

const char *
event_kind_name(enum event_kind k)
{
    return (size_t)k < ARRAY_LEN(kind_names) ? kind_names[k] : "unknown";
}

const char *
tool_state_name(enum tool_state s)
{
    return (size_t)s < ARRAY_LEN(tool_state_names) ? tool_state_names[s] : "unknown";
}

struct op *
op_new(enum op_kind kind, const char *text)
{
    struct op *op = xcalloc(1, sizeof *op);
    op->kind = kind;
    op->text = xstrdup(text);
    return op;
}

void
op_free(struct op *op)
{
    if (!op)
        return;
    free(op->text);
    free(op->perm.reason);
    free(op->perm.edited_input);
    free(op);
}

struct event *
event_new(enum event_kind kind)
{
    struct event *e = xcalloc(1, sizeof *e);
    e->kind = kind;
    e->wall_ms = clock_wall_ms();
    return e;
}

static void
free_rules(struct event *e)
{
    for (size_t i = 0; i < e->u.ask.n_rules; i++)
        free(e->u.ask.rules[i]);
    free(e->u.ask.rules);
}

void
event_free(struct event *e)
{
    if (!e)
        return;
    size_t n;
    const struct event_field *f = event_fields(&n);
    for (size_t i = 0; i < n; i++) {
        if (f[i].kind != e->kind)
            continue;
        if (f[i].type == FIELD_STR)
            free(*FIELD_AT(e, &f[i], char *));
        else if (f[i].type == FIELD_DECISION)
            decision_release(FIELD_AT(e, &f[i], struct decision));
        else if (f[i].type == FIELD_RULES)
            free_rules(e);
    }
    free(e->agent);
    free(e);
}

static bool
same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool
merge_block(struct event *last, struct event *item)
{
    if (last->phase != PHASE_DELTA || item->phase != PHASE_DELTA ||
        last->u.block.type != item->u.block.type || last->u.block.index != item->u.block.index ||
        last->u.block.replayed != item->u.block.replayed || last->place != item->place ||
        !last->u.block.text || !item->u.block.text)
        return false;
    size_t a = strlen(last->u.block.text), b = strlen(item->u.block.text);
    if (a + b > MERGE_MAX)
        return false;
    last->u.block.text = xrealloc(last->u.block.text, a + b + 1);
    memcpy(last->u.block.text + a, item->u.block.text, b + 1);
    event_free(item);
    return true;
}

/* The newer one takes the place of the older. */
static bool
replace(struct event *last, struct event *item)
{
    struct event old = *last;
    *last = *item;
    *item = old;
    event_free(item);
    return true;
}

bool
event_merge(struct event *last, struct event *item)
{
    if (!last || !item || last->kind != item->kind || !same(last->agent, item->agent))
        return false;
    switch (item->kind) {
    case EV_BLOCK:
        return merge_block(last, item);
    case EV_TOOL:
        if (last->phase == PHASE_DELTA && item->phase == PHASE_DELTA &&
            last->u.tool.state == item->u.tool.state && same(last->u.tool.id, item->u.tool.id)) {
            if (!item->u.tool.what) { /* what it does was said once, and is not said again */
                item->u.tool.what = last->u.tool.what;
                last->u.tool.what = NULL;
            }
            return replace(last, item);
        }
        return false;
    case EV_USAGE:
    case EV_CONTEXT:
        return replace(last, item);
    default:
        return false;
    }
}

static const struct {
    const char *exit, *words;
} ends[] = {
    {"completed", "done"},
    {"blocking_limit", "the context is full: /compact shrinks it, /clear starts anew"},
    {"model_error", "the request to the model failed"},
    {"prompt_too_long", "the conversation is too long for the model: /compact or /clear"},
    {"max_turns", "the turns allowed for one request are used up"},
    {"max_budget", "the money allowed is used up"},
    {"repeating", "the model goes round in a circle"},
    {"command_failed", "the command could not do what it was asked"},
    {"hook_stopped", "a hook stopped it"},
    {"aborted_streaming", "interrupted"},
    {"aborted_tools", "interrupted"},
};

const char *
event_end_words(const char *exit)
{
    for (size_t i = 0; exit && i < ARRAY_LEN(ends); i++)
        if (strcmp(exit, ends[i].exit) == 0)
            return ends[i].words;
    return "it stopped, and no reason was given";
}
