/* Model servers on this machine: offered at the start, listed and taken by /connect. */
#include "setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/config.h"
#include "base/fs.h"
#include "base/http.h"
#include "engine/engine.h"
#include "model/local.h"

#define MODELS_SHOWN 1
#define MODELS_LISTED 5

static void
find_local(struct setup *s, struct local_list *ret)
{
    local_find(getenv("YARE_LOCAL_SERVERS"), setup_env(s, "OLLAMA_HOST"), s->cancel, ret);
}

/* ---- the offer ---- */

/* "Ollama answers on 127.0.0.1:11434 (qwen3:8b, 2 more)" */
static void
describe(struct model_server *server, struct buf *out)
{
    const char *name = server_kind_name(model_server_kind(server));
    buf_addf(out, "%s answers on %s (", name, model_server_place(server));
    local_describe_models(server, MODELS_SHOWN, out);
    buf_addc(out, ')');
}

/* For the terminal a run of -p writes to: what to add to the command line. */
static void
add_line(struct buf *out, struct model_server *server, const char *text)
{
    buf_addf(out, "%s%s: --provider openai --base-url %s", out->len ? "\n" : "", text,
             model_server_url(server));
}

static void *
look_around(void *arg)
{
    struct setup *s = arg;
    struct local_list l;
    struct buf lines;
    buf_init(&lines, BUF_MAX);
    find_local(s, &l);
    for (size_t i = 0; i < l.n; i++) {
        struct buf text, command;
        buf_init(&text, 4096);
        buf_init(&command, 4096);
        describe(l.servers[i], &text);
        local_command(l.servers[i], &command);
        if (s->offer_to)
            engine_offer(s->offer_to, "provider", buf_cstr(&text), buf_cstr(&command));
        else
            add_line(&lines, l.servers[i], buf_cstr(&text));
        buf_release(&text);
        buf_release(&command);
    }
    local_release(&l);
    s->offer_text = lines.len ? buf_take(&lines) : NULL;
    buf_release(&lines);
    return NULL;
}

void
setup_offer_begin(struct setup *s, struct engine *e)
{
    s->offer_to = e;
    (void)setup_helper_start(&s->offer, look_around, s);
}

void
setup_offer_end(struct setup *s, bool wait)
{
    if (s->offer.on && !wait)
        cancel_fire(s->cancel, CANCEL_TERM);
    setup_helper_join(&s->offer);
}

/* ---- /connect ---- */

/* The one that answers now is a server on this machine, at an address of its own. */
static bool
has_own_server(struct setup *s)
{
    const char *from, *url = s->last.base_url;
    const char *name = s->last.provider ? s->last.provider : setup_provider(s, &from);
    if (!s->last.provider && strcmp(name, "openai") == 0)
        url = setup_base_url(s, name, &from);
    return strcmp(name, "openai") == 0 && url && http_is_loopback(url);
}

static char *
servers(void *user)
{
    struct setup *s = user;
    struct local_list l;
    struct buf b;
    buf_init(&b, BUF_MAX);
    find_local(s, &l);
    for (size_t i = 0; i < l.n; i++) {
        buf_addf(&b, "%s on %s: ", server_kind_name(model_server_kind(l.servers[i])),
                 model_server_place(l.servers[i]));
        local_describe_models(l.servers[i], MODELS_LISTED, &b);
        buf_adds(&b, "\n  ");
        local_command(l.servers[i], &b);
        buf_addc(&b, '\n');
    }
    if (!l.n)
        buf_addf(&b,
                 "no %smodel server answers on this machine (Ollama, llama.cpp, LM Studio and vLLM "
                 "at their usual ports were asked)\n",
                 has_own_server(s) ? "other " : "");
    buf_adds(&b,
             "/connect ollama|llama.cpp|lmstudio|vllm|openai|anthropic|offline|URL [MODEL]; --save "
             "keeps it for the next start");
    local_release(&l);
    return buf_take(&b);
}

/* A name, an address, or host:port; yours, NULL with err. */
static char *
url_of(struct setup *s, const char *where, struct err *err)
{
    char *url = local_url_of(where, getenv("YARE_LOCAL_SERVERS"), setup_env(s, "OLLAMA_HOST"));
    if (!url && strstr(where, "://"))
        url = xstrdup(where);
    else if (!url && strchr(where, ':'))
        url = xasprintf("http://%s", where);
    if (!url)
        err_set(err, ERR_INVALID,
                "'%.100s' is no server known by name: ollama, llama.cpp, lmstudio, vllm, openai, "
                "anthropic, offline, or an address like http://127.0.0.1:8080/v1",
                where);
    return url;
}

