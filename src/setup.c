#include "setup.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/config.h"
#include "base/fs.h"
#include "base/http.h"
#include "base/log.h"
#include "base/trust.h"
#include "engine/childenv.h"
#include "engine/engine.h"
#include "model/catalog.h"
#include "store/store.h"

extern char **environ;

bool
setup_init(struct setup *s, const struct options *o, struct err *err)
{
    char cwd[PATH_MAX];
    *s = (struct setup){.options = o, .max_retries = -1};
    if (!getcwd(cwd, sizeof cwd))
        return err_sys(err, errno, "the working folder is gone");
    s->cwd = xstrdup(cwd);
    s->root = config_project_root(s->cwd);
    s->config_dir = config_dir();
    s->data_dir = config_data_dir();
    s->cancel = cancel_new(NULL);
    return true;
}

void
setup_cancel(struct setup *s)
{
    cancel_fire(s->cancel, CANCEL_TERM);
}

void
setup_free_engine(struct setup *s, struct engine *take_e)
{
    setup_offer_end(s, false);
    engine_free(take_e);
}

void
setup_release(struct setup *s)
{
    setup_offer_end(s, false);
    setup_helper_join(&s->http);
    config_free(s->config);
    store_close(s->store);
    for (size_t i = 0; s->child_env && s->child_env[i]; i++)
        free(s->child_env[i]);
    free(s->child_env);
    for (size_t i = 0; s->pass_env && s->pass_env[i]; i++)
        free(s->pass_env[i]);
    free(s->pass_env);
    free(s->fallback_models);
    for (size_t i = 0; s->add_dirs && s->add_dirs[i]; i++)
        free(s->add_dirs[i]);
    free(s->add_dirs);
    free(s->offer_text);
    free(s->last.provider);
    free(s->last.base_url);
    free(s->last.model);
    cancel_free(s->cancel);
    free(s->cwd);
    free(s->root);
    free(s->config_dir);
    free(s->mended);
    free(s->models_problem);
    free(s->data_dir);
    *s = (struct setup){0};
}

/* ---- helpers ---- */

bool
setup_helper_start(struct setup_helper *h, void *(*run)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&h->thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc)
        log_warn("setup", "no helper thread: %s", strerror(rc));
    h->on = rc == 0;
    return h->on;
}

void
setup_helper_join(struct setup_helper *h)
{
    if (h->on)
        pthread_join(h->thread, NULL);
    h->on = false;
}

static void *
load_http(void *arg)
{
    (void)arg;
    struct err err = {0};
    if (!http_load(&err)) /* whoever needs it gets the same error */
        log_warn("setup", "%s", err.text);
    return NULL;
}

static void
preload(struct setup *s)
{
    if (!s->http.on)
        (void)setup_helper_start(&s->http, load_http, NULL);
}

/* By the command line and the environment alone: the settings are not read yet. */
void
setup_preload(struct setup *s)
{
    static const char *const signs[] = {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
                                        "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"};
    const char *flag = s->options->provider;
    bool needed = flag && strcmp(flag, "offline") != 0;
    for (size_t i = 0; i < ARRAY_LEN(signs) && !flag; i++) {
        const char *value = getenv(signs[i]);
        needed |= value && *value;
    }
    if (needed)
        preload(s);
}

void
setup_person_is_here(struct setup *s)
{
    if (s->http_due)
        preload(s);
    s->http_due = false;
}

/* ---- start ---- */

enum { PASS_ENV_MAX = 64 };

/* Names of variables that the settings hand to commands, beside the usual ones. */
static char **
pass_env(const struct setup *s)
{
    struct config_item items[PASS_ENV_MAX];
    size_t n = config_list(s->config, "bash.passEnv", !s->trusted, items, PASS_ENV_MAX);
    char **names = xcalloc(PASS_ENV_MAX + 1, sizeof *names);
    for (size_t i = 0; i < n && i < PASS_ENV_MAX; i++)
        names[i] = str_dup(items[i].value);
    return names;
}

enum { FALLBACKS_MAX = 16 };

/* "a,b": the command line's, else the settings': a list, or a string. NULL: none. */
static char *
fallback_models(const struct setup *s)
{
    struct config_item items[FALLBACKS_MAX];
    if (s->options->fallback_model)
        return xstrdup(s->options->fallback_model);
    size_t n = config_list(s->config, "fallbackModel", !s->trusted, items, FALLBACKS_MAX);
    if (!n)
        return xstrdup(config_str(s->config, "fallbackModel", !s->trusted, NULL));
    struct buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < n && i < FALLBACKS_MAX; i++)
        buf_addf(&b, "%s%.*s", i ? "," : "", (int)items[i].value.len, items[i].value.ptr);
    return buf_take(&b);
}

void
setup_load(struct setup *s)
{
    if (s->config)
        return;
    struct config_paths paths = {.home = fs_home(),
                                 .config_dir = s->config_dir,
                                 .project_root = s->root,
                                 .cli_settings = s->options->settings};
    s->config = config_load(&paths);
    s->mended = trust_mend(s->config_dir);
    s->trusted = s->options->trust || trust_check(s->config_dir, s->root) == TRUST_YES;
    s->pass_env = pass_env(s);
    s->fallback_models = fallback_models(s);
    s->child_env = childenv_make((const char *const *)environ, (const char *const *)s->pass_env);
}

