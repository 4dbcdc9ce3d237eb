/* What the servers say where: one row a program. Questions go out without the lock; what they found is put in place under it. */
#include "model/server.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"
#include "base/log.h"

#define ANSWER_MAX ((size_t)8 << 20)
#define MODELS_MAX 2000
#define ID_MAX 300
#define WINDOW_MAX ((int64_t)1 << 32)
/* What Ollama and LM Studio give a model that asks for nothing, on most machines. */
#define UNASKED_WINDOW 4096

struct known {
    char *model;
    int64_t window;
};

struct model_server {
    char *v1, *root, *place, *auth; /* auth: the header line, or NULL */
    pthread_mutex_t lock;           /* guards what follows */
    int64_t asked_ms;               /* 0: never */
    enum server_kind kind;
    struct server_model *models;
    size_t n_models;
    struct known *known; /* windows that are sure */
    size_t n_known, cap_known;
};

/* One question with what is left of the time. */
struct question {
    const struct model_server *s;
    struct cancel *cancel;
    int64_t until;
};

static const struct kind_row {
    const char *name;
    const char *owner; /* what its /v1/models says in owned_by; NULL: nothing of its own */
    const char *advice;
} kinds[] = {
    [SERVER_OTHER] = {"a model server", NULL, "start the server with a larger context"},
    [SERVER_OLLAMA] = {"Ollama", "library",
                       "start it with OLLAMA_CONTEXT_LENGTH=32768, or set num_ctx in the model's "
                       "Modelfile (/v1 takes no num_ctx)"},
    [SERVER_LLAMACPP] = {"llama.cpp", "llamacpp", "start llama-server with -c 32768"},
    [SERVER_LMSTUDIO] = {"LM Studio", "organization_owner",
                         "raise the context length where the model is loaded"},
    [SERVER_VLLM] = {"vLLM", "vllm", "start it with --max-model-len 32768"},
};

const char *
server_kind_name(enum server_kind k)
{
    return kinds[k].name;
}

const char *
server_kind_advice(enum server_kind k)
{
    return kinds[k].advice;
}

/* ---- the object ---- */

struct model_server *
model_server_new(const char *base_url, const char *api_key)
{
    struct model_server *s = xcalloc(1, sizeof *s);
    struct str base = str_trim(str_from(base_url));
    while (str_ends(base, "/"))
        base.len--;
    if (str_ends(base, "/v1"))
        base.len -= 3;
    s->root = str_dup(base);
    s->v1 = xasprintf("%s/v1", s->root);
    size_t start = str_find(base, ':', 0);
    struct str place = start != (size_t)-1 && str_starts(str_sub(base, start, 3), "://")
                           ? str_sub(base, start + 3, base.len)
                           : base;
    for (size_t at; (at = str_find(place, '@', 0)) != (size_t)-1;) /* never show a password */
        place = str_sub(place, at + 1, place.len);
    s->place = str_dup(place);
    s->auth = api_key && *api_key ? xasprintf("Authorization: Bearer %s", api_key) : NULL;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void
server_models_free(struct server_model *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].id);
    free(list);
}

