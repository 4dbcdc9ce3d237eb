#include "engine/core.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "engine/childenv.h"
#include "engine/context.h"
#include "engine/executor.h"
#include "engine/executor_pool.h"
#include "engine/hidden.h"
#include "engine/permit.h"
#include "engine/permit_sandbox.h"
#include "engine/query_log.h"
#include "engine/session_private.h"
#include "engine/side.h"
#include "engine/tasks.h"
#include "engine/toolsum.h"
#include "model/provider.h"
#include "perm/chain.h"
#include "tools/task.h"
#include "tools/tool.h"

/* ---- lists of strings ---- */

/* NULL gives an empty one. */
static char **
strv_copy(const char *const *v)
{
    size_t n = 0;
    while (v && v[n])
        n++;
    char **out = xcalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = xstrdup(v[i]);
    return out;
}

void
strv_free(char **v)
{
    for (size_t i = 0; v && v[i]; i++)
        free(v[i]);
    free(v);
}

/* ---- start and end ---- */

static void
emit_todos(void *user, const char *todos_json)
{
    struct core *c = user; /* only the queue is touched: this is a tool's thread */
    struct event *e = event_new(EV_TASK);
    e->u.task.json = xasprintf("{\"todos\":%s}", todos_json ? todos_json : "[]");
    queue_push(c->out, e);
}

static void
fill_seams(struct core *c, const struct engine_seams *given)
{
    struct engine_seams *s = &c->seams;
    if (given)
        *s = *given;
    if (!s->tool_find)
        s->tool_find = tool_find;
    if (!s->tools_schema)
        s->tools_schema = tools_schema_write;
    if (!s->perm_check)
        s->perm_check = perm_chain_check;
    if (!s->bash_read_only)
        s->bash_read_only = perm_chain_bash_read_only;
    if (!s->perm_suggest)
        s->perm_suggest = perm_chain_suggest;
    if (!s->retry_base_ms)
        s->retry_base_ms = 500;
    if (!s->kill_wait_ms)
        s->kill_wait_ms = 5000;
    if (!s->tool_host) {
        c->own_host = (struct tool_host){.user = c, .todos = emit_todos};
        s->tool_host = &c->own_host;
    }
}

static void
copy_settled(struct core *c, const struct engine_config *cfg)
{
    c->root = xstrdup(cfg->root ? cfg->root : cfg->cwd);
    c->home = xstrdup(cfg->home ? cfg->home : "/");
    c->config_dir = cfg->config_dir ? xstrdup(cfg->config_dir) : config_dir();
    c->data_dir = cfg->data_dir ? xstrdup(cfg->data_dir) : config_data_dir();
    c->original_cwd = xstrdup(cfg->cwd);
    c->cwd = xstrdup(cfg->cwd);
    c->given = (struct core_given){
        .settings = xstrdup(cfg->cli_settings),
        .sandbox = xstrdup(cfg->sandbox),
        .system_prompt = xstrdup(cfg->system_prompt),
        .append_system_prompt = xstrdup(cfg->append_system_prompt),
        .allowed_tools = strv_copy(cfg->allowed_tools),
        .disallowed_tools = strv_copy(cfg->disallowed_tools),
        .add_dirs = strv_copy(cfg->add_dirs),
        .model = cfg->model_given,
        .mode = cfg->mode_given,
        .max_turns = cfg->max_turns,
        .max_retries = cfg->max_retries < 0 ? 10 : cfg->max_retries,
        .max_tokens = cfg->max_tokens,
    };
    c->child_env = childenv_make(cfg->environ, cfg->pass_env);
    c->mode = cfg->mode;
    c->mode_scope = (enum scope)cfg->mode_scope;
    c->interactive = cfg->interactive;
    c->print_mode = cfg->print_mode;
    c->bypass_allowed = cfg->bypass_allowed;
    c->partial_raw = cfg->partial_raw;
    c->trusted = cfg->trusted;
    c->max_budget_usd = c->spend.given = cfg->max_budget_usd;
    c->window.limit = cfg->context_window;
}

