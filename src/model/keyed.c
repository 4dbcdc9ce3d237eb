#include "model/keyed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

/* The inner provider with one key. It lives as long as a stream uses it. */
struct generation {
    struct model_provider *inner;
    int64_t born_ms;
    unsigned number;
    int refs; /* guarded by the provider's lock */
};

struct keyed {
    struct model_provider pub;
    struct key_helper helper;
    int64_t ttl_ms;
    struct model_provider *(*make)(void *user, const char *key);
    void *user;
    pthread_mutex_t lock;   /* guards the rest */
    struct generation *now; /* NULL: no key yet */
    unsigned made;
};

struct stream {
    struct model_stream pub;
    struct keyed *k;
    const struct model_request *req;
    struct generation *gen;
    struct model_stream *inner;
    struct key_run run;
    bool renewed, answered;
};

/* ---- generations ---- */

/* The provider's end closes connections, so it comes without the lock. */
static void
drop(struct keyed *k, struct generation *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&k->lock);
    bool last = --g->refs == 0;
    pthread_mutex_unlock(&k->lock);
    if (!last)
        return;
    model_provider_free(g->inner);
    free(g);
}

static void
install(struct keyed *k, const char *key)
{
    struct generation *g = xcalloc(1, sizeof *g);
    *g = (struct generation){.inner = k->make(k->user, key), .born_ms = clock_mono_ms(), .refs = 1};
    pthread_mutex_lock(&k->lock);
    struct generation *before = k->now;
    g->number = ++k->made;
    k->now = g;
    pthread_mutex_unlock(&k->lock);
    drop(k, before);
}

/* The current one (yours to drop) when it is fresh enough and none of those up to `refused`; NULL: a new key is needed. */
static struct generation *
take_fresh(struct keyed *k, unsigned refused)
{
    pthread_mutex_lock(&k->lock);
    struct generation *g = k->now;
    if (g && (g->number <= refused || (k->ttl_ms && clock_mono_ms() - g->born_ms >= k->ttl_ms)))
        g = NULL;
    if (g)
        g->refs++;
    pthread_mutex_unlock(&k->lock);
    return g;
}

/* ---- the stream ---- */

static void
let_go(struct stream *s)
{
    model_stream_free(s->inner);
    s->inner = NULL;
    drop(s->k, s->gen);
    s->gen = NULL;
}

static void
stream_free(struct model_stream *base)
{
    struct stream *s = (struct stream *)base;
    key_run_stop(&s->run);
    let_go(s);
    free(s);
}

static bool
send_request(struct stream *s, struct generation *take_gen, struct err *err)
{
    s->gen = take_gen;
    s->inner = s->gen->inner->start(s->gen->inner->self, s->req, err);
    return s->inner != NULL;
}

/* MODEL_DELTA: the request is on its way. */
static enum model_step
wait_for_key(struct stream *s, int wake_fd, int timeout_ms, struct err *err)
{
    char *key = NULL;
    switch (key_run_step(&s->run, wake_fd, timeout_ms, &key, err)) {
    case KEY_WAITS:
        return MODEL_IDLE;
    case KEY_FAILED:
        return MODEL_FAILED;
    case KEY_DONE:
        break;
    }
    install(s->k, key);
    key_free(key);
    pthread_mutex_lock(&s->k->lock);
    struct generation *g = s->k->now;
    g->refs++;
    pthread_mutex_unlock(&s->k->lock);
    return send_request(s, g, err) ? MODEL_DELTA : MODEL_FAILED;
}

/* A key that another stream got meanwhile does as well. */
static bool
begin(struct stream *s, unsigned refused, struct err *err)
{
    struct generation *g = take_fresh(s->k, refused);
    return g ? send_request(s, g, err) : key_run_start(&s->run, &s->k->helper, err);
}

static bool
renew(struct stream *s, struct err *err)
{
    unsigned refused = s->gen->number;
    log_info("keyed", "the key was refused: asking apiKeyHelper for a new one");
    let_go(s);
    s->renewed = true;
    s->pub.request_id[0] = '\0';
    err_clear(err);
    return begin(s, refused, err);
}

static enum model_step
stream_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
            struct err *err)
{
    struct stream *s = (struct stream *)base;
    for (;;) {
        if (s->run.running) {
            enum model_step step = wait_for_key(s, wake_fd, timeout_ms, err);
            if (step != MODEL_DELTA)
                return step;
        }
        if (!s->inner)
            return MODEL_FAILED;
        enum model_step step = model_stream_next(s->inner, wake_fd, timeout_ms, ret, err);
        memcpy(s->pub.request_id, s->inner->request_id, sizeof s->pub.request_id);
        memcpy(s->pub.betas_refused, s->inner->betas_refused, sizeof s->pub.betas_refused);
        s->answered |= step == MODEL_DELTA;
        if (step != MODEL_FAILED || err->http != 401 || s->answered)
            return step;
        if (s->renewed) {
            err_wrap(err, "the key of apiKeyHelper is refused");
            return step;
        }
        if (!renew(s, err))
            return MODEL_FAILED;
    }
}

static const struct model_stream_ops stream_ops = {stream_next, stream_free};

/* ---- the provider ---- */

static struct model_stream *
start(void *self, const struct model_request *req, struct err *err)
{
    struct stream *s = xcalloc(1, sizeof *s);
    s->pub.ops = &stream_ops;
    s->k = self;
    s->req = req;
    if (begin(s, 0, err))
        return &s->pub;
    stream_free(&s->pub);
    return NULL;
}

/* With the key there is: no helper is run for a count. */
static bool
count_tokens(void *self, const struct model_request *req, int timeout_ms, int64_t *ret_tokens,
             struct err *err)
{
    struct keyed *k = self;
    struct generation *g = take_fresh(k, 0);
    bool ok = g && g->inner->count
                  ? g->inner->count(g->inner->self, req, timeout_ms, ret_tokens, err)
                  : err_set(err, ERR_UNSUPPORTED, "tokens cannot be counted now");
    drop(k, g);
    return ok;
}

static char **
copy_env(const char *const *env)
{
    size_t n = 0;
    while (env && env[n])
        n++;
    char **copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(env[i]);
    return copy;
}

static void
provider_free(void *self)
{
    struct keyed *k = self;
    drop(k, k->now);
    char **env = (char **)(uintptr_t)k->helper.env;
    for (size_t i = 0; env[i]; i++)
        free(env[i]);
    free(env);
    free((void *)(uintptr_t)k->helper.command);
    free((void *)(uintptr_t)k->helper.cwd);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

struct model_provider *
keyed_provider_new(const struct keyed_config *c)
{
    struct keyed *k = xcalloc(1, sizeof *k);
    k->pub = (struct model_provider){
        .name = c->name, .self = k, .start = start, .free = provider_free, .count = count_tokens};
    k->helper = (struct key_helper){.command = xstrdup(c->command),
                                    .cwd = xstrdup(c->cwd),
                                    .env = (const char *const *)copy_env(c->env)};
    k->ttl_ms = c->ttl_ms;
    k->make = c->make;
    k->user = c->user;
    pthread_mutex_init(&k->lock, NULL);
    if (c->first_key)
        install(k, c->first_key);
    return &k->pub;
}
