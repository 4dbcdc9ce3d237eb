#pragma once
/*
 * What a server refused in the history, taken out of it: a 400 that names "messages.3.content.1" is mended once and sent again. Images
 * become a text that says so, thinking goes, an unknown block is left out. Engine thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/message.h"

struct core;
struct model_request;

/* Mends the message in State that the refusal speaks of; what was done is told in ret_what. False: it names no message of ours, or nothing
 * can be left out of it. */
bool repair_block(struct core *c, const struct model_request *req, const struct err *err,
                  char *ret_what, size_t what_size);
