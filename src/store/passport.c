#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "store/session.h"

enum { RUNNING_MAX = 4096 };

static const char *const statuses[] = {"idle", "running", "error"};

void
passport_init(struct passport *p)
{
    *p = (struct passport){.schema = PASSPORT_SCHEMA};
}

void
passport_release(struct passport *p)
{
    for (size_t i = 0; i < p->n_running; i++)
        free(p->running[i]);
    free(p->running);
    for (size_t i = 0; i < p->n_usage; i++)
        free(p->usage[i].model);
    free(p->model);
    free(p->project_root);
    free(p->original_cwd);
    free(p->cwd);
    free(p->last_error);
    free(p->git_head);
    *p = (struct passport){0};
}

static void
write_usage(struct jw *w, const struct passport *p)
{
    jw_key(w, "usage");
    jw_array(w);
    for (size_t i = 0; i < p->n_usage; i++) {
        const struct session_model_usage *u = &p->usage[i];
        jw_object(w);
        jw_kcstr(w, "model", u->model);
        jw_kint(w, "input", u->input);
        jw_kint(w, "output", u->output);
        jw_kint(w, "cache_read", u->cache_read);
        jw_kint(w, "cache_write", u->cache_write);
        jw_kint(w, "requests", u->requests);
        jw_knum(w, "cost_usd", u->cost_usd);
        if (u->estimated)
            jw_kbool(w, "estimated", true);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_running(struct jw *w, const struct passport *p)
{
    jw_key(w, "running");
    jw_array(w);
    for (size_t i = 0; i < p->n_running; i++)
        jw_cstr(w, p->running[i]);
    jw_end(w);
}

/* Members that stay away when there is nothing to say read back as NULL. */
static void
write_text(struct jw *w, const char *key, const char *text)
{
    if (text)
        jw_kcstr(w, key, text);
}

void
passport_write(const struct passport *p, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kint(&w, "schema", PASSPORT_SCHEMA);
    jw_kcstr(&w, "id", p->id);
    jw_kcstr(&w, "user", p->user);
    jw_kint(&w, "created_ms", p->created_ms);
    write_text(&w, "project_root", p->project_root);
    write_text(&w, "original_cwd", p->original_cwd);
    write_text(&w, "cwd", p->cwd);
    jw_kcstr(&w, "mode", p->mode);
    write_text(&w, "model", p->model);
    jw_kcstr(&w, "status", statuses[p->status]);
    write_text(&w, "last_error", p->last_error);
    write_running(&w, p);
    jw_knum(&w, "cost_usd", p->cost_usd);
    jw_kint(&w, "api_ms", p->api_ms);
    jw_kint(&w, "tool_ms", p->tool_ms);
    write_usage(&w, p);
    jw_kbool(&w, "latch_afk", p->latch_afk);
    jw_kbool(&w, "latch_fast", p->latch_fast);
    jw_kbool(&w, "latch_cache_edit", p->latch_cache_edit);
    jw_kbool(&w, "latch_thinking_clear", p->latch_thinking_clear);
    write_text(&w, "git_head", p->git_head);
    jw_kint(&w, "turns", p->turns);
    jw_end(&w);
}

/* ---- reading ---- */

static void
read_array(const struct cJSON *tree, const char *key, char *ret, size_t size)
{
    struct str s = json_str(tree, key);
    size_t n = s.len < size ? s.len : size - 1;
    while (n > 0 && n < s.len && ((unsigned char)s.ptr[n] & 0xC0) == 0x80)
        n--; /* not in the middle of a character */
    if (n)
        memcpy(ret, s.ptr, n);
    ret[n] = '\0';
}

static char *
read_text(const struct cJSON *tree, const char *key)
{
    struct str s = json_str(tree, key);
    return s.ptr ? str_dup(s) : NULL;
}

static void
read_running(const struct cJSON *list, struct passport *p)
{
    size_t cap = 0;
    for (const struct cJSON *n = json_first(list); n && p->n_running < RUNNING_MAX;
         n = json_next(n)) {
        struct str id = json_value_str(n);
        if (!id.ptr)
            continue;
        ARRAY_GROW(p->running, p->n_running, cap);
        p->running[p->n_running++] = str_dup(id);
    }
}

static void
read_usage(const struct cJSON *list, struct passport *p)
{
    for (const struct cJSON *n = json_first(list); n && p->n_usage < ARRAY_LEN(p->usage);
         n = json_next(n)) {
        struct session_model_usage *u = &p->usage[p->n_usage++];
        u->model = str_dup(json_str(n, "model"));
        u->input = json_count(n, "input");
        u->output = json_count(n, "output");
        u->cache_read = json_count(n, "cache_read");
        u->cache_write = json_count(n, "cache_write");
        u->requests = json_count(n, "requests");
        u->cost_usd = json_num(n, "cost_usd", -1);
        u->estimated = json_bool(n, "estimated", false);
    }
}

static enum session_status
read_status(const struct cJSON *tree)
{
    struct str s = json_str(tree, "status");
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (str_is(s, statuses[i]))
            return (enum session_status)i;
    return SESSION_IDLE;
}

static void
read_members(const struct cJSON *tree, struct passport *p)
{
    read_array(tree, "id", p->id, sizeof p->id);
    read_array(tree, "user", p->user, sizeof p->user);
    p->created_ms = json_int(tree, "created_ms", 0);
    p->project_root = read_text(tree, "project_root");
    p->original_cwd = read_text(tree, "original_cwd");
    p->cwd = read_text(tree, "cwd");
    read_array(tree, "mode", p->mode, sizeof p->mode);
    p->model = read_text(tree, "model");
    p->status = read_status(tree);
    p->last_error = read_text(tree, "last_error");
    read_running(json_at(tree, "running"), p);
    p->cost_usd = json_num(tree, "cost_usd", 0);
    p->api_ms = json_int(tree, "api_ms", 0);
    p->tool_ms = json_int(tree, "tool_ms", 0);
    read_usage(json_at(tree, "usage"), p);
    p->latch_afk = json_bool(tree, "latch_afk", false);
    p->latch_fast = json_bool(tree, "latch_fast", false);
    p->latch_cache_edit = json_bool(tree, "latch_cache_edit", false);
    p->latch_thinking_clear = json_bool(tree, "latch_thinking_clear", false);
    p->git_head = read_text(tree, "git_head");
    p->turns = json_int(tree, "turns", 0);
}

bool
passport_read(struct str json, struct passport *ret, struct err *err)
{
    int64_t schema;
    struct str id;
    struct cJSON *tree = json_parse(json, err);
    bool ok =
        tree && json_need_int(tree, "schema", &schema, err) && json_need_str(tree, "id", &id, err);
    if (ok && (schema < 1 || schema > PASSPORT_SCHEMA))
        ok = err_set(err, ERR_UNSUPPORTED,
                     "session passport of version %lld, this yare knows %d: use a newer yare",
                     (long long)schema, PASSPORT_SCHEMA);
    if (ok) {
        passport_init(ret);
        read_members(tree, ret);
    } else {
        err_wrap(err, "session passport");
    }
    json_free(tree);
    return ok;
}
