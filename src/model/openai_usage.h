#pragma once
/* Usage as servers count it: under the names of OpenAI and of others, cached tokens among those of the prompt. */
#include "model/stream.h"

struct cJSON;
/* What a chunk counts goes over what earlier ones did. False: it counts no prompt. */
bool openai_usage_read(const struct cJSON *chunk, struct usage *u);
