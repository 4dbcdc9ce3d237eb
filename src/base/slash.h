#pragma once
/*
 * What is typed and begins with '/': a command, or words about a file. Every front end and the engine decide it here, so that the same
 * line means the same in the panes, line by line and in print mode. Any thread.
 */
#include <stdbool.h>

#include "base/buf.h"

/* "/name" or "/name arguments", the name known or not. "/etc/hosts is empty" and "/notes.md" are none, by their first word; nor is
 * "/home is full", since there is such a file or folder: who knows commands by name asks for these first. */
bool slash_is_command(struct str line);

/* "name" of "/name" and "/name arguments", borrowed from the line; empty where it begins with no '/'. *ret_arg, when given: what follows, trimmed. */
struct str slash_name(struct str line, struct str *ret_arg);
