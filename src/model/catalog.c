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
    struct beta {
        char *provider, *name, *value;
    } * betas;
    size_t n_betas, cap_betas;
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

/* An alias names one model: the newest to claim it, so that a person's file can move "opus" to another. */
static void
release_alias(struct str alias)
{
    for (size_t i = 0; i < catalog.n; i++) {
        const char **list = (const char **)(uintptr_t)catalog.models[i].aliases;
        size_t n = 0;
        for (size_t k = 0; list && list[k]; k++) {
            if (str_is(alias, list[k]))
                free((void *)(uintptr_t)list[k]);
            else
                list[n++] = list[k];
        }
        if (list)
            list[n] = NULL;
    }
}

static const char *const *
read_aliases(const struct cJSON *list)
{
    const char **aliases = xcalloc(json_len(list) + 1, sizeof *aliases);
    size_t i = 0;
    for (const struct cJSON *k = json_first(list); k; k = json_next(k)) {
        if (!json_is_str(k))
            continue;
        release_alias(json_value_str(k));
        aliases[i++] = str_dup(json_value_str(k));
    }
    return aliases;
}

static void
read_prices(const struct cJSON *list, struct model_info *m)
{
    m->n_price = 0;
    for (const struct cJSON *k = json_first(list); k && m->n_price < ARRAY_LEN(m->price);
         k = json_next(k))
        read_price(k, &m->price[m->n_price++]);
}

static void
free_aliases(const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        free((void *)(uintptr_t)list[i]);
    free((void *)(uintptr_t)list);
}

/* A member that is given replaces what stood there. */
static void
read_text(const struct cJSON *n, const char *key, const char *fallback, const char **member)
{
    const char *given = json_cstr(n, key, *member ? NULL : fallback);
    if (!given)
        return;
    free((void *)(uintptr_t)*member);
    *member = xstrdup(given);
}

/* What an entry does not say stays as it was, so that a person may correct a price alone. */
static void
read_model(const struct cJSON *n, struct model_info *m)
{
    if (json_at(n, "aliases") || !m->aliases) {
        free_aliases(m->aliases);
        m->aliases = NULL;
        m->aliases = read_aliases(json_at(n, "aliases"));
    }
    read_text(n, "shown", m->id, &m->shown);
    read_text(n, "provider", "anthropic", &m->provider);
    read_text(n, "effort", NULL, &m->effort);
    if (json_cstr(n, "thinking", NULL))
        m->thinking = parse_thinking(json_str(n, "thinking"));
    if (json_at(n, "price"))
        read_prices(json_at(n, "price"), m);
    m->context = json_int(n, "context", m->context);
    m->max_output = json_int(n, "max_output", m->max_output);
    m->cache_min = json_int(n, "cache_min", m->cache_min);
    m->small = json_bool(n, "small", m->small);
    m->fast = json_num(n, "fast", m->fast);
}

static struct model_info *
find_or_add(struct str id)
{
    for (size_t i = 0; i < catalog.n; i++)
        if (str_is(id, catalog.models[i].id))
            return &catalog.models[i];
    ARRAY_GROW(catalog.models, catalog.n, catalog.cap);
    struct model_info *m = &catalog.models[catalog.n++];
    *m = (struct model_info){
        .id = str_dup(id), .context = 200000, .max_output = 32000, .cache_min = 4096};
    return m;
}

static struct beta *
find_beta(const char *provider, const char *name)
{
    for (size_t i = 0; i < catalog.n_betas; i++)
        if (strcmp(catalog.betas[i].provider, provider) == 0 &&
            strcmp(catalog.betas[i].name, name) == 0)
            return &catalog.betas[i];
    return NULL;
}

static void
set_beta(const char *provider, const char *name, struct str value)
{
    struct beta *b = find_beta(provider, name);
    if (!b) {
        ARRAY_GROW(catalog.betas, catalog.n_betas, catalog.cap_betas);
        b = &catalog.betas[catalog.n_betas++];
        *b = (struct beta){.provider = xstrdup(provider), .name = xstrdup(name)};
    }
    free(b->value);
    b->value = str_dup(value);
}

/* {"anthropic": {"afk": "afk-mode-2026-01-31"}}; "" takes one away. */
static void
read_betas(const struct cJSON *providers)
{
    for (const struct cJSON *p = json_first(providers); p; p = json_next(p))
        for (const struct cJSON *k = json_first(p); k; k = json_next(k))
            if (json_is_str(k))
                set_beta(json_key(p), json_key(k), json_value_str(k));
}

/* Why an entry cannot be used, or NULL. */
static const char *
fault_of(const struct cJSON *n)
{
    if (json_str(n, "id").len == 0)
        return "it has no \"id\"";
    if (json_int(n, "context", 1) < 1 || json_int(n, "max_output", 1) < 1)
        return "\"context\" and \"max_output\" must be positive";
    if (json_at(n, "price") && !json_is_array(json_at(n, "price")))
        return "\"price\" must be a list";
    return NULL;
}

/* Good entries are taken even where one is bad; the first bad one is told. */
static bool
add_models(struct str json, struct err *err)
{
    struct cJSON *tree = json_parse(json, err);
    bool ok = true;
    size_t i = 0;
    if (!tree)
        return false;
    const struct cJSON *models = json_at(tree, "models"), *betas = json_at(tree, "betas");
    read_betas(betas);
    if (!json_is_array(models) && (models || !betas))
        ok = err_set(err, ERR_INVALID, "it must be {\"models\": [...]}");
    for (const struct cJSON *n = json_first(models); n; n = json_next(n), i++) {
        const char *fault = fault_of(n);
        if (!fault)
            read_model(n, find_or_add(json_str(n, "id")));
        else if (ok)
            ok = err_set(err, ERR_INVALID, "entry %zu is left out: %s", i + 1, fault);
    }
    json_free(tree);
    return ok;
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
has_alias(const struct model_info *m, const char *name)
{
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
        if (strcmp(catalog.models[i].id, id_or_alias) == 0)
            return &catalog.models[i];
    for (size_t i = 0; i < catalog.n; i++)
        if (is_dated(id_or_alias, catalog.models[i].id))
            return &catalog.models[i];
    for (size_t i = 0; i < catalog.n; i++)
        if (has_alias(&catalog.models[i], id_or_alias))
            return &catalog.models[i];
    return NULL;
}

const struct model_info *
catalog_small(const char *provider)
{
    load_embedded();
    for (size_t i = 0; i < catalog.n; i++)
        if (catalog.models[i].small && strcmp(catalog.models[i].provider, provider) == 0)
            return &catalog.models[i];
    return NULL;
}

const struct model_info *
catalog_at(size_t i)
{
    load_embedded();
    return i < catalog.n ? &catalog.models[i] : NULL;
}

const char *
catalog_beta(const char *provider, const char *name)
{
    load_embedded();
    const struct beta *b = find_beta(provider, name);
    return b && b->value[0] ? b->value : NULL;
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
    double times = u->fast && m->fast > 0 ? m->fast : 1;
    return times *
           ((double)u->input * p->in + (double)u->output * p->out +
            (double)u->cache_read * p->read + (double)u->cache_write_1h * p->write_1h +
            (double)(u->cache_write - u->cache_write_1h) * p->write_5m) /
           1e6;
}