void
model_server_free(struct model_server *s)
{
    if (!s)
        return;
    server_models_free(s->models, s->n_models);
    for (size_t i = 0; i < s->n_known; i++)
        free(s->known[i].model);
    free(s->known);
    free(s->v1);
    free(s->root);
    free(s->place);
    free(s->auth);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *
model_server_place(const struct model_server *s)
{
    return s->place;
}

const char *
model_server_url(const struct model_server *s)
{
    return s->v1;
}

enum server_kind
model_server_kind(struct model_server *s)
{
    pthread_mutex_lock(&s->lock);
    enum server_kind kind = s->kind;
    pthread_mutex_unlock(&s->lock);
    return kind;
}

int64_t
model_server_age_ms(struct model_server *s)
{
    pthread_mutex_lock(&s->lock);
    int64_t age = s->asked_ms ? clock_mono_ms() - s->asked_ms : INT64_MAX;
    pthread_mutex_unlock(&s->lock);
    return age;
}

struct server_model *
model_server_models(struct model_server *s, size_t *ret_n)
{
    pthread_mutex_lock(&s->lock);
    struct server_model *list = xcalloc(s->n_models + 1, sizeof *list);
    for (size_t i = 0; i < s->n_models; i++)
        list[i] = (struct server_model){xstrdup(s->models[i].id), s->models[i].context};
    *ret_n = s->n_models;
    pthread_mutex_unlock(&s->lock);
    return list;
}

/* ---- questions ---- */

/* The answer's tree (yours), or NULL with err. body NULL: a GET. The key goes with /v1 only. */
static struct cJSON *
ask(const struct question *q, const char *path, struct str body, struct err *err)
{
    bool v1 = strncmp(path, "/v1/", 4) == 0;
    const char *headers[] = {"Accept: application/json",
                             body.ptr ? "Content-Type: application/json" : NULL, NULL, NULL};
    if (v1 && q->s->auth)
        headers[headers[1] ? 2 : 1] = q->s->auth;
    char *url = xasprintf("%s%s", q->s->root, path);
    struct http_spec spec = {.method = body.ptr ? "POST" : "GET",
                             .url = url,
                             .headers = headers,
                             .body = &body,
                             .n_body = body.ptr ? 1 : 0};
    struct buf answer;
    int status = 0;
    int64_t left = q->until - clock_mono_ms();
    struct cJSON *tree = NULL;
    buf_init(&answer, ANSWER_MAX);
    if (http_fetch(&spec, q->cancel, left > 0 ? (int)left : 1, &answer, &status, err)) {
        if (status >= 200 && status <= 299)
            tree = json_parse(buf_str(&answer), err);
        else
            err_set(err, ERR_HTTP, "'%s' answered %d", q->s->place, status);
        if (!tree)
            err->http = status;
    }
    buf_release(&answer);
    free(url);
    return tree;
}

static bool
answers(const struct question *q, const char *path, const char *member)
{
    struct err err = {0};
    struct cJSON *tree = ask(q, path, (struct str){0}, &err);
    bool yes = tree && json_at(tree, member);
    json_free(tree);
    return yes;
}

static enum server_kind
kind_of_models(const struct cJSON *models_answer)
{
    for (const struct cJSON *m = json_first(json_at(models_answer, "data")); m; m = json_next(m)) {
        struct str owner = json_str(m, "owned_by");
        if (json_int(m, "max_model_len", 0) > 0)
            return SERVER_VLLM;
        for (size_t i = 1; i < ARRAY_LEN(kinds); i++)
            if (owner.ptr && str_is(owner, kinds[i].owner))
                return (enum server_kind)i;
    }
    return SERVER_OTHER;
}

/* Its list of models does not give it away: only here, on this machine, other addresses are tried. */
static enum server_kind
look_closer(const struct question *q)
{
    if (!http_is_loopback(q->s->root))
        return SERVER_OTHER;
    if (answers(q, "/api/version", "version"))
        return SERVER_OLLAMA;
    if (answers(q, "/props", "default_generation_settings"))
        return SERVER_LLAMACPP;
    if (answers(q, "/api/v0/models", "data"))
        return SERVER_LMSTUDIO;
    return SERVER_OTHER;
}

static int64_t
plausible(int64_t window)
{
    return window > 0 && window <= WINDOW_MAX ? window : 0;
}

/* It goes into a command line and back to the server: one word, as all are. */
static bool
usable_id(struct str id)
{
    for (size_t i = 0; i < id.len; i++)
        if ((unsigned char)id.ptr[i] <= ' ' || id.ptr[i] == 0x7f)
            return false;
    return id.len > 0 && id.len <= ID_MAX;
}

static struct server_model *
read_models(const struct cJSON *tree, size_t *ret_n)
{
    const struct cJSON *data = json_at(tree, "data");
    struct server_model *list = xcalloc(json_len(data) + 1, sizeof *list);
    size_t n = 0;
    for (const struct cJSON *m = json_first(data); m && n < MODELS_MAX; m = json_next(m)) {
        struct str id = json_str(m, "id");
        if (usable_id(id))
            list[n++] =
                (struct server_model){str_dup(id), plausible(json_int(m, "max_model_len", 0))};
    }
    *ret_n = n;
    return list;
}

static bool
say_no_server(const struct model_server *s, struct err *err)
{
    return err_set(err, ERR_HTTP, "'%s' answers, but not as a model server: check the base URL",
                   s->place);
}

static bool
say_ask_failed(const struct model_server *s, struct err *err)
{
    if (err->http == 401 || err->http == 403)
        return err_set(err, ERR_HTTP,
                       "'%s' refuses the key (%d): set OPENAI_API_KEY to one that it takes",
                       s->place, err->http);
    if (err->http == 404)
        return err_set(err, ERR_HTTP, "'%s' has no /v1/models: check the base URL", s->place);
    if (err->code == ERR_PARSE)
        return say_no_server(s, err);
    return err_wrap(err, "asking '%s' for its models", s->place);
}

bool
model_server_ask(struct model_server *s, struct cancel *cancel, int timeout_ms, struct err *err)
{
    struct question q = {s, cancel, clock_mono_ms() + timeout_ms};
    struct cJSON *tree = ask(&q, "/v1/models", (struct str){0}, err);
    if (!tree)
        return say_ask_failed(s, err);
    /* Ollama without a model says null. */
    const struct cJSON *data = json_at(tree, "data");
    if (!data || !(json_is_array(data) || json_is_null(data))) {
        json_free(tree);
        return say_no_server(s, err);
    }
    size_t n;
    struct server_model *list = read_models(tree, &n);
    enum server_kind kind = kind_of_models(tree);
    json_free(tree);
    if (kind == SERVER_OTHER)
        kind = look_closer(&q);
    pthread_mutex_lock(&s->lock);
    struct server_model *old = s->models;
    size_t n_old = s->n_models;
    s->asked_ms = clock_mono_ms();
    s->kind = kind;
    s->models = list;
    s->n_models = n;
    pthread_mutex_unlock(&s->lock);
    server_models_free(old, n_old);
    return true;
}

/* ---- windows ---- */

/* "qwen3" and "qwen3:latest" are one model of Ollama's. */
static bool
same_model(struct str listed, const char *wanted)
{
    if (str_is(listed, wanted))
        return true;
    size_t n = strlen(wanted);
    return listed.len == n + 7 && strncmp(listed.ptr, wanted, n) == 0 &&
           str_ends(listed, ":latest");
}

int64_t
server_num_ctx(struct str parameters)
{
    struct str line;
    while (str_split(&parameters, '\n', &line)) {
        line = str_trim(line);
        if (!str_starts(line, "num_ctx") || line.len < 9)
            continue;
        struct str value = str_trim(str_sub(line, 7, line.len));
        int64_t n = 0;
        for (size_t i = 0;
             i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9' && n < WINDOW_MAX; i++)
            n = n * 10 + (value.ptr[i] - '0');
        return plausible(n);
    }
    return 0;
}

static int64_t
ollama_loaded(const struct question *q, const char *model)
{
    struct err err = {0};
    struct cJSON *tree = ask(q, "/api/ps", (struct str){0}, &err);
    int64_t window = 0;
    for (const struct cJSON *m = json_first(json_at(tree, "models")); m && !window;
         m = json_next(m))
        if (same_model(json_str(m, "model"), model) || same_model(json_str(m, "name"), model))
            window = plausible(json_int(m, "context_length", 0));
    json_free(tree);
    return window;
}

/* What the model's own file asks for: sure, for the server follows it when it loads the model. */
static int64_t
ollama_configured(const struct question *q, const char *model)
{
    struct err err = {0};
    struct buf body;
    buf_init(&body, 4096);
    struct jw w;
    jw_init(&w, &body);
    jw_object(&w);
    jw_kcstr(&w, "model", model);
    jw_end(&w);
    struct cJSON *tree = buf_full(&body) ? NULL : ask(q, "/api/show", buf_str(&body), &err);
    int64_t window = server_num_ctx(json_str(tree, "parameters"));
    json_free(tree);
    buf_release(&body);
    return window;
}

static int64_t
ollama_window(const struct question *q, const char *model, bool *ret_sure)
{
    int64_t window = ollama_loaded(q, model);
    if (!window)
        window = ollama_configured(q, model);
    *ret_sure = window > 0;
    return window ? window : UNASKED_WINDOW;
}

static int64_t
llamacpp_window(const struct question *q)
{
    struct err err = {0};
    struct cJSON *tree = ask(q, "/props", (struct str){0}, &err);
    int64_t window = plausible(json_int(tree, "default_generation_settings.n_ctx", 0));
    if (!window)
        window = plausible(json_int(tree, "n_ctx", 0));
    json_free(tree);
    return window;
}

static int64_t
lmstudio_window(const struct question *q, const char *model, bool *ret_sure)
{
    struct err err = {0};
    struct cJSON *tree = ask(q, "/api/v0/models", (struct str){0}, &err);
    int64_t window = 0;
    for (const struct cJSON *m = json_first(json_at(tree, "data")); m; m = json_next(m)) {
        if (!str_is(json_str(m, "id"), model))
            continue;
        window = plausible(json_int(m, "loaded_context_length", 0));
        *ret_sure = window > 0;
        if (!window && UNASKED_WINDOW < json_int(m, "max_context_length", 0))
            window = UNASKED_WINDOW; /* what it gives a model that it loads by itself */
    }
    json_free(tree);
    return window;
}

/* vLLM's stands in its list. */
static int64_t
listed_window(struct model_server *s, const char *model)
{
    int64_t window = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_models; i++)
        if (strcmp(s->models[i].id, model) == 0)
            window = s->models[i].context;
    pthread_mutex_unlock(&s->lock);
    return window;
}

static int64_t
known_window(struct model_server *s, const char *model)
{
    int64_t window = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_known; i++)
        if (strcmp(s->known[i].model, model) == 0)
            window = s->known[i].window;
    pthread_mutex_unlock(&s->lock);
    return window;
}

