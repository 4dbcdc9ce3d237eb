#include "base/config.h"

#include <string.h>

#include "base/config_impl.h"
#include "base/str_set.h"

/* reach: config_reach of the path. */
static bool
counts(const struct config *c, size_t i, bool only_trusted, enum config_reach reach)
{
    enum scope scope = c->sources[i].scope;
    return (!only_trusted && reach != CONFIG_PERSON) ||
           (scope != SCOPE_PROJECT && scope != SCOPE_LOCAL);
}

/* The highest source whose value at `path` passes the test. */
static const struct cJSON *
highest(const struct config *c, const char *path, bool only_trusted,
        bool (*is)(const struct cJSON *), size_t *ret_source)
{
    enum config_reach reach = config_reach(path);
    for (size_t i = 0; i < c->n; i++) {
        bool asked = counts(c, i, only_trusted, reach);
        const struct cJSON *v = asked ? json_at(c->files[i].tree, path) : NULL;
        if (v && is(v) && (!json_is_num(v) || config_in_range(path, json_value_num(v)))) {
            *ret_source = i;
            return v;
        }
    }
    return NULL;
}

const char *
config_str(const struct config *c, const char *path, bool only_trusted, const char *fallback)
{
    size_t i;
    const struct cJSON *v = highest(c, path, only_trusted, json_is_str, &i);
    return v ? json_value_str(v).ptr : fallback;
}

const struct config_source *
config_origin(const struct config *c, const char *path, bool only_trusted)
{
    size_t i;
    return highest(c, path, only_trusted, json_is_str, &i) ? &c->sources[i] : NULL;
}

const struct config_source *
config_bool_origin(const struct config *c, const char *path, bool only_trusted)
{
    size_t i;
    return highest(c, path, only_trusted, json_is_bool, &i) ? &c->sources[i] : NULL;
}

int
config_line(const struct config *c, const struct config_source *from, const char *path)
{
    for (size_t i = 0; i < c->n; i++) {
        struct str text = buf_str(&c->files[i].text);
        size_t at = from == &c->sources[i] ? config_find_path(text, path) : CONFIG_NONE;
        int line = 1;
        if (at == CONFIG_NONE)
            continue;
        for (size_t k = 0; k < at && k < text.len; k++)
            line += text.ptr[k] == '\n';
        return line;
    }
    return 0;
}

long long
config_int(const struct config *c, const char *path, bool only_trusted, long long fallback)
{
    size_t i;
    const struct cJSON *v = highest(c, path, only_trusted, json_is_num, &i);
    return v ? json_int(v, "", fallback) : fallback;
}

double
config_num(const struct config *c, const char *path, bool only_trusted, double fallback)
{
    size_t i;
    const struct cJSON *v = highest(c, path, only_trusted, json_is_num, &i);
    return v ? json_value_num(v) : fallback;
}

bool
config_bool(const struct config *c, const char *path, bool only_trusted, bool fallback)
{
    size_t i;
    const struct cJSON *v = highest(c, path, only_trusted, json_is_bool, &i);
    return v ? json_bool(v, "", fallback) : fallback;
}

const struct cJSON *
config_value(const struct config *c, size_t i, const char *path)
{
    bool asked = i < c->n && counts(c, i, false, config_reach(path));
    return asked ? json_at(c->files[i].tree, path) : NULL;
}

struct str
config_text(const struct config *c, size_t i)
{
    return i < c->n ? buf_str(&c->files[i].text) : (struct str){0};
}

/* ---- lists ---- */

static bool
replaces(const char *path)
{
    return !strcmp(path, "fallbackModel") || !strcmp(path, "availableModels");
}

size_t
config_list(const struct config *c, const char *path, bool only_trusted, struct config_item *ret,
            size_t n)
{
    struct str_set seen = {0};
    enum config_reach reach = config_reach(path);
    for (size_t i = 0; i < c->n; i++) {
        const struct cJSON *list = json_at(c->files[i].tree, path);
        if (!list || !json_is_array(list) || !counts(c, i, only_trusted, reach))
            continue;
        struct config_lines lines = config_lines_of(buf_str(&c->files[i].text), path);
        for (const struct cJSON *e = json_first(list); e; e = json_next(e)) {
            int line = config_next_line(&lines);
            struct str value = json_value_str(e);
            size_t at = seen.n;
            if (value.ptr && str_set_add(&seen, value) && at < n)
                ret[at] = (struct config_item){value, &c->sources[i], line};
        }
        if (replaces(path))
            break;
    }
    size_t total = seen.n;
    str_set_release(&seen);
    return total;
}

size_t
config_problems(const struct config *c, const struct config_problem **ret)
{
    *ret = c->problems.list;
    return c->problems.n;
}

size_t
config_unknown(const struct config *c, const struct config_problem **ret)
{
    *ret = c->unknown.list;
    return c->unknown.n;
}

size_t
config_sources(const struct config *c, const struct config_source **ret)
{
    *ret = c->sources;
    return c->n;
}
