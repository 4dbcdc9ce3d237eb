#pragma once
/* Strings of the classifier's question; judge_prompt.c and judge_call.c alone. */
#include <stddef.h>

#include "base/buf.h"

struct jw;

/* A string, what does not show made visible; past max it is cut and says so. key NULL: an element. */
void judge_put(struct jw *w, const char *key, struct str s, size_t max);
