#pragma once
/*
 * Calls that a server left in the text: `<tool_call>{...}</tool_call>` and the other spellings of open models, when the server has no
 * parser for them or its parser gave up. They count only as a whole: all the text from the first mark on is calls of offered tools, in
 * one of the known spellings, to the end of the answer. Text that quotes such a mark stays text.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/openai_calls.h"

/* Does a call begin at the start of s? YES: hold the text back; MAYBE: it is too short to tell. alone: nothing stands before it in the
 * answer, so that a bare object counts too. */
enum openai_leak { OPENAI_LEAK_NO, OPENAI_LEAK_MAYBE, OPENAI_LEAK_YES };
enum openai_leak openai_leak_begins(struct str s, bool alone);
/* All of s as calls: they are added to c and true is returned; else nothing is added. */
bool openai_leak_parse(struct str s, struct openai_calls *c);
