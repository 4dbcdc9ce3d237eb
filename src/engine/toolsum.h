#pragma once
/*
 * One line over a finished batch of tool calls, for the person: what it came to. The provider's small model writes it beside the next
 * request (engine/side.h); it never waits for it, and one that is not there when the next answer is, is dropped. There is none
 * in print mode, for fewer than TOOLSUM_CALLS calls, with the setting "toolSummary": false, where the provider has no small model,
 * and, unless the setting is true, behind a gateway or where the catalogue does not know the session's own. Engine thread.
 */
#include <stdbool.h>

struct core;
struct message;

#define TOOLSUM_CALLS 3
#define TOOLSUM_MAX 120 /* bytes of the line */

/* The results of these calls were appended. */
void toolsum_begin(struct core *c, const struct message *calls, const struct message *results);
/* Emits EV_TOOL_SUMMARY when it is there. */
void toolsum_poll(struct core *c);
/* The next answer came or the turn ended: it is too late. Its tokens are counted when it ends. */
void toolsum_late(struct core *c);
/* The session changes: it ends. */
void toolsum_drop(struct core *c);
