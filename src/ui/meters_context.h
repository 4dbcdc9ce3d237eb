#pragma once
/* The part of the meters that two pages share: how full the context is. Pure. */
#include <stdbool.h>

#include "ui/lines.h"

struct cJSON;
/* Appends it from an answer to QUERY_METERS. */
void meters_context(const struct cJSON *answer, struct lines *out, int width, bool ascii);
/* Rounded, within what is shown of any number from outside. */
int meters_whole(double v);
