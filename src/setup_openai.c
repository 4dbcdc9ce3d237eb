/* Servers that speak chat completions: their key, their model, and what they say of themselves. */
#include "setup.h"

#include <string.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/http.h"
#include "base/log.h"
#include "model/catalog.h"
#include "model/openai_caps.h"
#include "model/server.h"

#define OPENAI_URL "https://api.openai.com/v1"
#define ASK_MS 1500       /* a server that is asked beside the start */
#define ASK_MODEL_MS 5000 /* one without which there is no model */
#define MODELS_NAMED 8

const char *
setup_openai_key(struct setup *s)
{
    const char *from, *base = setup_base_url(s, "openai", &from);
    const char *own = setup_env(s, "OPENAI_BASE_URL");
    /* The saved server on this machine is not the one that the key in the environment is for. */
    if (base && http_is_loopback(base) && strncmp(from, "the setting", 11) == 0 &&
        !(own && strcmp(own, base) == 0))
        return NULL;
    return setup_env(s, "OPENAI_API_KEY");
}

/* ---- the model ---- */

/* A name that only another maker's server knows: "opus", or an id of its catalogue. */
static const struct model_info *
foreign(const char *name)
{
    const struct model_info *info = catalog_find(name);
    return info && strcmp(info->provider, "openai") != 0 && strcmp(info->id, name) != 0 ? info
                                                                                        : NULL;
}

static void
list_models(struct model_server *server, struct buf *out)
{
    size_t n;
    struct server_model *list = model_server_models(server, &n);
    for (size_t i = 0; i < n && i < MODELS_NAMED; i++)
        buf_addf(out, "%s%s", i ? ", " : "", list[i].id);
    if (n > MODELS_NAMED)
        buf_addf(out, " and %zu more", n - MODELS_NAMED);
    server_models_free(list, n);
}

/* The only model there is; yours, or NULL with what there is in err. */
static char *
only_model(struct model_server *server, bool connect, struct err *err)
{
    size_t n;
    struct server_model *list = model_server_models(server, &n);
    char *id = n == 1 ? xstrdup(list[0].id) : NULL;
    server_models_free(list, n);
    if (n == 0) {
        err_set(err, ERR_INVALID, "'%s' has no model yet: load one there",
                model_server_place(server));
    } else if (n > 1) {
        struct buf names;
        buf_init(&names, 300);
        list_models(server, &names);
        err_set(err, ERR_INVALID, "which model of '%s'? Name it %s: %s", model_server_place(server),
                connect ? "behind the address" : "with --model, OPENAI_MODEL or the setting model",
                buf_cstr(&names));
        buf_release(&names);
    }
    return id;
}

static bool
check_name(const char *name, struct err *err)
{
    return !foreign(name) ||
           err_set(err, ERR_INVALID,
                   "'%s' is a name for %s's model: a server that speaks chat completions wants the "
                   "name that it uses itself",
                   name, foreign(name)->provider);
}

bool
setup_openai_model(struct setup *s, const char **ret, struct err *err)
{
    *ret = s->options->model ? s->options->model : setup_env(s, "OPENAI_MODEL");
    if (*ret)
        return check_name(*ret, err);
    /* The settings may be another program's too: "opus" there is no wish for this server. */
    const char *setting = config_str(s->config, "model", !s->trusted, NULL);
    const struct model_info *info = setting ? catalog_find(setting) : NULL;
    if (setting && *setting && (!info || strcmp(info->provider, "openai") == 0))
        *ret = setting;
    return true;
}

/* ---- the provider ---- */

static enum openai_kind
kind_of(struct model_server *server)
{
    static const enum openai_kind kinds[] = {
        [SERVER_OTHER] = OPENAI_KIND_UNKNOWN,      [SERVER_OLLAMA] = OPENAI_KIND_OLLAMA,
        [SERVER_LLAMACPP] = OPENAI_KIND_LLAMA_CPP, [SERVER_LMSTUDIO] = OPENAI_KIND_LM_STUDIO,
        [SERVER_VLLM] = OPENAI_KIND_VLLM,
    };
    return kinds[model_server_kind(server)];
}

/* Is it there, what is it, and which model? By itself only silence without a model's name is an error: servers may keep their list. */
static bool
ask_server(struct setup *s, struct model_server *server, const struct setup_openai *w, bool own,
           char **ret_model, struct err *err)
{
    struct err silent = {0};
    if (own && !w->model)
        return err_set(err, ERR_INVALID,
                       "which model? Name it with --model, OPENAI_MODEL or the setting model");
    if (!own && !model_server_ask(server, s->cancel, w->model ? ASK_MS : ASK_MODEL_MS, &silent)) {
        bool dead = silent.code == ERR_NET || silent.code == ERR_TIMEOUT;
        log_info("setup", "%s", silent.text);
        if (!w->model || (w->connect && dead)) {
            *err = silent;
            return false;
        }
    }
    *ret_model = w->model ? xstrdup(w->model) : only_model(server, w->connect, err);
    return *ret_model != NULL;
}

bool
setup_make_openai(struct setup *s, const struct setup_openai *w, struct model_provider **ret,
                  char **ret_model, struct err *err)
{
    const char *base = w->base_url ? w->base_url : OPENAI_URL;
    bool own = strncmp(base, OPENAI_URL, sizeof OPENAI_URL - 1) == 0;
    if (own && !w->api_key)
        return err_set(
            err, ERR_INVALID,
            "no key for api.openai.com: set OPENAI_API_KEY, or OPENAI_BASE_URL (with its "
            "/v1) to a server that needs none");
    if (w->model && !check_name(w->model, err))
        return false;
    struct model_server *server = model_server_new(base, w->api_key);
    if (!ask_server(s, server, w, own, ret_model, err)) {
        model_server_free(server);
        return false;
    }
    struct openai_config c = {.base_url = w->base_url ? model_server_url(server) : NULL,
                              .api_key = w->api_key,
                              .custom_headers = setup_env(s, "OPENAI_CUSTOM_HEADERS"),
                              .user_agent = "yare/" YARE_VERSION,
                              .kind = kind_of(server)};
    *ret = openai_provider_new(&c);
    (*ret)->server = server;
    return true;
}
