#pragma once
/* The history rules of the Messages API, written down a second time: what a real server would refuse. Shares no code with
 * the validator. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/message.h"

/* NULL: legal; else what is wrong with it, static. */
const char *legal_check(const struct message *const *m, size_t n);
/* The same where m[0..from-1] are known to be legal and only what follows them is new. */
const char *legal_check_from(const struct message *const *m, size_t n, size_t from);
/* Of a JSON array of messages. */
const char *legal_check_json(struct str array);
