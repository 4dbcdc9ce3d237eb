#pragma once
/*
 * Attachments: what the model is told beside results and prompts, as text blocks at the end of the newest user message, hidden behind a
 * fold for the person. A table of producers; each says whether it has news since it spoke last, how often it may speak and how
 * much. The system prompt never changes for them. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct core;
struct message;
struct message_builder;

#define ATTACH_TEXT_MAX 16000 /* bytes of one; ATTACH_ALL_MAX: of all in one message */
#define ATTACH_ALL_MAX 48000

/* After results and before what was typed: adds each text as a <system-reminder> block. What does not fit waits for the next turn. */
void attach_all(struct core *c, struct message_builder *b);
/* The message was appended: its reminders as hidden EV_USER, as a screen that opens the session later has them. */
void attach_emit(struct core *c, const struct message *m);
/* A tool touched a path: instructions that wait in its folder become due. */
void attach_touched(struct core *c, const char *path);
/* The list that TodoWrite set (a JSON array; NULL: none), also of a resumed session. */
void attach_todos(struct core *c, const char *list_json);
/* A new session, /clear, /compact: the producers begin anew. */
void attach_reset(struct core *c);
void attach_release(struct core *c);
