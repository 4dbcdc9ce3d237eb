#include "model/catalog.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"

extern const char asset_models[];
extern const size_t asset_models_len;

#define USER_FILE_MAX ((size_t)4 << 20)

/* Written by catalog_load under the lock, before the loop starts; only read afterwards. */
static struct {
    pthread_mutex_t lock;
    struct model_info *models;
    size_t n, cap;
} catalog = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum thinking_kind
parse_thinking(struct str s)
{
    return str_is(s, "adaptive") ? THINKING_ADAPTIVE
           : str_is(s, "budget") ? THINKING_BUDGET
                                 : THINKING_NONE;
}

static void
read_price(const struct cJSON *n, struct model_price *p)
{
    p->above_prompt = json_int(n, "above_prompt", 0);
    p->in = json_num(n, "in", 0);
    p->out = json_num(n, "out", 0);
    p->write_5m = json_num(n, "write_5m", 1.25 * p->in);
    p->write_1h = json_num(n, "write_1h", 2 * p->in);
    p->read = json_num(n, "read", 0.1 * p->in);
}

/* Entries live as long as the program: what they point to is never freed. */
static void
read_model(const struct cJSON *n, struct model_info *m)
{
    const struct cJSON *list = json_at(n, "aliases"), *prices = json_at(n, "price"), *k;
    const char **aliases = xcalloc(json_len(list) + 1, sizeof *aliases);
    size_t i = 0;
    for (k = json_first(list); k; k = json_next(k))
        if (json_is_str(k))
            aliases[i++] = str_dup(json_value_str(k));
    *m = (struct model_info){
        .id = xstrdup(json_cstr(n, "id", "")),
        .shown = xstrdup(json_cstr(n, "shown", json_cstr(n, "id", ""))),
        .provider = xstrdup(json_cstr(n, "provider", "anthropic")),
        .aliases = aliases,
        .context = json_int(n, "context", 200000),
        .max_output = json_int(n, "max_output", 32000),
        .thinking = parse_thinking(json_str(n, "thinking")),
        .effort = xstrdup(json_cstr(n, "effort", NULL)),
    };
    for (k = json_first(prices); k && m->n_price < ARRAY_LEN(m->price); k = json_next(k))
        read_price(k, &m->price[m->n_price++]);
}

static bool
add_models(struct str json, struct err *err)
{
    struct cJSON *tree = json_parse(json, err);
    if (!tree)
        return false;
    for (const struct cJSON *n = json_first(json_at(tree, "models")); n; n = json_next(n)) {
        const char *id = json_cstr(n, "id", "");
        size_t at = 0;
        while (at < catalog.n && strcmp(catalog.models[at].id, id) != 0)
            at++;
        if (at == catalog.n) {
            ARRAY_GROW(catalog.models, catalog.n, catalog.cap);
            catalog.n++;
        }
        read_model(n, &catalog.models[at]);
    }
    json_free(tree);
    return true;
}

static void
load_embedded(void)
{
    pthread_mutex_lock(&catalog.lock);
    if (!catalog.n && !add_models(str_make(asset_models, asset_models_len), NULL))
        die("the embedded model catalogue does not parse");
    pthread_mutex_unlock(&catalog.lock);
}

void
catalog_load(const char *user_file, struct err *ret_problem)
{
    struct buf text;
    bool found = false;
    load_embedded();
    if (!user_file)
        return;
    buf_init(&text, USER_FILE_MAX);
    bool ok = fs_read_if(user_file, USER_FILE_MAX, &text, &found, ret_problem);
    pthread_mutex_lock(&catalog.lock);
    if (ok && found && !add_models(buf_str(&text), ret_problem))
        err_wrap(ret_problem, "the model catalogue '%s'", user_file);
    pthread_mutex_unlock(&catalog.lock);
    buf_release(&text);
}

/* "claude-haiku-4-5-20251001" is claude-haiku-4-5 of one day. */
static bool
is_dated(const char *id, const char *of)
{
    size_t n = strlen(of);
    if (strncmp(id, of, n) != 0 || id[n] != '-' || strlen(id + n + 1) != 8)
        return false;
    for (const char *p = id + n + 1; *p; p++)
        if (!isdigit((unsigned char)*p))
            return false;
    return true;
}

static bool
is_named(const struct model_info *m, const char *name)
{
    if (strcmp(m->id, name) == 0 || is_dated(name, m->id))
        return true;
    for (size_t i = 0; m->aliases[i]; i++)
        if (strcmp(m->aliases[i], name) == 0)
            return true;
    return false;
}

const struct model_info *
catalog_find(const char *id_or_alias)
{
    if (!id_or_alias)
        return NULL;
    load_embedded();
    for (size_t i = 0; i < catalog.n; i++)
        if (is_named(&catalog.models[i], id_or_alias))
            return &catalog.models[i];
    return NULL;
}

const struct model_info *
catalog_at(size_t i)
{
    load_embedded();
    return i < catalog.n ? &catalog.models[i] : NULL;
}

double
catalog_cost(const struct model_info *m, const struct usage *u)
{
    if (!m || !m->n_price)
        return -1;
    int64_t prompt = u->input + u->cache_read + u->cache_write;
    const struct model_price *p = &m->price[0];
    for (size_t i = 1; i < m->n_price; i++)
        if (prompt > m->price[i].above_prompt && m->price[i].above_prompt >= p->above_prompt)
            p = &m->price[i];
    return ((double)u->input * p->in + (double)u->output * p->out +
            (double)u->cache_read * p->read + (double)u->cache_write * p->write_5m) /
           1e6;
}
