/* Which provider, from what was said where, and its credentials. */
#include "setup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/http.h"
#include "model/keyed.h"

/* The pilot's words come in small pieces, a few milliseconds apart, so that a person sees how streaming looks. */
#define PILOT_PACE_US 4000
#define DEFAULT_MODEL "opus"
#define KEY_TTL_MS 300000

const char *
setup_env(struct setup *s, const char *name)
{
    char path[80] = "env.";
    size_t n = strlen(name);
    const char *v = NULL;
    if (s->config && n < sizeof path - 5) {
        memcpy(path + 4, name, n + 1);
        v = config_str(s->config, path, !s->trusted, NULL);
    }
    if (!v)
        v = getenv(name);
    return v && *v ? v : NULL;
}

static const char *
setting(struct setup *s, const char *path)
{
    const char *v = config_str(s->config, path, !s->trusted, NULL);
    return v && *v ? v : NULL;
}

/* ---- the choice ---- */

static const struct sign {
    const char *variable, *provider;
} signs[] = {
    {"ANTHROPIC_API_KEY", "anthropic"},  {"ANTHROPIC_AUTH_TOKEN", "anthropic"},
    {"ANTHROPIC_BASE_URL", "anthropic"}, {"apiKeyHelper", "anthropic"},
    {"OPENAI_API_KEY", "openai"},        {"OPENAI_BASE_URL", "openai"},
};

const char *
setup_provider(struct setup *s, const char **ret_why)
{
    setup_load(s);
    if (s->options->provider) {
        *ret_why = "--provider";
        return s->options->provider;
    }
    const char *name = setting(s, "provider");
    if (name) {
        *ret_why = "the setting 'provider'";
        return name;
    }
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        bool helper = strcmp(signs[i].variable, "apiKeyHelper") == 0;
        if (!(helper ? setting(s, signs[i].variable) : setup_env(s, signs[i].variable)))
            continue;
        *ret_why = helper ? "the setting 'apiKeyHelper'" : signs[i].variable;
        return signs[i].provider;
    }
    *ret_why = SETUP_NOTHING;
    return "offline";
}

const char *
setup_base_url(struct setup *s, const char *provider, const char **ret_from)
{
    const char *variable =
        strcmp(provider, "openai") == 0 ? "OPENAI_BASE_URL" : "ANTHROPIC_BASE_URL";
    const char *of = setting(s, "provider"), *url = s->options->base_url;
    *ret_from = "--base-url";
    if (url)
        return url;
    /* A server's address must not get another provider's key: it counts for the provider that it was set for. */
    url = !of || strcmp(of, provider) == 0 ? setting(s, "baseUrl") : NULL;
    *ret_from = "the setting 'baseUrl'";
    if (url)
        return url;
    *ret_from = variable;
    return setup_env(s, variable);
}

const char *
setup_credentials(struct setup *s, const char *provider)
{
    if (strcmp(provider, "openai") == 0)
        return setup_openai_key(s) ? "OPENAI_API_KEY" : NULL;
    if (strcmp(provider, "anthropic") != 0)
        return NULL;
    return setup_env(s, "ANTHROPIC_API_KEY")      ? "ANTHROPIC_API_KEY"
           : setup_env(s, "ANTHROPIC_AUTH_TOKEN") ? "ANTHROPIC_AUTH_TOKEN"
           : setting(s, "apiKeyHelper")           ? "the setting 'apiKeyHelper'"
                                                  : NULL;
}

bool
setup_check_url(const char *url, const char *from, struct err *err)
{
    size_t skip = strncasecmp(url, "http://", 7) == 0    ? 7
                  : strncasecmp(url, "https://", 8) == 0 ? 8
                                                         : 0;
    if (!skip)
        return err_set(err, ERR_INVALID,
                       "'%.200s' (from %s) is no http or https address: write it like "
                       "http://127.0.0.1:11434/v1",
                       url, from);
    if (!url[skip] || strchr("/?#:", url[skip]))
        return err_set(err, ERR_INVALID, "'%.200s' (from %s) names no host", url, from);
    return true;
}

/* ---- anthropic ---- */

/* A gateway may want the key as a bearer token; the API itself wants it in its own header only. */
static struct model_provider *
with_helpers_key(void *user, const char *key)
{
    struct setup *s = user;
    struct anthropic_config c = s->anthropic;
    c.api_key = key;
    char *headers = !c.base_url ? NULL
                    : c.custom_headers
                        ? xasprintf("%s\nAuthorization: Bearer %s", c.custom_headers, key)
                        : xasprintf("Authorization: Bearer %s", key);
    if (headers)
        c.custom_headers = headers;
    struct model_provider *p = anthropic_provider_new(&c);
    key_free(headers);
    return p;
}