bool
core_init(struct core *c, const struct engine_config *cfg, struct queue *out, struct waker *wake,
          struct cancel *cancel, struct err *err)
{
    memset(c, 0, sizeof *c);
    c->out = out;
    c->wake = wake;
    c->cancel = cancel;
    c->provider = cfg->take_provider;
    c->store = cfg->store;
    state_init(&c->state);
    prompt_init(&c->prompt);
    passport_init(&c->passport);
    buf_init(&c->saved_passport, BUF_MAX);
    if (!cfg->cwd || !cfg->take_provider)
        return err_set(err, ERR_INVALID, "the engine needs a working folder and a model provider");
    copy_settled(c, cfg);
    fill_seams(c, cfg->seams);
    c->fallback.list = xstrdup(cfg->fallback_model);
    core_set_model(c, cfg->model && cfg->model[0] ? cfg->model : c->provider->name);
    c->sandbox = permit_sandbox_new();
    c->permit = permit_new(c);
    c->pool = pool_new(wake);
    tasks_init(c);
    c->executor = executor_new(c);
    return true;
}

static void
release_given(struct core_given *g)
{
    free(g->settings);
    free(g->sandbox);
    free(g->system_prompt);
    free(g->append_system_prompt);
    strv_free(g->allowed_tools);
    strv_free(g->disallowed_tools);
    strv_free(g->add_dirs);
}

bool
core_release(struct core *c)
{
    executor_free(c->executor);
    toolsum_drop(c);
    side_close(c);
    bool all_back = pool_free(c->pool, c->seams.kill_wait_ms);
    permit_free(c->permit);
    judged_release(&c->judged);
    query_log_release(c);
    task_table_close(c->tasks);
    permit_sandbox_free(c->sandbox);
    if (!all_back) {
        /* A worker is still out there with what its job borrowed; the program is about to end, so that stays. */
        c->child_env = NULL;
    } else {
        task_table_free(c->tasks);
    }
    core_session_close(c);
    prompt_release(&c->prompt);
    buf_release(&c->saved_passport);
    model_provider_free(c->provider);
    for (size_t i = 0; i < c->retired.n; i++)
        model_provider_free(c->retired.list[i]);
    free(c->retired.list);
    char *strings[] = {c->root, c->home,  c->config_dir,    c->data_dir,       c->original_cwd,
                       c->cwd,  c->model, c->fallback.list, c->fallback.first, c->repeat_told};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        free(strings[i]);
    release_given(&c->given);
    strv_free(c->child_env);
    return all_back;
}

/* ---- events ---- */

void
core_emit(struct core *c, struct event *take_e)
{
    queue_push(c->out, take_e);
}

bool
core_answer(struct core *c, struct str text)
{
    if (!c->answer)
        return false;
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (c->answer->len)
        buf_addc(c->answer, '\n');
    buf_add_str(c->answer, text);
    return true;
}

static void
emit_notice(struct core *c, struct buf *take_text, bool answer)
{
    struct event *e = event_new(EV_NOTICE);
    e->u.notice.answer = answer && core_answer(c, buf_str(take_text));
    e->u.notice.text = buf_take(take_text);
    core_emit(c, e);
}

void
core_notice(struct core *c, const char *fmt, ...)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    emit_notice(c, &b, true);
}

void
core_refuse(struct core *c, const char *fmt, ...)
{
    struct err err = {0};
    struct buf b;
    buf_init(&b, BUF_MAX);
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    err_set(&err, ERR_INVALID, "%s", buf_cstr(&b));
    core_refused(c, &err);
    emit_notice(c, &b, false);
}

void
core_refuse_err(struct core *c, const struct err *err)
{
    core_refused(c, err);
    core_error(c, err, NULL);
}

void
core_refused(struct core *c, const struct err *err)
{
    if (c->refused.code == ERR_NONE)
        c->refused = *err;
}

void
core_error(struct core *c, const struct err *err, const char *request_id)
{
    struct event *e = event_new(EV_ERROR);
    e->u.error.err = *err;
    e->u.error.request_id = request_id && request_id[0] ? xstrdup(request_id) : NULL;
    log_warn("engine", "%s", err->text);
    core_emit(c, e);
}

