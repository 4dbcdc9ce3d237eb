#pragma once
/* The strict pre-scan under json_parse. Private to base/json. */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Checks that s is exactly one JSON value as base/json.h demands. `repaired` stays empty unless lone surrogates had to
 * be replaced; then it holds the whole text with U+FFFD in their place. */
bool json_scan(struct str s, struct buf *repaired, struct err *err) MUST_CHECK;
