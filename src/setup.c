#include "setup.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/fs.h"
#include "base/trust.h"
#include "engine/engine.h"
#include "model/catalog.h"
#include "model/provider.h"
#include "perm/rules.h"
#include "store/session.h"
#include "store/store.h"

extern char **environ;

/* The pilot's words come in small pieces, a few milliseconds apart, so that a person sees how streaming looks. */
#define PILOT_PACE_US 4000
#define DEFAULT_MODEL "opus"

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
    return true;
}

void
setup_release(struct setup *s)
{
    config_free(s->config);
    store_close(s->store);
    free(s->cwd);
    free(s->root);
    free(s->config_dir);
    free(s->data_dir);
    *s = (struct setup){0};
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
    s->trusted = s->options->trust || trust_check(s->config_dir, s->root) == TRUST_YES;
}

static const char *
env(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

const char *
setup_provider(struct setup *s, const char **ret_why)
{
    setup_load(s);
    if (s->options->provider) {
        *ret_why = "--provider";
        return s->options->provider;
    }
    const char *name = config_str(s->config, "provider", !s->trusted, NULL);
    if (name) {
        *ret_why = "the setting 'provider'";
        return name;
    }
    if (env("ANTHROPIC_API_KEY") || env("ANTHROPIC_AUTH_TOKEN")) {
        *ret_why = env("ANTHROPIC_API_KEY") ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN";
        return "anthropic";
    }
    /* Chosen by the environment alone it must not keep yare from starting while that wire is not there. */
    if (env("OPENAI_API_KEY") || env("OPENAI_BASE_URL")) {
        *ret_why = "OPENAI_* is set, but the OpenAI-compatible wire is not available in yare yet";
        return "offline";
    }
    *ret_why = "no provider is set up";
    return "offline";
}

static struct model_provider *
make_anthropic(struct setup *s, struct err *err)
{
    const char *base = s->options->base_url ? s->options->base_url : env("ANTHROPIC_BASE_URL");
    if (!base)
        base = config_str(s->config, "baseUrl", !s->trusted, NULL);
    struct anthropic_config c = {.base_url = base,
                                 .api_key = env("ANTHROPIC_API_KEY"),
                                 .auth_token = env("ANTHROPIC_AUTH_TOKEN"),
                                 .betas = env("ANTHROPIC_BETAS"),
                                 .custom_headers = env("ANTHROPIC_CUSTOM_HEADERS"),
                                 .user_agent = "yare/" YARE_VERSION};
    if (!c.api_key && !c.auth_token) {
        err_set(err, ERR_INVALID,
                "no credentials for anthropic: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN");
        return NULL;
    }
    return anthropic_provider_new(&c);
}

static struct model_provider *
make_provider(struct setup *s, struct err *err)
{
    const char *why, *name = setup_provider(s, &why);
    if (strcmp(name, "anthropic") == 0)
        return make_anthropic(s, err);
    if (strcmp(name, "offline") == 0)
        return offline_provider_new(s->options->print ? 0 : PILOT_PACE_US);
    if (strcmp(name, "openai") == 0)
        err_set(err, ERR_UNSUPPORTED,
                "the OpenAI-compatible wire (chosen by %s) is not available in yare yet: set "
                "ANTHROPIC_API_KEY, or use "
                "--provider offline",
                why);
    else
        err_set(err, ERR_INVALID, "unknown provider '%s' (by %s): anthropic, openai or offline",
                name, why);
    return NULL;
}

static const char *
choose_model(struct setup *s, const char *provider)
{
    if (strcmp(provider, "offline") == 0)
        return "offline-pilot";
    if (s->options->model)
        return s->options->model;
    if (env("ANTHROPIC_MODEL"))
        return env("ANTHROPIC_MODEL");
    return config_str(s->config, "model", !s->trusted, DEFAULT_MODEL);
}

static bool
choose_mode(struct setup *s, struct engine_config *cfg, struct err *err)
{
    const char *name = s->options->permission_mode;
    cfg->mode = PERM_DEFAULT;
    cfg->mode_scope = SCOPE_CLI;
    if (!name) {
        name = config_str(s->config, "permissions.defaultMode", !s->trusted, NULL);
        const struct config_source *from =
            config_origin(s->config, "permissions.defaultMode", !s->trusted);
        if (from)
            cfg->mode_scope = (int)from->scope;
        /* A project may not put the person into AFK mode (SURFACE 2.5). */
        if (name && from && (from->scope == SCOPE_PROJECT || from->scope == SCOPE_LOCAL) &&
            strcmp(name, "auto") == 0)
            name = NULL;
    }
    if (name && !perm_mode_parse(name, &cfg->mode))
        return err_set(err, ERR_INVALID, "unknown permission mode '%s' in the settings", name);
    if (cfg->mode != PERM_BYPASS)
        return true;
    const char *off = config_str(s->config, "permissions.disableBypassPermissionsMode", false, "");
    if (strcmp(off, "disable") == 0)
        return err_set(err, ERR_DENIED, "bypass mode is disabled by the settings");
    if (geteuid() == 0 && (!env("IS_SANDBOX") || strcmp(env("IS_SANDBOX"), "1") != 0))
        return err_set(err, ERR_DENIED,
                       "bypass mode as root is refused outside a sandbox: set IS_SANDBOX=1 where "
                       "there is one");
    cfg->bypass_allowed = true;
    return true;
}

static bool
choose_session(struct setup *s, char id[37], struct engine_config *cfg, struct err *err)
{
    const struct options *o = s->options;
    if (o->go_on) {
        if (!session_find(s->data_dir, s->root, NULL, id, err))
            return false;
        if (!id[0])
            return err_set(err, ERR_INVALID,
                           "there is no session of '%s' to go on with; start one with: yare",
                           s->root);
        cfg->resume_id = id;
    } else if (o->resume && o->resume_id) {
        if (!session_find(s->data_dir, s->root, o->resume_id, id, err))
            return false;
        if (!id[0])
            return err_set(err, ERR_INVALID, "no session '%s' here; yare sessions lists them",
                           o->resume_id);
        cfg->resume_id = id;
    }
    return true;
}

static const char *
model_provider_name(struct setup *s)
{
    const char *why;
    return setup_provider(s, &why);
}

#define PROBLEMS_SAID 4

static void
add_problem(struct buf *out, size_t nth, const char *file, int line, const char *text)
{
    if (nth < PROBLEMS_SAID)
        buf_addf(out, "%ssettings: %s:%d %s", nth ? "\n" : "", file, line, text);
}

/* A deny rule that is not read must not be missed in silence. NULL when all is well; yours. */
static char *
settings_problems(struct setup *s)
{
    const struct config_problem *list;
    struct perm_rules rules;
    struct buf out;
    size_t n = config_problems(s->config, &list);
    buf_init(&out, BUF_MAX);
    for (size_t i = 0; i < n; i++)
        add_problem(&out, i, list[i].file, list[i].line, list[i].text);
    perm_rules_init(&rules);
    perm_rules_load(&rules, s->config);
    for (size_t i = 0; i < rules.n_problems; i++)
        add_problem(&out, n + i, rules.problems[i].file, rules.problems[i].line,
                    rules.problems[i].text);
    n += rules.n_problems;
    perm_rules_release(&rules);
    if (n > PROBLEMS_SAID)
        buf_addf(&out, "\nand %zu more: yare doctor lists them", n - PROBLEMS_SAID);
    char *text = n ? xstrdup(buf_cstr(&out)) : NULL;
    buf_release(&out);
    return text;
}

struct engine *
setup_start(struct setup *s, struct err *err)
{
    const struct options *o = s->options;
    char resume_id[37] = "";
    struct engine_config cfg = {0};

    setup_load(s);
    s->wrong_usage = true;
    if (!choose_mode(s, &cfg, err) || !choose_session(s, resume_id, &cfg, err))
        return NULL;
    if (o->trust && !trust_grant(s->config_dir, s->root, err))
        return NULL;
    if (!s->store && !(s->store = store_open(o->store ? o->store : "memory:", err)))
        return NULL;
    char *user_models = fs_join(s->config_dir, "models.json");
    struct err problem = {0};
    catalog_load(user_models, &problem);
    free(user_models);
    if (problem.code != ERR_NONE) {
        *err = problem;
        return NULL;
    }
    cfg.take_provider = make_provider(s, err);
    if (!cfg.take_provider)
        return NULL;
    cfg.model = choose_model(s, model_provider_name(s));
    cfg.fallback_model = o->fallback_model;
    cfg.cwd = s->cwd;
    cfg.root = s->root;
    cfg.home = fs_home();
    cfg.config_dir = s->config_dir;
    cfg.data_dir = s->data_dir;
    cfg.store = s->store;
    cfg.cli_settings = o->settings;
    cfg.session_id = o->session_id;
    cfg.fork = o->fork_session;
    cfg.interactive = !o->print;
    cfg.print_mode = o->print;
    cfg.trusted = s->trusted;
    cfg.allowed_tools = o->allowed;
    cfg.disallowed_tools = o->disallowed;
    cfg.add_dirs = o->add_dirs;
    cfg.system_prompt = o->system_prompt;
    cfg.append_system_prompt = o->append_system_prompt;
    cfg.max_turns = o->max_turns;
    cfg.max_budget_usd = o->max_budget_usd;
    cfg.partial_raw = o->partial;
    cfg.environ = (const char *const *)environ;
    cfg.max_retries = s->max_retries;
    s->wrong_usage = false;
    char *problems = settings_problems(s);
    cfg.notice = problems;
    struct engine *e = engine_start(&cfg, err);
    free(problems);
    return e;
}
