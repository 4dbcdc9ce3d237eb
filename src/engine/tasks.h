#pragma once
/*
 * Background commands as the session sees them: the table (tools/task.h) is the engine's, its events are EV_TASK, and the model hears of
 * each end once, as a reminder in the next message that goes to it. Engine thread.
 *
 * EV_TASK: {"task":{"id","tool_use_id","name","what","state","why","pid","bytes","elapsed_ms","last_line","file"},"running":N}; state
 * as of tools: running, done, failed, cancelled; why: "exit 0", "stopped by the person"; file: where the output goes; running: background
 * commands that still run.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "engine/event.h"

struct core;
struct message_builder;
struct task_info;

void tasks_init(struct core *c);
/* Ends all of them and says so; the last events before EV_CLOSED. */
void tasks_close(struct core *c);
/* A call's result says that it goes on in the background. */
void tasks_announce(struct core *c, const char *id);
/* Its call was answered otherwise meanwhile: it is ended, the model knows nothing of it. */
void tasks_drop(struct core *c, const char *id);
/* Says what ended since. */
void tasks_pump(struct core *c);
/* What ended since the model was told last, as a text block. */
void tasks_add_reminders(struct core *c, struct buf *out);
/* How a task stands, as the state of a tool. */
enum tool_state tasks_shown_state(const struct task_info *i);
/* By its id or its call's. False: no such one runs. */
bool tasks_stop(struct core *c, struct str id);
/* The session was changed: those of the one before go on, which a notice says, or end. also: how else they are stopped, behind
 * "stop them in the activity pane"; "": not. */
void tasks_session_changed(struct core *c, bool stop, const char *also);
