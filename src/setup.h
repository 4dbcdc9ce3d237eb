#pragma once
/*
 * From options and settings to a running engine: folders, trust, provider choice (flag > setting > ANTHROPIC_* > OPENAI_* >
 * offline), mode, session. What is complicated is settled here, before the loop starts.
 *
 *     setup_init(&s, &options, &err);   // cheap: before the first frame
 *     e = setup_start(&s, &err);        // any one thread; setup_cancel(&s) from another makes it give up
 *     ...
 *     setup_free_engine(&s, e);         // helpers that still look around end first
 *     setup_release(&s);
 *
 * Loading libcurl runs beside reading the settings, and looking for model servers beside the running engine, each on a thread of its
 * own with all signals blocked. The struct must stay where it is and outlive the engine: the engine's seams lead back here.
 */
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli.h"
#include "model/provider.h"

struct cancel;
struct engine;
struct config;
struct store;

struct setup_helper { /* a thread */
    pthread_t thread;
    bool on;
};

struct setup {
    const struct options *options;
    char *cwd, *root, *config_dir, *data_dir;
    char *mended;         /* what had to be put aside at the start, for the person; NULL */
    char *models_problem; /* what is wrong with models.json; NULL */
    struct config *config;
    struct store *store;
    bool trusted;
    bool wrong_usage; /* setup_start failed by what was asked for: exit code 2 */
    /* nothing is asked at once: setup_person_is_here says when libcurl is loaded */
    bool http_later;
    bool http_due; /* ... and there is somebody to ask with it */
    int max_retries;
    struct cancel *cancel; /* fired: whatever waits gives up */
    struct setup_helper http, offer;
    struct engine *offer_to; /* NULL: kept in offer_text */
    /* what the look around found, for people; NULL: nothing. After setup_offer_end */
    char *offer_text;
    struct anthropic_config anthropic; /* borrowed texts, for keys that come later */
    char **child_env;                  /* of the key helper */
    char *fallback_models;             /* "a,b"; NULL: none */
    char **pass_env;                   /* names that the settings add to it */
    char **add_dirs;                   /* --add-dir, absolute; NULL-terminated */
    struct setup_connection {          /* what /connect gave last, for --save; NULLs: nothing */
        char *provider, *base_url, *model;
    } last;
};
/* Folders only: cheap enough for before the first frame. */
bool setup_init(struct setup *s, const struct options *o, struct err *err) MUST_CHECK;
void setup_release(struct setup *s);
/* Starts loading libcurl when it is plain that it will be needed. setup_start does so too. */
void setup_preload(struct setup *s);
/* The person touched the keyboard: with http_later the time to load libcurl (5 MB), so that it is there at Enter. The thread of the
 * screen, once the engine is there. */
void setup_person_is_here(struct setup *s);
/* Settings and trust. */
void setup_load(struct setup *s);
/* Everything else; NULL with err. Calls setup_load when that was not done. */
struct engine *setup_start(struct setup *s, struct err *err);
void setup_cancel(struct setup *s);
void setup_free_engine(struct setup *s, struct engine *take_e); /* NULL is fine */

/* setup_provider.c */
#define SETUP_NOTHING "no provider is set up" /* the reason when nothing was chosen */
/* The provider that would be used, and why, for people. Static strings, or borrowed from the settings. */
const char *setup_provider(struct setup *s, const char **ret_why);
/* Makes it, with its credentials and its model (yours). May run the key helper or ask the server for its models. */
bool setup_make_provider(struct setup *s, struct model_provider **ret, char **ret_model,
                         struct err *err) MUST_CHECK;
/* A variable of the settings' `env` (trusted scopes only), else of the environment; NULL when unset or empty. */
const char *setup_env(struct setup *s, const char *name);
/* Where the key comes from ("ANTHROPIC_API_KEY", "apiKeyHelper"), never the key; NULL: there is none. */
const char *setup_credentials(struct setup *s, const char *provider);
/* The base URL for this provider and where that is said; NULL: the provider's own. */
const char *setup_base_url(struct setup *s, const char *provider, const char **ret_from);
bool setup_make_anthropic(struct setup *s, bool wait_for_key, struct model_provider **ret,
                          char **ret_model, struct err *err) MUST_CHECK;

/* setup_openai.c */
struct setup_openai {               /* borrowed */
    const char *base_url, *api_key; /* NULL: OpenAI's own; none */
    const char *model;              /* NULL: the only one there */
    bool connect;                   /* by /connect: an address where nothing answers is an error */
};
bool setup_make_openai(struct setup *s, const struct setup_openai *w, struct model_provider **ret,
                       char **ret_model, struct err *err) MUST_CHECK;
/* The model that options, environment and settings name for such a server, in *ret; NULL: none. */
bool setup_openai_model(struct setup *s, const char **ret, struct err *err) MUST_CHECK;
/* OPENAI_API_KEY, unless it must not go there (a saved server on this machine); NULL. */
const char *setup_openai_key(struct setup *s);
bool setup_check_url(const char *url, const char *from, struct err *err) MUST_CHECK;

/* setup_connect.c */
struct engine_seams;
void setup_fill_seams(struct setup *s, struct engine_seams *seams);
/* Looks for model servers on this machine; what answers is offered to e, or kept in offer_text when that is NULL. */
void setup_offer_begin(struct setup *s, struct engine *e);
void setup_offer_end(struct setup *s, bool wait); /* wait: for what is still looked at */

/* setup_session.c */
struct engine_config;
bool setup_choose_mode(struct setup *s, struct engine_config *cfg, struct err *err) MUST_CHECK;
/* id: room for the chosen session's. */
bool setup_choose_session(struct setup *s, char id[37], struct engine_config *cfg,
                          struct err *err) MUST_CHECK;
/* What is wrong with the settings, a few lines; NULL when all is well; yours. */
char *setup_problems(struct setup *s);

/* A helper thread with all signals blocked. False when there is none to be had: the work is then done where it is needed. */
bool setup_helper_start(struct setup_helper *h, void *(*run)(void *), void *arg);
void setup_helper_join(struct setup_helper *h);
