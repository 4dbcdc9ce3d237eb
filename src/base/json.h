#pragma once
/*
 * JSON in and out. Reading wraps cJSON after a pre-scan that closes its gaps (cJSON 1.7.15 cuts strings at \u0000,
 * ignores case in lookups, takes the first of duplicate keys, accepts trailing bytes): the scan refuses NUL bytes and
 * \u0000, duplicate keys in one object, trailing bytes, invalid UTF-8, depth past JSON_DEPTH; lone surrogates are
 * repaired to U+FFFD. Lookups here are case-sensitive. A tree belongs to one thread.
 *
 * Bytes that must go out again unchanged (tool inputs, thinking, signatures) are never re-printed from a tree: keep
 * the raw slice (json_raw_member finds it). Integers above 2^53 lose digits in a tree, not in a raw slice.
 *
 * Writing appends to a buf, in the order called; keys never need escaping decisions from the caller.
 *
 *     struct jw w;
 *     jw_init(&w, &out);
 *     jw_object(&w); jw_key(&w, "role"); jw_cstr(&w, "user"); jw_end(&w);
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct cJSON;

#define JSON_DEPTH 256

/* The whole of s must be one value. The tree is yours (json_free). */
struct cJSON *json_parse(struct str s, struct err *err);
void json_free(struct cJSON *tree); /* NULL is fine */

/* Optional getters by path ("a.b.0.c": object keys and array indexes). A missing or other-typed value gives the
 * fallback. Strings are borrowed from the tree. */
const struct cJSON *json_at(const struct cJSON *tree, const char *path);
/* One member, also of a key with dots in it; NULL when it is not there. */
const struct cJSON *json_get(const struct cJSON *object, const char *key);
struct str json_str(const struct cJSON *tree, const char *path); /* ptr NULL when missing */
const char *json_cstr(const struct cJSON *tree, const char *path, const char *fallback);
double json_num(const struct cJSON *tree, const char *path, double fallback);
int64_t json_int(const struct cJSON *tree, const char *path, int64_t fallback);
/* How many: 0 to JSON_COUNT_MAX, so that sums of many stay in range; 0 for everything else. */
#define JSON_COUNT_MAX ((int64_t)1 << 50)
int64_t json_count(const struct cJSON *tree, const char *path);
bool json_bool(const struct cJSON *tree, const char *path, bool fallback);
/* Required getters: the error names the path. */
bool json_need_str(const struct cJSON *tree, const char *path, struct str *ret,
                   struct err *err) MUST_CHECK;
bool json_need_int(const struct cJSON *tree, const char *path, int64_t *ret,
                   struct err *err) MUST_CHECK;

bool json_is_object(const struct cJSON *n);
bool json_is_array(const struct cJSON *n);
bool json_is_str(const struct cJSON *n);
bool json_is_num(const struct cJSON *n);
bool json_is_bool(const struct cJSON *n);
bool json_is_null(const struct cJSON *n);
struct str json_value_str(const struct cJSON *n); /* ptr NULL when n is no string */
double json_value_num(const struct cJSON *n);     /* 0 when n is no number */
/* the key under which n stands in its object, or NULL */
const char *json_key(const struct cJSON *n);
size_t json_len(const struct cJSON *n); /* members of an array or object */
/* for (m = json_first(n); m; m = json_next(m)) */
const struct cJSON *json_first(const struct cJSON *n);
const struct cJSON *json_next(const struct cJSON *n);
/* Prints a tree compactly (keys in their order). */
void json_print(const struct cJSON *n, struct buf *out);

/* Walking bytes without a tree, by offsets: never past the end on any bytes, right on text that json_parse accepts. Each
 * gives the offset behind what begins at `at`. */
size_t json_skip_blanks(struct str s, size_t at);
size_t json_skip_string(struct str s, size_t at); /* at its opening quote */
size_t json_skip_value(struct str s, size_t at);
/* The raw bytes of a top-level member of the object in s; ptr NULL when missing or s is no object. */
struct str json_raw_member(struct str s, const char *key);
/* Line (1-based) at which array element `index` of the value at `path` starts, for "file:line" messages; 0: unknown.
 * `path` as above, keys only. */
int json_line_of(struct str s, const char *path, size_t index);

/* Escapes s as a JSON string body with quotes; invalid UTF-8 becomes U+FFFD. */
void json_quote(struct buf *out, struct str s);

struct jw {
    struct buf *out;
    unsigned depth;
    bool comma; /* the next value or key needs a comma before it */
    char close[JSON_DEPTH];
};
void jw_init(struct jw *w, struct buf *out);
void jw_object(struct jw *w);
void jw_array(struct jw *w);
void jw_end(struct jw *w);
void jw_key(struct jw *w, const char *key);
void jw_str(struct jw *w, struct str s);
void jw_cstr(struct jw *w, const char *s); /* NULL: null */
void jw_int(struct jw *w, int64_t v);
void jw_num(struct jw *w, double v);
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
void jw_raw(struct jw *w, struct str json); /* a serialised value, byte for byte */
/* key and value in one */
void jw_kstr(struct jw *w, const char *key, struct str s);
void jw_kcstr(struct jw *w, const char *key, const char *s);
void jw_kint(struct jw *w, const char *key, int64_t v);
void jw_knum(struct jw *w, const char *key, double v);
void jw_kbool(struct jw *w, const char *key, bool v);
void jw_kraw(struct jw *w, const char *key, struct str json);
