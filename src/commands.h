#pragma once
/*
 * Sub-commands (`yare doctor`, `yare sessions`, ...): one row each of the table in commands.c.
 * main.c calls this when the command line names one. argv is the whole command line; o->rest says where the command's own arguments
 * begin. What is wrong is said on standard error; the exit code is 0, 1 when it failed, 2 when it was called wrongly.
 */
#include "cli.h"

int commands_run(int argc, char **argv, struct options *o); /* the exit code */
int commands_sessions(
    void); /* `yare sessions`, also for --resume without an id where no screen can be shown */
