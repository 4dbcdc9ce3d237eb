#pragma once
/* Making a file that is not there yet, with its parent folders. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* path: no link is followed any more (tools/at.h). ERR_STALE when something stands at path by now. Mode 0666 less the umask. */
bool new_file_create(const char *path, struct str bytes, int64_t *ret_mtime_ns,
                     struct err *err) MUST_CHECK;
