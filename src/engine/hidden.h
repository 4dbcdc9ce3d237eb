/* What yare tells the model in a message of its own, in one line for the person. */
#pragma once
#include "base/buf.h"

/* NULL: its own first line does. */
char *hidden_brief(struct str text);