static void
keep(struct model_server *s, const char *model, int64_t window)
{
    pthread_mutex_lock(&s->lock);
    if (s->n_known < MODELS_MAX) {
        ARRAY_GROW(s->known, s->n_known, s->cap_known);
        s->known[s->n_known++] = (struct known){xstrdup(model), window};
    }
    pthread_mutex_unlock(&s->lock);
}

int64_t
model_server_window(struct model_server *s, const char *model, struct cancel *cancel,
                    int timeout_ms, bool *ret_sure)
{
    struct question q = {s, cancel, clock_mono_ms() + timeout_ms};
    int64_t window = known_window(s, model);
    *ret_sure = true;
    if (window)
        return window;
    switch (model_server_kind(s)) {
    case SERVER_OLLAMA:
        window = ollama_window(&q, model, ret_sure);
        break;
    case SERVER_LLAMACPP:
        window = llamacpp_window(&q);
        break;
    case SERVER_LMSTUDIO:
        window = lmstudio_window(&q, model, ret_sure);
        break;
    case SERVER_VLLM:
    case SERVER_OTHER:
        window = listed_window(s, model);
        break;
    }
    log_debug("server", "%s: %s takes in %lld tokens%s", s->place, model, (long long)window,
              *ret_sure ? "" : " by default");
    if (window && *ret_sure)
        keep(s, model, window);
    return window;
}
