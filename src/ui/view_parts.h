#pragma once
/* Inside of the view model: what view.c's table of events hands on. UI thread. */
#include "ui/view.h"

/* view_items.c: the transcript */
struct item *view_item_add(struct view *v, enum item_kind kind,
                           const char *text);                       /* text may be NULL */
void view_item_text(struct view *v, struct item *it, struct str s); /* appends */
void view_item_touch(struct view *v, struct item *it);              /* what is drawn changed */
struct item *view_tool_item(struct view *v, const char *id);        /* NULL: none */
void view_items_clear(struct view *v);
void view_item_release(struct item *it);
void view_on_block(struct view *v, const struct event *e);
void view_on_tool_item(struct view *v, struct event *e);
/* No event for what is still open will come: blocks are closed, tools that did not end are cancelled. */
void view_items_settle(struct view *v);
/* What the model said since item `no` is void: it says it again. Calls that have begun stay. */
void view_items_take_back(struct view *v, uint64_t no, bool but_text);

/* view_queue.c: activity, asks, todos */
void view_on_tool_activity(struct view *v, const struct event *e);
void view_on_ask(struct view *v, struct event *take_e);
void view_on_decided(struct view *v, const struct event *e);
void view_on_task(struct view *v, struct event *e);
void view_asks_drop_tool(struct view *v, const char *tool_use_id);
/* Those of the main agent, whose turn is over, or all. */
void view_asks_drop(struct view *v, bool all);
void view_queue_settle(struct view *v);
/* all: also the commands in the background, which outlive a session. */
void view_queue_clear(struct view *v, bool all);

/* Replaces an owned string by a copy (NULL keeps what stands). */
void view_set(char **p, const char *s);
