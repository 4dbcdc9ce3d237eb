#pragma once
/* Shared by approval.c (state and keys) and approval_draw.c. */
#include "ui/view.h"

const struct ask *approval_ask(const struct approval *a, const struct view *v); /* the one shown, NULL: none */
size_t approval_pending(const struct approval *a, const struct view *v, size_t *ret_place); /* unanswered; place from 0 */
bool approval_can_always(const struct approval *a, const struct ask *ask);
bool approval_can_edit(const struct ask *ask);
