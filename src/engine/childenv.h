#pragma once
/*
 * The environment of child processes: a whitelist of the program's own, never a key or token; git and pagers
 * made harmless, so that a repository's configuration runs nothing. Pure.
 */
#include <stdbool.h>

#include "base/buf.h"

/* NULL-terminated "K=V" copies; free with strv_free. environ may be NULL. */
char **childenv_make(const char *const *environ);
/* Is the variable handed to children? */
bool childenv_allows(struct str name);
