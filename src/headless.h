#pragma once
/* Print mode: one more client of the engine's seam. Events become text, one JSON object, or NDJSON. */
#include "base/err.h"
#include "cli.h"

struct engine;
/* prompt: NULL with --input-format stream-json, whose messages are read from standard input. signal_fd: INT, TERM, HUP.
 * Returns the exit code. */
int headless_run(struct engine *e, const struct options *o, const char *prompt, int signal_fd);
