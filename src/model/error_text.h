#pragma once
/* What both wires make of the words and the status of a server that refuses. */
#include <stdbool.h>

#include "base/buf.h"

#define ERROR_TEXT_MAX 4096

/* A page as words: its title, or what stands outside of its tags. */
void error_text_page(struct str page, struct buf *out);
/* The next attempt may do better. */
bool error_text_is_passing(int status);
/* What the person can do, as the end of a sentence (": check the API key"), or "". */
const char *error_text_advice(int status);
/* A kind or an id that the server gave, short and safe to show; yours. */
char *error_text_word(struct str s);
