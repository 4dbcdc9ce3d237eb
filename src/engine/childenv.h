#pragma once
/*
 * The environment of child processes: a whitelist of the program's own, never a key or token; git and pagers
 * made harmless, so that a repository's configuration runs nothing. Pure.
 */
#include <stdbool.h>

#include "base/buf.h"

/* NULL-terminated "K=V" copies; free with strv_free. environ may be NULL. more: further names that a person chose (setting bash.passEnv;
 * NULL: none), never what looks like a secret, a provider's account or a way to run other code. */
char **childenv_make(const char *const *environ, const char *const *more);
