#pragma once
/* The providers there are. Each is made from plain strings (credentials stay inside). Streams of several threads may run at once (the
 * engine's, the classifier's); each stream belongs to its own. */
#include "model/body_text.h"
#include "model/openai_caps.h"
#include "model/stream.h"

struct anthropic_config {
    const char *base_url;   /* without /v1; NULL: https://api.anthropic.com */
    const char *api_key;    /* x-api-key, or NULL */
    const char *auth_token; /* Authorization: Bearer, or NULL */
    /* extra anthropic-beta values, comma list, or NULL; what the server refuses is dropped */
    const char *betas;
    /* "Name: value" lines, or NULL; they replace ours of the same name */
    const char *custom_headers;
    const char *user_agent;
};
struct model_provider *anthropic_provider_new(const struct anthropic_config *c);

/* Chat completions as OpenAI and many others speak them (docs/wires.md). */
struct openai_config {
    const char *base_url; /* with its /v1; NULL: https://api.openai.com/v1 */
    const char *api_key;  /* Authorization: Bearer, or NULL (local servers) */
    /* "Name: value" lines, or NULL; they replace ours of the same name */
    const char *custom_headers;
    const char *user_agent;
    /* UNKNOWN: told from the base URL */
    enum openai_kind kind;
    unsigned without; /* OPENAI_CAP bits known to be refused, beside what the kind says */
};
struct model_provider *openai_provider_new(const struct openai_config *c);

/* The offline pilot: no network, no model. pace_us: pause between deltas of a few characters, 0: none. */
struct model_provider *offline_provider_new(int pace_us);
void model_provider_free(struct model_provider *p); /* NULL is fine */

/* The request body of the Messages API, as slices into req, `text` (which goes on from the request before) and `scratch`, which must live
 * as long: for tests and for the wire. Returns the number of slices. What does not fit leaves text->text or scratch full. */
size_t anthropic_body(const struct model_request *req, struct body_text *text, struct buf *scratch,
                      struct str ret[BODY_SLICES]);
/* The body of /v1/messages/count_tokens, in the same way: without what only an answer needs. */
size_t anthropic_count_body(const struct model_request *req, struct body_text *text,
                            struct buf *scratch, struct str ret[BODY_SLICES]);