static int64_t
key_ttl(struct setup *s)
{
    const char *v = setup_env(s, "CLAUDE_CODE_API_KEY_HELPER_TTL_MS");
    char *end = NULL;
    long long n = v ? strtoll(v, &end, 10) : 0;
    return v && end != v && !*end && n > 0 ? n : KEY_TTL_MS;
}

static struct model_provider *
make_keyed(struct setup *s, const char *command, bool wait_for_key, struct err *err)
{
    const char *const *env = (const char *const *)s->child_env;
    struct key_helper h = {.command = command, .cwd = s->cwd, .env = env};
    char *key = wait_for_key ? key_helper_get(&h, s->cancel, err) : NULL;
    if (wait_for_key && !key)
        return NULL;
    struct keyed_config c = {.name = "anthropic",
                             .command = command,
                             .cwd = s->cwd,
                             .env = env,
                             .ttl_ms = key_ttl(s),
                             .first_key = key,
                             .make = with_helpers_key,
                             .user = s};
    struct model_provider *p = keyed_provider_new(&c);
    key_free(key);
    return p;
}

static const char *
anthropic_model(struct setup *s)
{
    const char *named = s->options->model                 ? s->options->model
                        : setup_env(s, "ANTHROPIC_MODEL") ? setup_env(s, "ANTHROPIC_MODEL")
                                                          : setting(s, "model");
    return named ? named : DEFAULT_MODEL;
}

bool
setup_make_anthropic(struct setup *s, bool wait_for_key, struct model_provider **ret,
                     char **ret_model, struct err *err)
{
    const char *from, *base = setup_base_url(s, "anthropic", &from);
    const char *helper = setting(s, "apiKeyHelper");
    if (base && !setup_check_url(base, from, err))
        return false;
    s->anthropic =
        (struct anthropic_config){.base_url = base,
                                  .betas = setup_env(s, "ANTHROPIC_BETAS"),
                                  .custom_headers = setup_env(s, "ANTHROPIC_CUSTOM_HEADERS"),
                                  .user_agent = "yare/" YARE_VERSION};
    struct anthropic_config c = s->anthropic;
    c.api_key = setup_env(s, "ANTHROPIC_API_KEY");
    c.auth_token = setup_env(s, "ANTHROPIC_AUTH_TOKEN");
    bool open = base && http_is_loopback(base);
    if (!c.api_key && !c.auth_token && helper)
        *ret = make_keyed(s, helper, wait_for_key, err);
    else if (c.api_key || c.auth_token || c.custom_headers || open)
        *ret = anthropic_provider_new(&c);
    else
        return err_set(err, ERR_INVALID,
                       "no credentials for anthropic: set ANTHROPIC_API_KEY or "
                       "ANTHROPIC_AUTH_TOKEN, or the setting apiKeyHelper to a command that prints "
                       "the key; --provider offline needs none");
    if (!*ret)
        return false;
    *ret_model = xstrdup(anthropic_model(s));
    return true;
}

/* ---- any ---- */

static bool
make_openai(struct setup *s, struct model_provider **ret, char **ret_model, struct err *err)
{
    const char *from, *base = setup_base_url(s, "openai", &from);
    if (base && !setup_check_url(base, from, err))
        return false;
    struct setup_openai w = {.base_url = base, .api_key = setup_openai_key(s)};
    return setup_openai_model(s, &w.model, err) && setup_make_openai(s, &w, ret, ret_model, err);
}

bool
setup_make_provider(struct setup *s, struct model_provider **ret, char **ret_model, struct err *err)
{
    const char *why, *name = setup_provider(s, &why);
    if (strcmp(name, "anthropic") == 0)
        return setup_make_anthropic(s, true, ret, ret_model, err);
    if (strcmp(name, "openai") == 0)
        return make_openai(s, ret, ret_model, err);
    if (strcmp(name, "offline") != 0)
        return err_set(err, ERR_INVALID,
                       "unknown provider '%s' (by %s): anthropic, openai or offline", name, why);
    *ret = offline_provider_new(s->options->print ? 0 : PILOT_PACE_US);
    *ret_model = xstrdup("offline-pilot");
    return true;
}
