#pragma once
/* Slash commands about whole sessions; rows of the table in command.c. Engine thread, between turns. */
#include "base/buf.h"

struct engine;
void command_clear(struct engine *e, struct str arg);
void command_resume(struct engine *e, struct str arg); /* ID, its first characters, or a title */
void command_fork(struct engine *e, struct str arg);   /* goes on in a copy */
void command_rename(struct engine *e, struct str arg); /* NAME */
void command_export(struct engine *e,
                    struct str arg); /* [--force] [--format md|json|jsonl] [FILE] */
void command_sessions(struct engine *e, struct str arg); /* [WORDS] */
