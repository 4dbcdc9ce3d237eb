#pragma once
/* yare perm check | explain | log. */

struct setup;

int commands_perm_run(int argc, char **argv, struct setup *s);