/* A broken file of the person's must not keep yare from starting: what is wrong with it is told, the rest of it holds. */
static void
load_catalogue(struct setup *s)
{
    char *user_models = fs_join(s->config_dir, "models.json");
    struct err problem = {0};
    catalog_load(user_models, &problem);
    if (problem.code != ERR_NONE)
        s->models_problem =
            xasprintf("%s; until it is mended the built-in catalogue counts", problem.text);
    free(user_models);
}

static void
fill_config(struct setup *s, struct engine_config *cfg)
{
    const struct options *o = s->options;
    cfg->fallback_model = s->fallback_models;
    cfg->model_given = o->model != NULL;
    cfg->mode_given = o->permission_mode != NULL;
    cfg->cwd = s->cwd;
    cfg->root = s->root;
    cfg->home = fs_home();
    cfg->config_dir = s->config_dir;
    cfg->data_dir = s->data_dir;
    cfg->store = s->store;
    cfg->cli_settings = o->settings;
    cfg->sandbox = o->sandbox;
    cfg->session_id = o->session_id;
    cfg->fork = o->fork_session;
    cfg->interactive = !o->print;
    cfg->print_mode = o->print;
    cfg->trusted = s->trusted;
    cfg->allowed_tools = o->allowed;
    cfg->disallowed_tools = o->disallowed;
    cfg->add_dirs = (const char *const *)s->add_dirs;
    cfg->system_prompt = o->system_prompt;
    cfg->append_system_prompt = o->append_system_prompt;
    cfg->max_turns = o->max_turns;
    cfg->max_budget_usd = o->max_budget_usd;
    cfg->partial_raw = o->partial;
    cfg->environ = (const char *const *)environ;
    cfg->pass_env = (const char *const *)s->pass_env;
    cfg->max_retries = s->max_retries;
    cfg->context_window = config_int(s->config, "contextWindow", !s->trusted, 0);
}

/* What was named on the command line has to be there: a typing error must not run without its rules. A file that is only empty is
 * fine. */
static bool
settings_hold(const struct setup *s, struct err *err)
{
    const struct config_problem *p;
    const char *given = s->options->settings;
    size_t n = config_problems(s->config, &p);
    const struct config_source *from;
    size_t n_from = config_sources(s->config, &from);
    for (size_t i = 0; i < n_from; i++)
        if (from[i].scope == SCOPE_CLI)
            return true;
    for (size_t i = 0; given && i < n; i++)
        if (!p[i].file[0] || strcmp(p[i].file, given) == 0)
            return err_set(err, ERR_INVALID, "--settings %s: %s", p[i].file[0] ? given : "'{...}'",
                           p[i].text);
    return true;
}

/* Relative ones count from where yare was started, as in any other command. */
static bool
find_add_dirs(struct setup *s, struct err *err)
{
    const char *const *dirs = (const char *const *)s->options->add_dirs;
    size_t n = 0;
    while (dirs && dirs[n])
        n++;
    s->add_dirs = xcalloc(n + 1, sizeof *s->add_dirs);
    for (size_t i = 0; i < n; i++) {
        s->add_dirs[i] = fs_normalize(s->cwd, dirs[i]);
        if (!s->add_dirs[i] || !fs_is_dir(s->add_dirs[i]))
            return err_set(err, ERR_INVALID, "--add-dir: there is no folder '%s'", dirs[i]);
    }
    return true;
}

/* What was asked for on the command line or in the settings; nothing is reached over the network yet. */
static bool
settle(struct setup *s, char resume_id[37], struct engine_config *cfg, struct err *err)
{
    const struct options *o = s->options;
    return settings_hold(s, err) && find_add_dirs(s, err) && setup_choose_mode(s, cfg, err) &&
           setup_choose_session(s, resume_id, cfg, err) &&
           (!o->trust || trust_grant(s->config_dir, s->root, err)) &&
           (s->store || (s->store = store_open(o->store ? o->store : "memory:", err)));
}

static bool
is_offline(struct setup *s, const char **ret_why)
{
    return strcmp(setup_provider(s, ret_why), "offline") == 0;
}

/* The person chose nothing: what answers on this machine is offered. */
static void
offer(struct setup *s, struct engine *e)
{
    const char *why;
    if (is_offline(s, &why) && strcmp(why, SETUP_NOTHING) == 0)
        setup_offer_begin(s, s->options->print ? NULL : e);
}

struct engine *
setup_start(struct setup *s, struct err *err)
{
    char resume_id[37] = "", *model = NULL;
    const char *why;
    struct engine_config cfg = {0};
    struct engine_seams seams = {0};

    if (!s->http_later)
        setup_preload(s);
    setup_load(s);
    s->wrong_usage = true;
    if (!settle(s, resume_id, &cfg, err))
        return NULL;
    load_catalogue(s);
    s->http_due = s->http_later && !is_offline(s, &why);
    if (!s->http_later && !is_offline(s, &why))
        preload(s);
    if (!setup_make_provider(s, &cfg.take_provider, &model, err))
        return NULL;
    s->wrong_usage = false;
    cfg.model = model;
    fill_config(s, &cfg);
    setup_fill_seams(s, &seams);
    cfg.seams = &seams;
    char *problems = setup_problems(s);
    cfg.notice = problems;
    struct engine *e = engine_start(&cfg, err);
    free(problems);
    free(model);
    if (e)
        offer(s, e);
    return e;
}
