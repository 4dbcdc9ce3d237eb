#pragma once
/*
 * Tools and permissions of the engine's tests. Read overlaps, Edit runs alone, Bash is a shell; each may wait at a gate
 * ("gate": 0 to 31 in its input) until a test opens it or its token fires ("deaf": it does not hear that); "notes" says a file was
 * seen. Permissions follow the input: "perm": "ask" or
 * "deny", else allow; rules of the rule set hold above that by tool name alone.
 */
#include "engine/engine.h"

void toys_reset(void);           /* all gates shut, counters at 0; before an engine starts */
void toys_open(int gate);        /* from any thread */
void toys_wait_until_idle(void); /* until no toy runs */
int toys_runs(void);             /* tools run so far */
extern const struct engine_seams toys_seams;
