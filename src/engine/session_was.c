/* What a resumed session was besides its messages: the model and mode that the person had chosen, the todos, how full the context
 * was, and the background commands that ended with yare. From the journal's notes. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/message.h"
#include "engine/session_private.h"
#include "model/server.h"
#include "tools/task.h"

#define ASK_MS 1500
#define USAGE_READ 50 /* so many records back it is looked for */
#define TODOS_MAX ((size_t)256 << 10)

/* ---- taking notes ---- */

static void
take(char **to, const char *text)
{
    if (!text)
        return;
    free(*to);
    *to = xstrdup(text);
}

static void
drop_task(struct session_was *w, size_t i)
{
    free(w->tasks[i].id);
    free(w->tasks[i].what);
    memmove(w->tasks + i, w->tasks + i + 1, (w->n_tasks - i - 1) * sizeof *w->tasks);
    w->n_tasks--;
}

static void
take_task(struct session_was *w, const struct cJSON *t)
{
    const char *id = json_cstr(t, "task", NULL);
    if (!id)
        return;
    for (size_t i = w->n_tasks; i-- > 0;)
        if (strcmp(w->tasks[i].id, id) == 0)
            drop_task(w, i);
    if (strcmp(json_cstr(t, "state", ""), "running") != 0)
        return;
    if (w->n_tasks == ARRAY_LEN(w->tasks))
        drop_task(w, 0);
    w->tasks[w->n_tasks].id = xstrdup(id);
    w->tasks[w->n_tasks++].what = xstrdup(json_cstr(t, "what", ""));
}

static void
take_mode(struct session_was *w, const struct cJSON *t)
{
    const char *name = json_cstr(t, "mode", NULL);
    if (name)
        w->has_mode = perm_mode_parse(name, &w->mode);
}

static void
take_model(struct session_was *w, const struct cJSON *t)
{
    take(&w->model, json_cstr(t, "model", NULL));
    take(&w->provider, json_cstr(t, "provider", NULL));
}

static void
take_todos(struct session_was *w, const struct cJSON *t)
{
    const struct cJSON *list = json_get(t, "todos");
    struct buf b;
    if (!json_is_array(list))
        return;
    buf_init(&b, TODOS_MAX);
    json_print(list, &b);
    if (!buf_full(&b))
        take(&w->todos, buf_cstr(&b));
    buf_release(&b);
}

void
session_was_note(struct session_was *w, struct str type, struct str record)
{
    bool first = str_is(type, "session"), model = str_is(type, "model");
    bool mode = str_is(type, "mode"), todos = str_is(type, "todos"), task = str_is(type, "task");
    if (!first && !model && !mode && !todos && !task)
        return;
    struct cJSON *t = json_parse(record, NULL);
    if (first || mode)
        take_mode(w, t);
    if (first || model)
        take_model(w, t);
    if (todos)
        take_todos(w, t);
    if (task)
        take_task(w, t);
    json_free(t);
}

void
session_was_release(struct session_was *w)
{
    free(w->model);
    free(w->provider);
    free(w->todos);
    while (w->n_tasks)
        drop_task(w, w->n_tasks - 1);
    *w = (struct session_was){0};
}

/* ---- what the requests say ---- */

/* The request of this record and its answer are the first *ret_n messages that the model knows. False: they are not in this history. */
static bool
counts(struct core *c, const struct cJSON *t, size_t *ret_n)
{
    size_t live = conversation_live(c->conv), len = conversation_len(c->conv);
    size_t at = conversation_index(c->conv, json_str(t, "parentUuid"));
    if (at >= len || at < live)
        return false;
    at++;
    at += at < len && !conversation_is_user(c->conv, at); /* its answer comes after it */
    *ret_n = at - live;
    return true;
}

/* The newest record that can tell it says how full the context was. Those of before providers were noted also say which model
 * answered, not which was chosen: better than nothing. True: nothing more is wanted. */
static bool
take_usage(struct core *c, struct str record)
{
    struct ledger_row row;
    size_t n;
    if (!ledger_read_note(record, &row) || strcmp(row.purpose, LEDGER_MAIN) != 0 || row.agent[0])
        return false;
    if (!c->was.provider && !c->was.answered) {
        take(&c->was.model, row.model);
        c->was.answered = true;
    }
    struct cJSON *t = json_parse(record, NULL);
    bool done = counts(c, t, &n);
    if (done) {
        c->state.context_tokens = ledger_context(&row);
        c->state.n_counted = n;
    }
    json_free(t);
    return done;
}

void
session_was_usage(struct core *c, struct str records)
{
    struct str rest = records;
    for (int i = 0; rest.len && i < USAGE_READ; i++) {
        struct str all = str_sub(rest, 0, rest.len - 1); /* without its newline */
        const char *nl = all.len ? memrchr(all.ptr, '\n', all.len) : NULL;
        size_t from = nl ? (size_t)(nl - all.ptr) + 1 : 0;
        if (take_usage(c, str_sub(all, from, all.len - from)))
            return;
        rest = str_sub(rest, 0, from);
    }
}

/* ---- what was chosen ---- */

