#pragma once
/* Inside base/proc: starting one supervisor with its descriptors. Not for others. */
#include "base/proc.h"

/* Starts the supervisor and reads its first report; on false everything is closed and reaped. tty_fd -1: none; argv
 * NULL in the spec: a terminal guard. */
bool proc_spawn(const char *supervisor, const struct proc_spec *spec, int tty_fd, struct proc *ret,
                struct err *err) MUST_CHECK;