/* The key in the environment goes only to where the environment says it belongs. */
static const char *
key_for(struct setup *s, const char *url)
{
    const char *own = setup_env(s, "OPENAI_BASE_URL");
    size_t n = own ? strlen(own) : 0;
    while (n && own[n - 1] == '/')
        n--;
    return n && strncmp(url, own, n) == 0 && (!url[n] || url[n] == '/')
               ? setup_env(s, "OPENAI_API_KEY")
               : NULL;
}

static void
remember(struct setup *s, const char *provider, const char *base_url, const char *model)
{
    free(s->last.provider);
    free(s->last.base_url);
    free(s->last.model);
    s->last = (struct setup_connection){xstrdup(provider), xstrdup(base_url), xstrdup(model)};
}

static bool
connect_url(struct setup *s, const char *where, const char *model, struct model_provider **ret,
            char **ret_model, struct err *err)
{
    char *url = url_of(s, where, err);
    struct setup_openai w = {.base_url = url, .model = model, .connect = true};
    bool ok = url && setup_check_url(url, "/connect", err);
    if (ok)
        w.api_key = key_for(s, url);
    ok = ok && setup_make_openai(s, &w, ret, ret_model, err);
    if (ok)
        remember(s, "openai", model_server_url((*ret)->server), *ret_model);
    free(url);
    return ok;
}

static bool
connect_openai(struct setup *s, const char *model, struct model_provider **ret, char **ret_model,
               struct err *err)
{
    const char *base = setup_env(s, "OPENAI_BASE_URL");
    if (base && !setup_check_url(base, "OPENAI_BASE_URL", err))
        return false;
    struct setup_openai w = {.base_url = base,
                             .api_key = setup_env(s, "OPENAI_API_KEY"),
                             .model = model ? model : setup_env(s, "OPENAI_MODEL"),
                             .connect = true};
    if (!setup_make_openai(s, &w, ret, ret_model, err))
        return false;
    remember(s, "openai", base, *ret_model);
    return true;
}

static bool
connect_anthropic(struct setup *s, const char *model, struct model_provider **ret, char **ret_model,
                  struct err *err)
{
    if (!setup_make_anthropic(s, false, ret, ret_model, err))
        return false;
    if (model) {
        free(*ret_model);
        *ret_model = xstrdup(model);
    }
    remember(s, "anthropic", s->anthropic.base_url, *ret_model);
    return true;
}

static bool
connect_to(void *user, const char *where, const char *model, struct model_provider **ret,
           char **ret_model, struct err *err)
{
    struct setup *s = user;
    if (strcmp(where, "anthropic") == 0)
        return connect_anthropic(s, model, ret, ret_model, err);
    if (strcmp(where, "openai") == 0)
        return connect_openai(s, model, ret, ret_model, err);
    if (strcmp(where, "offline") != 0)
        return connect_url(s, where, model, ret, ret_model, err);
    *ret = offline_provider_new(0);
    *ret_model = xstrdup("offline-pilot");
    remember(s, "offline", NULL, *ret_model);
    return true;
}

static bool
save_connection(void *user, char **ret_file, struct err *err)
{
    struct setup *s = user;
    const struct setup_connection *c = &s->last;
    if (!c->provider)
        return err_set(err, ERR_INVALID,
                       "nothing was connected in this session: /connect WHERE [MODEL] --save");
    bool offline = strcmp(c->provider, "offline") == 0;
    struct config_pair pairs[] = {
        {"provider", c->provider}, {"baseUrl", c->base_url}, {"model", offline ? NULL : c->model}};
    char *file = fs_join(s->config_dir, "settings.json");
    bool ok = config_set_strings(file, pairs, ARRAY_LEN(pairs), err);
    if (ok)
        *ret_file = file;
    else
        free(file);
    return ok;
}

void
setup_fill_seams(struct setup *s, struct engine_seams *seams)
{
    seams->user = s;
    seams->connect = connect_to;
    seams->servers = servers;
    seams->save_connection = save_connection;
}
