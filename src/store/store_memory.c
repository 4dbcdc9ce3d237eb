#include "store/store_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 64 << 20 };

struct item {
    char *key;
    char *value;
    size_t len;
    uint64_t version;
};

struct memory {
    pthread_mutex_t lock;
    struct item *items; /* sorted by key */
    size_t n, cap;
    /* never given twice, so that a key deleted and made again is another one */
    uint64_t last_version;
};

static void *
memory_open(const char *url, struct err *err)
{
    (void)url, (void)err;
    struct memory *m = xcalloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void
memory_close(void *self)
{
    struct memory *m = self;
    for (size_t i = 0; i < m->n; i++) {
        free(m->items[i].key);
        free(m->items[i].value);
    }
    free(m->items);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* The first item whose key is not below `key`. */
static size_t
position(const struct memory *m, const char *key)
{
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(m->items[mid].key, key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct item *
find(const struct memory *m, const char *key)
{
    size_t at = position(m, key);
    return at < m->n && !strcmp(m->items[at].key, key) ? &m->items[at] : NULL;
}

static bool
memory_get(void *self, const char *key, struct buf *ret, uint64_t *ret_version, struct err *err)
{
    struct memory *m = self;
    bool fits = true;
    pthread_mutex_lock(&m->lock);
    const struct item *it = find(m, key);
    if (it)
        fits = buf_add(ret, it->value, it->len);
    uint64_t version = it ? it->version : 0;
    pthread_mutex_unlock(&m->lock);
    if (!fits)
        return err_set(err, ERR_LIMIT, "the value of '%s' is larger than asked for", key);
    if (ret_version)
        *ret_version = version;
    return true;
}

static struct item *
insert(struct memory *m, const char *key)
{
    size_t at = position(m, key);
    ARRAY_GROW(m->items, m->n, m->cap);
    memmove(m->items + at + 1, m->items + at, (m->n - at) * sizeof *m->items);
    m->n++;
    m->items[at] = (struct item){.key = xstrdup(key)};
    return &m->items[at];
}

static bool
memory_put(void *self, const char *key, struct str value, uint64_t expect, uint64_t *ret_version,
           struct err *err)
{
    struct memory *m = self;
    if (value.len > VALUE_MAX)
        return err_set(err, ERR_LIMIT, "the value of '%s' is too large", key);
    pthread_mutex_lock(&m->lock);
    struct item *it = find(m, key);
    bool stale = expect != STORE_ANY && expect != (it ? it->version : 0);
    uint64_t version = 0;
    if (!stale) {
        it = it ? it : insert(m, key);
        free(it->value);
        it->value = str_dup(value);
        it->len = value.len;
        version = it->version = ++m->last_version;
    }
    pthread_mutex_unlock(&m->lock);
    if (stale)
        return err_set(err, ERR_STALE, "'%s' was changed by somebody else", key);
    if (ret_version)
        *ret_version = version;
    return true;
}

static bool
memory_del(void *self, const char *key, struct err *err)
{
    struct memory *m = self;
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct item *it = find(m, key);
    if (it) {
        free(it->key);
        free(it->value);
        size_t at = (size_t)(it - m->items);
        memmove(it, it + 1, (m->n - at - 1) * sizeof *it);
        m->n--;
    }
    pthread_mutex_unlock(&m->lock);
    return true;
}

/* A copy of the next item after `after` with the prefix; false at the end. Visitors may change the store meanwhile. */
static bool
next_after(struct memory *m, const char *prefix, const char *after, bool first, struct item *ret)
{
    pthread_mutex_lock(&m->lock);
    size_t at = position(m, after);
    if (!first && at < m->n && !strcmp(m->items[at].key, after))
        at++;
    bool found = at < m->n && !strncmp(m->items[at].key, prefix, strlen(prefix));
    if (found) {
        const struct item *it = &m->items[at];
        *ret = (struct item){.key = xstrdup(it->key),
                             .value = str_dup(str_make(it->value, it->len)),
                             .len = it->len};
    }
    pthread_mutex_unlock(&m->lock);
    return found;
}

static bool
memory_each(void *self, const char *prefix,
            bool (*visit)(void *user, const char *key, struct str value), void *user,
            struct err *err)
{
    char *after = xstrdup(prefix);
    struct item it;
    (void)err;
    for (bool first = true, go_on = true; go_on && next_after(self, prefix, after, first, &it);
         first = false) {
        go_on = visit(user, it.key, str_make(it.value, it.len));
        free(it.value);
        free(after);
        after = it.key;
    }
    free(after);
    return true;
}

static const struct store_ops ops = {
    .get = memory_get,
    .put = memory_put,
    .del = memory_del,
    .each = memory_each,
    .close = memory_close,
};

const struct store_backend store_memory = {.scheme = "memory:", .open = memory_open, .ops = &ops};
