#pragma once
/* What this day has cost, over all yares of this data folder: one small file under a lock, and a copy that has waited for the disk, which
 * counts where a power cut left less. No file: nothing was spent. Any thread. */
#include <stdbool.h>

#include "base/err.h"

bool spend_day_read(const char *data_dir, double *ret_usd, struct err *err) MUST_CHECK;
bool spend_day_add(const char *data_dir, double usd, struct err *err) MUST_CHECK;
