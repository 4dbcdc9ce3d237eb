#pragma once
/*
 * A provider whose key comes from a helper command (model/keyhelper.h) and is renewed: when it is older than its time to live, and when
 * the server refuses it with 401 before anything was answered. The request then goes out once more with the new key; a second refusal is
 * the error. The stream waits for the helper inside model_stream_next, so that the engine stays answerable.
 *
 * Streams of several threads may run at once; each keeps the provider that it began with.
 */
#include "model/keyhelper.h"
#include "model/provider.h"

struct keyed_config { /* strings are copied */
    const char *name; /* static: the inner provider's */
    const char *command, *cwd;
    const char *const *env;
    int64_t ttl_ms;        /* 0: until it is refused */
    const char *first_key; /* got already; NULL: asked for with the first request */
    /* A provider with this key; it must copy what it keeps. user must outlive the provider. */
    struct model_provider *(*make)(void *user, const char *key);
    void *user;
};
struct model_provider *keyed_provider_new(const struct keyed_config *c);
