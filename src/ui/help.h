#pragma once
/* The text of the help overlay, made from the key table. */
#include "base/buf.h"

void help_text(struct buf *out);
