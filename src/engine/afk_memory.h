#pragma once
/* What the classifier is told of a person's instruction files: those of the user and of who manages the machine, never a project's. Reads
 * files; yours, "" when there are none. Engine thread. */
struct core;
char *afk_memory(struct core *c);
