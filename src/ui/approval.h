#pragma once
/*
 * The permission pane, between approval.c (which request is shown, keys), approval_draw.c and approval_parts.c (how it looks). What
 * can be done with a request is decided here once, so that no key does what the pane does not offer. UI thread; asks belong to the
 * view and are gone with the next event.
 */
#include "ui/lines.h"
#include "ui/view.h"

const struct ask *approval_ask(const struct approval *a,
                               const struct view *v); /* the one shown, NULL: none */
size_t approval_pending(const struct approval *a, const struct view *v,
                        size_t *ret_place); /* unanswered; place from 0 */
/* "Always" is offered: a rule can be saved for it and all of the request was seen. */
bool approval_can_always(const struct approval *a, const struct ask *ask);
/* Its command can be changed before it runs. */
bool approval_can_edit(const struct ask *ask);
/* The last rows of the pane: why the last key did nothing, and the keys that do something. */
void approval_foot(struct lines *out, const struct approval *a, const struct view *v, int w, int h);