static char *
tool_names(const struct core *c)
{
    struct buf out;
    struct err err = {0};
    buf_init(&out, BUF_MAX);
    struct cJSON *tree = c->prompt.tools.len ? json_parse(buf_str(&c->prompt.tools), &err) : NULL;
    struct jw w;
    jw_init(&w, &out);
    jw_array(&w);
    for (const struct cJSON *t = json_first(tree); t; t = json_next(t))
        jw_cstr(&w, json_cstr(t, "name", "?"));
    jw_end(&w);
    json_free(tree);
    return buf_take(&out);
}

void
core_emit_session(struct core *c, bool cleared)
{
    struct event *e = event_new(EV_SESSION);
    e->u.session.id = xstrdup(c->session_id);
    e->u.session.model = xstrdup(c->model);
    e->u.session.model_shown = xstrdup(c->info ? c->info->shown : NULL);
    e->u.session.cwd = xstrdup(c->cwd);
    e->u.session.root = xstrdup(c->root);
    e->u.session.version = xstrdup(YARE_VERSION);
    e->u.session.provider = xstrdup(c->provider->name);
    e->u.session.mode = c->mode;
    e->u.session.fast = fast_is_on(c);
    e->u.session.resumed = c->resumed;
    e->u.session.trusted = c->trusted;
    e->u.session.cleared = cleared;
    e->u.session.context_window = context_window(c);
    e->u.session.tools_json = tool_names(c);
    e->u.session.title = xstrdup(c->title);
    e->u.session.offline = strcmp(c->provider->name, "offline") == 0;
    e->u.session.bypass_allowed = c->bypass_allowed;
    core_emit(c, e);
}

void
core_emit_user(struct core *c, const struct message *m, const char *text, bool replayed)
{
    struct event *e = event_new(EV_USER);
    e->place = core_next_place(c) - 1;
    e->u.user.uuid = xstrdup(m->uuid);
    e->u.user.text = xstrdup(text);
    e->u.user.hidden = m->hidden;
    e->u.user.brief = m->hidden ? hidden_brief(str_from(text)) : NULL;
    e->u.user.replayed = replayed;
    core_emit(c, e);
}

void
core_emit_message(struct core *c, const struct message *m, const char *tool_results_json)
{
    struct event *e = event_new(EV_MESSAGE);
    e->place = core_next_place(c) - 1;
    e->u.message.json = str_dup(m->json);
    e->u.message.uuid = xstrdup(m->uuid);
    e->u.message.assistant = m->role == ROLE_ASSISTANT;
    e->u.message.hidden = m->hidden;
    e->u.message.partial = m->partial;
    e->u.message.tool_results_json = xstrdup(tool_results_json);
    core_emit(c, e);
}

void
core_set_mode(struct core *c, enum perm_mode mode)
{
    if (mode == PERM_BYPASS && !c->bypass_allowed) {
        core_refuse(c, "bypass is not available: start yare with --permission-mode bypass");
        return;
    }
    c->mode = mode;
    if (mode == PERM_AUTO)
        latch_set(c, LATCH_AFK);
    c->mode_scope = SCOPE_CLI; /* the person's own choice, in this session */
    struct event *e = event_new(EV_MODE);
    e->u.mode.mode = mode;
    core_emit(c, e);
    core_note_mode(c);
    permit_mode_changed(c->permit);
}

void
core_note_mode(struct core *c)
{
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, "\"mode\":\"%s\"", perm_mode_name(c->mode));
    core_note(c, "mode", NULL, buf_str(&b));
    buf_release(&b);
}

/* An alias is a word of one maker's models: another server would be asked for a model that it does not have. */
static const struct model_info *
find_model(const struct core *c, const char *id_or_alias)
{
    const struct model_info *info = catalog_find(id_or_alias);
    if (info && strcmp(c->provider->name, "openai") == 0 && strcmp(info->id, id_or_alias) != 0)
        return NULL;
    return info;
}

void
core_set_model(struct core *c, const char *id_or_alias)
{
    const struct model_info *info = find_model(c, id_or_alias);
    char *id = xstrdup(info ? info->id : id_or_alias);
    free(c->model);
    c->model = id;
    c->info = info;
    c->fallback.on = false;
    core_learn_window(c);
}
