#include "model/local.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/http.h"
#include "base/log.h"

#define CONNECT_MS 200 /* the kernel answers for loopback; a firewall may not */
#define ANSWER_MS 1500

/* name: as typed, without anything but letters. */
static const struct place {
    const char *name, *shown, *url;
    enum server_kind kind;
} places[] = {
    {"ollama", "ollama", "http://127.0.0.1:11434", SERVER_OLLAMA},
    {"llamacpp", "llama.cpp", "http://127.0.0.1:8080", SERVER_LLAMACPP},
    {"lmstudio", "lmstudio", "http://127.0.0.1:1234", SERVER_LMSTUDIO},
    {"vllm", "vllm", "http://127.0.0.1:8000", SERVER_VLLM},
};

/* OLLAMA_HOST is "host", "host:port", ":port" or a URL; 0.0.0.0 is what a server listens on, not where it is asked. */
static char *
ollama_url(const char *ollama_host)
{
    struct str h = str_trim(str_from(ollama_host));
    if (!h.len)
        return xstrdup(places[0].url);
    bool tls = str_starts(h, "https://");
    if (tls || str_starts(h, "http://"))
        h = str_sub(h, tls ? 8 : 7, h.len);
    while (str_ends(h, "/"))
        h.len--;
    size_t colon = h.len;
    while (colon > 0 && h.ptr[colon - 1] != ':' && h.ptr[colon - 1] != ']')
        colon--;
    bool has_port = colon > 0 && h.ptr[colon - 1] == ':';
    struct str host = has_port ? str_sub(h, 0, colon - 1) : h;
    struct str port = has_port ? str_sub(h, colon, h.len) : tls ? STR("443") : STR("11434");
    if (!host.len || str_is(host, "0.0.0.0") || str_is(host, "[::]"))
        host = STR("127.0.0.1");
    return xasprintf("http%s://%.*s:%.*s", tls ? "s" : "", (int)host.len, host.ptr, (int)port.len,
                     port.ptr);
}

static char *
usual_url(size_t i, const char *ollama_host)
{
    return places[i].kind == SERVER_OLLAMA ? ollama_url(ollama_host) : xstrdup(places[i].url);
}

/* ---- looking ---- */

static void
look(const char *url, struct cancel *cancel, struct local_list *ret)
{
    struct err err = {0};
    if (ret->n == ARRAY_LEN(ret->servers) || cancel_fired(cancel))
        return;
    /* Another machine (OLLAMA_HOST) is asked by libcurl at once. */
    if (http_is_loopback(url) && !http_listens(url, CONNECT_MS))
        return;
    struct model_server *s = model_server_new(url, NULL);
    if (model_server_ask(s, cancel, ANSWER_MS, &err)) {
        ret->servers[ret->n++] = s;
        return;
    }
    log_debug("local", "%s: %s", url, err.text);
    model_server_free(s);
}

static bool
next_url(struct str *rest, char **ret_url)
{
    struct str part;
    while (str_split(rest, ',', &part)) {
        part = str_trim(part);
        if (part.len) {
            *ret_url = str_dup(part);
            return true;
        }
    }
    return false;
}

void
local_find(const char *override, const char *ollama_host, struct cancel *cancel,
           struct local_list *ret)
{
    *ret = (struct local_list){0};
    if (override) {
        struct str rest = str_from(override);
        for (char *url; next_url(&rest, &url); free(url))
            look(url, cancel, ret);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *url = usual_url(i, ollama_host);
        look(url, cancel, ret);
        free(url);
    }
}

void
local_release(struct local_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        model_server_free(l->servers[i]);
    *l = (struct local_list){0};
}

/* ---- names ---- */

static bool
spells(const char *typed, const char *name)
{
    for (; *typed; typed++) {
        if (strchr(".-_ ", *typed))
            continue;
        if (tolower((unsigned char)*typed) != *name)
            return false;
        name++;
    }
    return !*name;
}

/* The first of the override's servers that says it is this one. */
static char *
find_in_override(const char *override, enum server_kind kind)
{
    struct local_list l;
    char *url = NULL;
    local_find(override, NULL, NULL, &l);
    for (size_t i = 0; i < l.n && !url; i++)
        if (model_server_kind(l.servers[i]) == kind)
            url = xstrdup(model_server_url(l.servers[i]));
    local_release(&l);
    return url;
}

char *
local_url_of(const char *name, const char *override, const char *ollama_host)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!spells(name, places[i].name))
            continue;
        char *url = override ? find_in_override(override, places[i].kind) : NULL;
        return url ? url : usual_url(i, ollama_host);
    }
    return NULL;
}

/* ---- words ---- */

void
local_describe_models(struct model_server *s, size_t shown, struct buf *out)
{
    size_t n;
    struct server_model *list = model_server_models(s, &n);
    if (!n)
        buf_adds(out, "no model");
    for (size_t i = 0; i < n && i < shown; i++)
        buf_addf(out, "%s%s", i ? ", " : "", list[i].id);
    if (n > shown)
        buf_addf(out, ", %zu more", n - shown);
    server_models_free(list, n);
}

/* A name when that leads to the same place again, else the address. */
void
local_command(struct model_server *s, struct buf *out)
{
    const char *where = model_server_url(s);
    enum server_kind kind = model_server_kind(s);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *url = xasprintf("%s/v1", places[i].url);
        if (places[i].kind == kind && strcmp(url, where) == 0)
            where = places[i].shown;
        free(url);
    }
    size_t n;
    struct server_model *list = model_server_models(s, &n);
    buf_addf(out, "/connect %s%s%s", where, n ? " " : "", n ? list[0].id : "");
    server_models_free(list, n);
}
