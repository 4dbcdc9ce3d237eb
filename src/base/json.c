#include "base/json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"

struct cJSON *
json_parse(struct str s, struct err *err)
{
    struct buf repaired;
    cJSON *tree = NULL;

    buf_init(&repaired, BUF_MAX);
    if (!json_scan(s, &repaired, err))
        goto out;
    if (repaired.len)
        s = buf_str(&repaired);
    tree = cJSON_ParseWithLength(s.ptr, s.len);
    if (!tree)
        err_set(err, ERR_PARSE, "not valid JSON");
out:
    buf_release(&repaired);
    return tree;
}

void
json_free(struct cJSON *tree)
{
    cJSON_Delete(tree);
}

static const struct cJSON *
member(const struct cJSON *object, struct str key)
{
    for (const struct cJSON *m = cJSON_IsObject(object) ? object->child : NULL; m; m = m->next)
        if (m->string && str_is(key, m->string))
            return m;
    return NULL;
}

static const struct cJSON *
child_of(const struct cJSON *n, struct str key)
{
    if (cJSON_IsArray(n)) {
        char *end, *text = str_dup(key);
        long i = strtol(text, &end, 10);
        bool number = key.len && !*end && i >= 0;
        free(text);
        const struct cJSON *m = number ? n->child : NULL;
        while (m && i-- > 0)
            m = m->next;
        return m;
    }
    return member(n, key);
}

const struct cJSON *
json_get(const struct cJSON *object, const char *key)
{
    return member(object, str_from(key));
}

const struct cJSON *
json_at(const struct cJSON *tree, const char *path)
{
    struct str rest = str_from(path), key;
    if (!*path)
        return tree;
    while (tree && str_split(&rest, '.', &key))
        tree = child_of(tree, key);
    return tree;
}

struct str
json_value_str(const struct cJSON *n)
{
    return cJSON_IsString(n) ? str_from(n->valuestring) : (struct str){0};
}

double
json_value_num(const struct cJSON *n)
{
    return cJSON_IsNumber(n) ? n->valuedouble : 0;
}

struct str
json_str(const struct cJSON *tree, const char *path)
{
    return json_value_str(json_at(tree, path));
}

const char *
json_cstr(const struct cJSON *tree, const char *path, const char *fallback)
{
    const struct cJSON *n = json_at(tree, path);
    return cJSON_IsString(n) ? n->valuestring : fallback;
}

double
json_num(const struct cJSON *tree, const char *path, double fallback)
{
    const struct cJSON *n = json_at(tree, path);
    return cJSON_IsNumber(n) ? n->valuedouble : fallback;
}

/* A double outside the range of int64_t must not be cast: that is undefined. */
static int64_t
clamp_int(double d)
{
    if (d >= 9.2e18)
        return INT64_MAX;
    if (d <= -9.2e18)
        return INT64_MIN;
    return (int64_t)d;
}

int64_t
json_int(const struct cJSON *tree, const char *path, int64_t fallback)
{
    const struct cJSON *n = json_at(tree, path);
    return cJSON_IsNumber(n) ? clamp_int(n->valuedouble) : fallback;
}

int64_t
json_count(const struct cJSON *tree, const char *path)
{
    int64_t n = json_int(tree, path, 0);
    return n < 0 || n > JSON_COUNT_MAX ? 0 : n;
}

bool
json_bool(const struct cJSON *tree, const char *path, bool fallback)
{
    const struct cJSON *n = json_at(tree, path);
    return cJSON_IsBool(n) ? cJSON_IsTrue(n) : fallback;
}

bool
json_need_str(const struct cJSON *tree, const char *path, struct str *ret, struct err *err)
{
    struct str s = json_str(tree, path);
    if (!s.ptr)
        return err_set(err, ERR_INVALID, "'%s' must be a string", path);
    *ret = s;
    return true;
}

bool
json_need_int(const struct cJSON *tree, const char *path, int64_t *ret, struct err *err)
{
    const struct cJSON *n = json_at(tree, path);
    if (!cJSON_IsNumber(n))
        return err_set(err, ERR_INVALID, "'%s' must be a number", path);
    *ret = clamp_int(n->valuedouble);
    return true;
}

bool
json_is_object(const struct cJSON *n)
{
    return cJSON_IsObject(n);
}

bool
json_is_array(const struct cJSON *n)
{
    return cJSON_IsArray(n);
}

bool
json_is_str(const struct cJSON *n)
{
    return cJSON_IsString(n);
}

bool
json_is_num(const struct cJSON *n)
{
    return cJSON_IsNumber(n);
}

bool
json_is_bool(const struct cJSON *n)
{
    return cJSON_IsBool(n);
}

bool
json_is_null(const struct cJSON *n)
{
    return cJSON_IsNull(n);
}

const char *
json_key(const struct cJSON *n)
{
    return n ? n->string : NULL;
}

size_t
json_len(const struct cJSON *n)
{
    size_t len = 0;
    for (const struct cJSON *m = json_first(n); m; m = m->next)
        len++;
    return len;
}

const struct cJSON *
json_first(const struct cJSON *n)
{
    return cJSON_IsArray(n) || cJSON_IsObject(n) ? n->child : NULL;
}

const struct cJSON *
json_next(const struct cJSON *n)
{
    return n->next;
}

static void
print_value(const struct cJSON *n, struct jw *w)
{
    if (n->string)
        jw_key(w, n->string);
    if (cJSON_IsObject(n) || cJSON_IsArray(n)) {
        if (cJSON_IsObject(n))
            jw_object(w);
        else
            jw_array(w);
        for (const struct cJSON *m = n->child; m; m = m->next)
            print_value(m, w);
        jw_end(w);
    } else if (cJSON_IsString(n)) {
        jw_cstr(w, n->valuestring);
    } else if (cJSON_IsNumber(n)) {
        jw_num(w, n->valuedouble);
    } else if (cJSON_IsBool(n)) {
        jw_bool(w, cJSON_IsTrue(n));
    } else {
        jw_null(w);
    }
}

void
json_print(const struct cJSON *n, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    if (!n->string) {
        print_value(n, &w);
        return;
    }
    /* A member printed alone goes without its key. */
    struct cJSON alone = *n;
    alone.string = NULL;
    print_value(&alone, &w);
}
