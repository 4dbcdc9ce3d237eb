#pragma once
/* Sub-commands about sessions; rows of the table in commands.c. argv begins behind the command's name; the exit code. */
struct setup;
int commands_sessions_run(int argc, char **argv, struct setup *s);
int commands_export_run(int argc, char **argv, struct setup *s);
