#pragma once
/*
 * Sub-commands about sessions, rows of the table in commands.c: `yare sessions` and `yare export`. They read the store without an
 * engine. argv begins behind the command's name; the setup is initialised and stays the caller's. Returns the exit code; what is
 * wrong is said on standard error.
 */
struct setup;
int commands_sessions_run(int argc, char **argv, struct setup *s);
int commands_export_run(int argc, char **argv, struct setup *s);
