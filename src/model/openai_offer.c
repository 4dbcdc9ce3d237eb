/* What a request offered: the answer's calls are read with it. */
#include <stdlib.h>

#include "base/json.h"
#include "model/openai_calls.h"

void
openai_offer_init(struct openai_offer *o, const struct model_request *req,
                  const struct str_set *ids)
{
    *o = (struct openai_offer){.tools = req->tools.len ? json_parse(req->tools, NULL) : NULL,
                               .ids = ids};
}

void
openai_offer_release(struct openai_offer *o)
{
    json_free(o->tools);
    *o = (struct openai_offer){0};
}

static const struct cJSON *
find(const struct openai_offer *o, struct str name)
{
    for (const struct cJSON *t = json_first(o->tools); t; t = json_next(t))
        if (name.len && str_eq(json_str(t, "name"), name))
            return t;
    return NULL;
}

bool
openai_offers(const struct openai_offer *o, struct str name)
{
    return find(o, name) != NULL;
}

struct str
openai_offer_type(const struct openai_offer *o, struct str tool, struct str parameter)
{
    const struct cJSON *props = json_at(find(o, tool), "input_schema.properties");
    char *key = str_dup(parameter);
    struct str type = json_str(json_get(props, key), "type");
    free(key);
    return type;
}
