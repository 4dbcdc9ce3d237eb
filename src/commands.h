#pragma once
/* Sub-commands: one table row each in commands.c. */
#include "cli.h"

int commands_run(int argc, char **argv, struct options *o); /* the exit code */
int commands_sessions(void);                                /* `yare sessions` */
