#pragma once
/* An image file as a base64 image result. */
#include "tools/text_file.h"
#include "tools/tool.h"

void read_image(struct str bytes, enum file_kind kind, const char *path, struct tool_result *ret);
