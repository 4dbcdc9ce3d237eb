#pragma once
/* The commands' temporary folder. */
#include <stdbool.h>

#include "base/err.h"

/* given (a folder, resolved) or, NULL, a new one below TMPDIR or /tmp, 0700. *ret_own: new, to be removed. */
bool sandbox_tmp_make(const char *given, char **ret, bool *ret_own, struct err *err) MUST_CHECK;
/* With all in it, by descriptors: what lies there was written by commands, no link in it is followed. Best effort. */
void sandbox_tmp_remove(const char *dir);
