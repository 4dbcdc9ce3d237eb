/* Which server answers: /connect swaps the provider between turns; how much the model takes in is asked of its server. */
#include <stdlib.h>

#include "base/log.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "model/server.h"

#define ASK_MS 1500 /* the engine answers nobody meanwhile */
#define WINDOW_SMALL 16384
#define WORDS_MAX 2 /* where, model */

/* ---- the window ---- */

void
core_learn_window(struct core *c)
{
    struct model_server *server = c->provider->server;
    bool sure = true;
    int64_t told = server ? model_server_window(server, c->model, c->cancel, ASK_MS, &sure) : 0;
    c->window.guess = sure ? 0 : told;
    /* A guess limits nothing: it would keep the first request from being sent, which is what loads the model. */
    c->window.tokens = told && sure ? told : c->info ? c->info->context : 0;
}

void
core_say_window(struct core *c)
{
    struct model_server *server = c->provider->server;
    int64_t window = c->window.guess ? c->window.guess : context_window(c);
    if (!server || window <= 0 || window >= WINDOW_SMALL ||
        (!c->window.guess && c->window.tokens != window))
        return; /* the person's own, smaller limit needs no warning */
    enum server_kind kind = model_server_kind(server);
    const char *advice = server_kind_advice(kind);
    if (c->window.guess)
        core_notice(
            c,
            "%s is not loaded yet; the usual size there is only %lld tokens, too little for "
            "long work. What it is, is looked up after the first answer. To raise it, %s.",
            c->model, (long long)window, advice);
    else
        core_notice(c,
                    "%s takes in only %lld tokens: long work will not fit. %s may cut what is more "
                    "without a word, so yare stays below it. To raise it, %s.",
                    c->model, (long long)window, server_kind_name(kind), advice);
}

/* The first request loaded the model: now the server knows. */
void
core_recheck_window(struct core *c)
{
    if (!c->window.guess)
        return;
    core_learn_window(c);
    if (c->window.guess)
        return;
    log_info("connect", "%s takes in %lld tokens", c->model, (long long)c->window.tokens);
    if (c->window.tokens > 0 && c->window.tokens < WINDOW_SMALL)
        core_say_window(c);
    else if (c->window.tokens > 0)
        core_notice(c, "%s takes in %lld tokens", c->model, (long long)c->window.tokens);
    context_emit(c);
}

/* ---- /connect ---- */

struct words {
    char *word[WORDS_MAX];
    size_t n;
    bool save, too_many;
};

static struct words
split(struct str arg)
{
    struct words w = {0};
    struct str part;
    while (str_split(&arg, ' ', &part)) {
        part = str_trim(part);
        if (!part.len)
            continue;
        if (str_is(part, "--save"))
            w.save = true;
        else if (w.n == WORDS_MAX)
            w.too_many = true;
        else
            w.word[w.n++] = str_dup(part);
    }
    return w;
}

/* "connected: qwen3:8b (openai, Ollama at 127.0.0.1:11434)" */
static void
add_connected(const struct core *c, struct buf *out)
{
    buf_addf(out, "connected: %s (%s", c->model, c->provider->name);
    if (c->provider->server)
        buf_addf(out, ", %s at %s", server_kind_name(model_server_kind(c->provider->server)),
                 model_server_place(c->provider->server));
    buf_addc(out, ')');
}

static void
list_servers(struct engine *e)
{
    struct core *c = &e->core;
    struct buf b;
    char *text = c->seams.servers ? c->seams.servers(c->seams.user) : NULL;
    buf_init(&b, 4096);
    add_connected(c, &b);
    core_notice(c, "%s\n%s", buf_cstr(&b), text ? text : "nothing else can be connected here");
    buf_release(&b);
    free(text);
}

/* The old one may still be at work for somebody else: it stays until the engine ends. */
static void
swap_provider(struct core *c, struct model_provider *take_p, const char *model)
{
    ARRAY_GROW(c->retired.list, c->retired.n, c->retired.cap);
    c->retired.list[c->retired.n++] = c->provider;
    c->provider = take_p;
    free(c->fallback.list); /* a model of the old provider's */
    c->fallback.list = NULL;
    c->plain_requests = false;
    core_set_model(c, model);
}

static void
say_connected(struct core *c)
{
    struct buf b;
    buf_init(&b, 4096);
    add_connected(c, &b);
    if (context_window(c) > 0)
        buf_addf(&b, ", %lld tokens", (long long)context_window(c));
    core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
}

static void
save(struct core *c)
{
    struct err err = {0};
    char *file = NULL;
    if (!c->seams.save_connection)
        core_refuse(c, "this cannot be saved here");
    else if (!c->seams.save_connection(c->seams.user, &file, &err))
        core_refuse_err(c, &err);
    else
        core_notice(c, "saved in %s: the next start uses it", file);
    free(file);
}

static void
connect_to(struct engine *e, const struct words *w)
{
    struct core *c = &e->core;
    struct err err = {0};
    struct model_provider *p = NULL;
    char *model = NULL;
    if (!c->seams.connect) {
        core_refuse(c, "there is no other provider here");
        return;
    }
    if (!c->seams.connect(c->seams.user, w->word[0], w->word[1], &p, &model, &err)) {
        core_refuse_err(c, &err);
        return;
    }
    swap_provider(c, p, model);
    core_note_model(c);
    free(model);
    core_emit_session(c, false);
    context_emit(c);
    say_connected(c);
    core_say_window(c);
    if (w->save)
        save(c);
}

void
connect_run(struct engine *e, struct str arg)
{
    struct words w = split(arg);
    if (w.too_many)
        core_refuse(&e->core, "usage: /connect [WHERE [MODEL]] [--save]");
    else if (w.n == 0 && w.save)
        save(&e->core);
    else if (w.n == 0)
        list_servers(e);
    else
        connect_to(e, &w);
    for (size_t i = 0; i < w.n; i++)
        free(w.word[i]);
}