static bool
is_served(struct core *c, const char *id)
{
    struct model_server *s = c->provider->server;
    struct err err = {0};
    size_t n;
    if (!s ||
        (model_server_age_ms(s) == INT64_MAX && !model_server_ask(s, c->cancel, ASK_MS, &err)))
        return true; /* the request will tell */
    struct server_model *list = model_server_models(s, &n);
    bool found = n == 0; /* a server that lists nothing */
    for (size_t i = 0; i < n && !found; i++)
        found = strcmp(list[i].id, id) == 0;
    server_models_free(list, n);
    return found;
}

bool
core_has_model(struct core *c, const char *id_or_alias, const char **ret_why)
{
    const struct model_info *info = catalog_find(id_or_alias);
    const char *name = c->provider->name;
    bool own = info && strcmp(info->provider, name) == 0;
    *ret_why = "";
    if (strcmp(name, "offline") == 0) {
        *ret_why = "the offline pilot is no language model and has no others; /connect lists what "
                   "answers on this machine";
        return own || strcmp(id_or_alias, c->model) == 0;
    }
    if (strcmp(name, "openai") == 0 && info && strcmp(info->id, id_or_alias) != 0) {
        *ret_why = "it is a name for another provider's model; /connect lists what this one has";
        return false;
    }
    if (strcmp(name, "anthropic") == 0 && info && !own) {
        *ret_why = "it is another provider's model";
        return false;
    }
    return true;
}

void
core_note_model(struct core *c)
{
    struct buf b;
    struct jw w;
    buf_init(&b, 4096);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "model", c->model);
    jw_kcstr(&w, "provider", c->provider->name);
    jw_end(&w);
    core_note(c, "model", NULL, buf_str(&b));
    buf_release(&b);
}

/* Old journals do not say whose the model was. */
static bool
can_come_back(struct core *c)
{
    const struct session_was *w = &c->was;
    const struct model_info *info = catalog_find(w->model);
    const char *why;
    if (w->provider ? strcmp(w->provider, c->provider->name) != 0
                    : !info || strcmp(info->provider, c->provider->name) != 0)
        return false;
    return core_has_model(c, w->model, &why) && is_served(c, w->model);
}

static void
restore_model(struct core *c)
{
    if (!c->was.model || strcmp(c->was.model, c->model) == 0)
        return;
    if (c->given.model && !c->print_mode)
        core_note_model(c);
    else if (c->given.model)
        return;
    else if (can_come_back(c))
        core_set_model(c, c->was.model);
    else
        core_notice(c, "this session was held with %s, which %s does not have; it goes on with %s",
                    c->was.model, c->provider->name, c->model);
}

void
core_restore_choices(struct core *c, bool keep_mode)
{
    restore_model(c);
    const struct session_was *w = &c->was;
    if (c->given.mode && !c->print_mode && (!w->has_mode || w->mode != c->mode))
        core_note_mode(c); /* from now on it is the session's */
    /* What lets more happen unasked, or less than the person may expect, is chosen anew each time. */
    if (keep_mode || !w->has_mode || (w->mode != PERM_DEFAULT && w->mode != PERM_ACCEPT_EDITS))
        return;
    c->mode = w->mode;
    c->mode_scope = SCOPE_CLI;
}

/* ---- to the model ---- */

/* Still there: this very program started it, left its session and came back. */
/* RUNS_THERE: in the session that this one is a copy of. */
enum was_state { OVER, RUNS_HERE, RUNS_THERE };

static enum was_state
task_now(struct core *c, const char *id)
{
    struct task *t = task_find(c->tasks, str_from(id));
    if (!t)
        return OVER;
    struct task_info i;
    task_get(t, &i);
    bool here = i.session_id && strcmp(i.session_id, c->session_id) == 0;
    bool runs = i.state == TASK_RUNNING;
    task_info_release(&i);
    task_unref(t);
    return !runs ? OVER : here ? RUNS_HERE : RUNS_THERE;
}

static void
note_told(struct core *c, const char *id)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "task", id);
    jw_kcstr(&w, "state", "told");
    jw_end(&w);
    core_note(c, "task", NULL, buf_str(&b));
    buf_release(&b);
}

static void
add_task(struct buf *list, struct core *c, const struct was_task *t)
{
    buf_addf(list, "%s%s (%s)", list->len ? ", " : "", t->id, t->what);
    note_told(c, t->id);
}

void
session_was_add_reminder(struct core *c, struct buf *out)
{
    struct session_was *w = &c->was;
    struct buf over, there;
    buf_init(&over, BUF_MAX);
    buf_init(&there, BUF_MAX);
    for (; w->n_tasks; drop_task(w, 0)) {
        enum was_state now = task_now(c, w->tasks[0].id);
        if (now != RUNS_HERE)
            add_task(now == OVER ? &over : &there, c, &w->tasks[0]);
    }
    if (over.len)
        buf_addf(out,
                 "\nyare was closed and opened again since. Background commands of that time are "
                 "over, and what they would still have put out is not there: %s",
                 buf_cstr(&over));
    if (there.len)
        buf_addf(out,
                 "\nThis session is a copy of another one, whose background commands still run: %s",
                 buf_cstr(&there));
    buf_release(&over);
    buf_release(&there);
}
