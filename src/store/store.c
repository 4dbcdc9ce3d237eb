#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_memory.h"

/* To add a backend: a row here. */
static const struct store_backend *const backends[] = {&store_memory};

struct store {
    const struct store_ops *ops;
    void *self;
};

static void
name_backends(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(backends); i++)
        buf_addf(out, "%s'%s'", i ? ", " : "", backends[i]->scheme);
}

struct store *
store_open(const char *url, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        if (!str_starts(str_from(url), backends[i]->scheme))
            continue;
        void *self = backends[i]->open(url, err);
        if (!self)
            return NULL;
        struct store *s = xmalloc(sizeof *s);
        *s = (struct store){.ops = backends[i]->ops, .self = self};
        return s;
    }
    struct buf names;
    buf_init(&names, 400);
    name_backends(&names);
    err_set(err, ERR_UNSUPPORTED, "no store for '%s': there are %s", url, buf_cstr(&names));
    buf_release(&names);
    return NULL;
}

void
store_close(struct store *s)
{
    if (!s)
        return;
    s->ops->close(s->self);
    free(s);
}

bool
store_get(struct store *s, const char *key, struct buf *ret, uint64_t *ret_version, struct err *err)
{
    return s->ops->get(s->self, key, ret, ret_version, err);
}

bool
store_put(struct store *s, const char *key, struct str value, uint64_t expect,
          uint64_t *ret_version, struct err *err)
{
    return s->ops->put(s->self, key, value, expect, ret_version, err);
}

bool
store_del(struct store *s, const char *key, struct err *err)
{
    return s->ops->del(s->self, key, err);
}

bool
store_each(struct store *s, const char *prefix,
           bool (*visit)(void *user, const char *key, struct str value), void *user,
           struct err *err)
{
    return s->ops->each(s->self, prefix, visit, user, err);
}
