/* QUERY_MODELS: what can be chosen, from the catalogue and from the server that is asked. */
#include <string.h>

#include "base/json.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/query_private.h"
#include "model/catalog.h"
#include "model/server.h"

#define ASK_MS 1500
#define FRESH_MS 60000

static void
write_price(struct jw *w, const struct model_info *info)
{
    jw_key(w, "price");
    if (!info || !info->n_price) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_knum(w, "in", info->price[0].in);
    jw_knum(w, "out", info->price[0].out);
    jw_end(w);
}

static void
write_one(struct jw *w, const struct core *c, const char *id, const struct model_info *info,
          int64_t context, const char *where)
{
    jw_object(w);
    jw_kcstr(w, "id", id);
    jw_kcstr(w, "shown", info ? info->shown : id);
    jw_kcstr(w, "provider", c->provider->name);
    jw_kint(w, "context", context);
    jw_kint(w, "max_output", info ? info->max_output : 0);
    write_price(w, info);
    jw_kbool(w, "current", strcmp(id, c->model) == 0);
    jw_kcstr(w, "where", where);
    jw_end(w);
}

static bool
write_catalogue(struct jw *w, const struct core *c)
{
    bool current = false;
    const struct model_info *info;
    for (size_t i = 0; (info = catalog_at(i)) != NULL; i++) {
        if (strcmp(info->provider, c->provider->name) != 0)
            continue;
        write_one(w, c, info->id, info, info->context, "catalogue");
        current |= strcmp(info->id, c->model) == 0;
    }
    return current;
}

/* In the server's words; the catalogue knows a price at most. */
static bool
write_served(struct jw *w, const struct core *c, struct err *err)
{
    struct model_server *s = c->provider->server;
    bool current = false;
    size_t n;
    if (!s)
        return false;
    if (model_server_age_ms(s) > FRESH_MS && !model_server_ask(s, c->cancel, ASK_MS, err))
        err_wrap(err, "the list may be old");
    struct server_model *list = model_server_models(s, &n);
    for (size_t i = 0; i < n; i++) {
        bool is_current = strcmp(list[i].id, c->model) == 0;
        const struct model_info *info = catalog_find(list[i].id);
        if (info && strcmp(info->id, list[i].id) != 0)
            info = NULL; /* an alias of another maker's */
        write_one(w, c, list[i].id, info, is_current ? context_window(c) : list[i].context,
                  model_server_place(s));
        current |= is_current;
    }
    server_models_free(list, n);
    return current;
}

void
query_models(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    const struct core *c = &e->core;
    struct err err = {0};
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "models");
    jw_array(&w);
    bool current = c->provider->server ? write_served(&w, c, &err) : write_catalogue(&w, c);
    if (!current)
        write_one(&w, c, c->model, c->info, context_window(c), "in use");
    jw_end(&w);
    if (err.code != ERR_NONE)
        jw_kcstr(&w, "error", err.text);
    jw_end(&w);
}
