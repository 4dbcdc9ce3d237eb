#pragma once
/* File types of Grep's `type`, with ripgrep's names. */
#include "base/buf.h"

/* Its patterns, blank-separated; NULL: unknown. */
const char *grep_type_patterns(struct str type);
