#pragma once
/* `yare perm check` (JSON lines in, JSON lines out) and `yare perm explain CMD` (for people). */
#include <stdio.h>

#include "base/config.h"

/* Answers each line of in, at once; exit code 0 when each line was answered. */
int perm_check_run(FILE *in, FILE *out);
/* Explains one shell command with the settings at hand. Exit code. */
int perm_explain_run(const char *command, const struct config *config, bool trusted,
                     const char *cwd, const char *root, FILE *out);
