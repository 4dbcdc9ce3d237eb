#pragma once
/*
 * Print mode: one more client of the engine's seam. Events become text, one JSON object, or NDJSON on standard output; what is not
 * part of the answer (the model's, or a slash command's) goes to standard error. Nobody is there to be asked: with
 * engine_config.print_mode the engine refuses what would ask. One thread; the engine stays the caller's.
 */
#include "base/err.h"
#include "cli.h"

struct engine;
/* prompt: NULL with --input-format stream-json, whose messages are read from standard input. signal_fd: INT, TERM, HUP.
 * Returns the exit code. */
int headless_run(struct engine *e, const struct options *o, const char *prompt, int signal_fd);
