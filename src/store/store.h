#pragma once
/*
 * The state store: passports, variables and the session index; what is lost is rebuilt from the journal. One small
 * interface, backends as rows of a table: memory (here), SQLite and Redis (later). Values are bytes with a version stamp;
 * a put with a stale stamp fails with ERR_STALE (optimistic concurrency, never a lost update).
 * Keys are "passport:<session>", "var:<session>:<namespace>:<key>", "index:<slug>:<session>". Thread-safe.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct store;
struct store_ops {
    bool (*get)(void *self, const char *key, struct buf *ret, uint64_t *ret_version,
                struct err *err);
    bool (*put)(void *self, const char *key, struct str value, uint64_t expect,
                uint64_t *ret_version, struct err *err);
    bool (*del)(void *self, const char *key, struct err *err);
    bool (*each)(void *self, const char *prefix,
                 bool (*visit)(void *user, const char *key, struct str value), void *user,
                 struct err *err);
    void (*close)(void *self);
};
struct store_backend {
    const char *scheme; /* "memory:" */
    void *(*open)(const char *url, struct err *err);
    const struct store_ops *ops;
};
#define STORE_ANY UINT64_MAX /* put whatever the version is */

/* unknown scheme: ERR_UNSUPPORTED, names those there are */
struct store *store_open(const char *url, struct err *err);
void store_close(struct store *s);
/* Version 0 and an empty buf: no such key (a success). */
bool store_get(struct store *s, const char *key, struct buf *ret, uint64_t *ret_version,
               struct err *err) MUST_CHECK;
/* expect 0: must not exist yet. */
bool store_put(struct store *s, const char *key, struct str value, uint64_t expect,
               uint64_t *ret_version, struct err *err) MUST_CHECK;
bool store_del(struct store *s, const char *key, struct err *err) MUST_CHECK;
bool store_each(struct store *s, const char *prefix,
                bool (*visit)(void *user, const char *key, struct str value), void *user,
                struct err *err) MUST_CHECK;
