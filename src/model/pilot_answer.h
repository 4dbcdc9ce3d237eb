#pragma once
/* What the offline pilot answers to a request: words about what came back, and the next tool calls or the end. */
#include "model/offline_script.h"

struct model_request;
void pilot_answer(const struct model_request *req, struct script *out);
