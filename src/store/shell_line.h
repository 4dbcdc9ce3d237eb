#pragma once
/*
 * How a command that the person ran with `!` stands in the conversation: one text block of a user message, in a form that models know.
 * Whoever shows a conversation to people shows the command and its output instead. Pure; any thread.
 */
#include <stdbool.h>

#include "base/buf.h"

void shell_line_write(struct buf *out, struct str command, struct str output);
/* Parts of the text; false: it is no such block, and nothing is given. */
bool shell_line_read(struct str text, struct str *ret_command, struct str *ret_output);
