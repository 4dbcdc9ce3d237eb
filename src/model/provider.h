#pragma once
/* The providers there are. Each is made from plain strings (credentials stay inside) and is used by one engine thread. */
#include "model/stream.h"

struct anthropic_config {
    const char *base_url;    /* without /v1; NULL: https://api.anthropic.com */
    const char *api_key;     /* x-api-key, or NULL */
    const char *auth_token;  /* Authorization: Bearer, or NULL */
    const char *betas;       /* extra anthropic-beta values, comma list, or NULL */
    const char *custom_headers; /* "Name: value" lines, or NULL */
    const char *user_agent;
};
struct model_provider *anthropic_provider_new(const struct anthropic_config *c);
/* The offline pilot: no network, no model. pace_us: pause between deltas of a few characters, 0: none. */
struct model_provider *offline_provider_new(int pace_us);
void model_provider_free(struct model_provider *p); /* NULL is fine */

/* The request body of the Messages API, as slices into req and into `scratch` (which must live as long): for tests and
 * for the wire. Returns the number of slices written to ret (at most cap). */
struct buf;
size_t anthropic_body(const struct model_request *req, struct buf *scratch, struct str *ret, size_t cap);
