#include "perm/check_record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"

static enum scope
scope_of(const struct cJSON *t, const char *key, enum scope fallback)
{
    const char *s = json_cstr(t, key, NULL);
    for (int i = 0; s && i < SCOPE_COUNT; i++)
        if (strcmp(s, scope_name((enum scope)i)) == 0)
            return (enum scope)i;
    /* A scope that is not known is trusted least. */
    return s ? SCOPE_PROJECT : fallback;
}

/* As with settings that cannot be read: what a deny or ask rule would have said is not known, so every call asks. */
static void
tell_unread(struct check_record *r, enum verdict list, const char *path)
{
    if (list != VERDICT_ALLOW && !r->rules.broken)
        r->rules.broken = xasprintf("what '%s' of the record holds", path);
}

static void
add_rules(struct check_record *r, enum verdict list, const char *path, enum scope scope)
{
    const struct cJSON *a = json_at(r->tree, path);
    if (a && !json_is_array(a) && !json_is_null(a))
        tell_unread(r, list, path);
    for (const struct cJSON *m = json_first(a); json_is_array(a) && m; m = json_next(m)) {
        struct str s = json_value_str(m);
        if (!s.ptr)
            tell_unread(r, list, path);
        char *text = s.ptr ? str_dup(s) : xstrdup("");
        perm_rules_add(&r->rules, list, text, scope, false, NULL, 0);
        free(text);
    }
}

static bool
mode_of(const struct cJSON *t, enum perm_mode *ret)
{
    const char *s = json_cstr(t, "mode", NULL);
    *ret = PERM_DEFAULT;
    return !json_at(t, "mode") || (s && perm_mode_parse(s, ret));
}

static enum verdict
hook_of(const struct cJSON *t)
{
    const struct cJSON *hook = json_at(t, "hook"), *said = json_at(t, "hook.decision");
    if (!hook || json_is_null(hook) || (json_is_object(hook) && (!said || json_is_null(said))))
        return VERDICT_NONE;
    const char *s = json_cstr(t, "hook.decision", NULL);
    if (!s)
        return VERDICT_ASK; /* an answer that cannot be read is no yes */
    if (strcmp(s, "deny") == 0 || strcmp(s, "block") == 0)
        return VERDICT_DENY;
    if (strcmp(s, "allow") == 0 || strcmp(s, "approve") == 0)
        return VERDICT_ALLOW;
    return strcmp(s, "none") == 0 || strcmp(s, "defer") == 0 ? VERDICT_NONE : VERDICT_ASK;
}

/* A flag that may also be written as the thing it speaks of. */
static bool
flag_of(const struct cJSON *t, const char *key)
{
    const struct cJSON *v = json_at(t, key);
    if (json_is_bool(v))
        return json_bool(t, key, false);
    return v && !json_is_null(v) && !(json_is_str(v) && json_value_str(v).len == 0);
}

static void
fill_dirs(struct check_record *r)
{
    const struct cJSON *a = json_at(r->tree, "additional_dirs");
    r->dirs = xcalloc(json_len(a) + 1, sizeof *r->dirs);
    for (const struct cJSON *m = json_first(a); json_is_array(a) && m; m = json_next(m))
        if (json_is_str(m) && json_value_str(m).len)
            r->dirs[r->req.n_additional_dirs++] = json_value_str(m).ptr;
    r->req.additional_dirs = r->dirs;
}

static void
fill_places(struct check_record *r)
{
    const struct cJSON *t = r->tree;
    r->cwd = getcwd(NULL, 0);
    r->req.cwd = json_cstr(t, "cwd", json_cstr(t, "root", r->cwd ? r->cwd : "/"));
    r->req.root = json_cstr(t, "root", r->req.cwd);
    r->req.start_cwd = json_cstr(t, "start_cwd", NULL);
    r->req.home = json_cstr(t, "home", fs_home());
    r->req.shell = json_at(t, "shell") ? json_cstr(t, "shell", "unknown") : "bash";
    r->req.case_insensitive =
        json_is_bool(json_at(t, "case_insensitive")) ? flag_of(t, "case_insensitive") : -1;
    fill_dirs(r);
}

static void
fill_circumstances(struct check_record *r)
{
    const struct cJSON *t = r->tree;
    struct perm_request *q = &r->req;
    q->trusted = !json_at(t, "trusted") || json_bool(t, "trusted", false);
    q->interactive = !json_at(t, "interactive") || json_bool(t, "interactive", false);
    q->mode_scope = scope_of(t, "mode_source", SCOPE_USER);
    q->mcp_scope = scope_of(t, "mcp_source", SCOPE_USER);
    q->mcp_server = json_cstr(t, "mcp_server", NULL);
    q->mcp_definition_changed = flag_of(t, "mcp_definition_changed");
    q->nested_repo = flag_of(t, "nested_repo");
    q->commondir = json_cstr(t, "commondir", NULL);
    q->trusted_root = json_cstr(t, "trusted_root", NULL);
    q->hook = hook_of(t);
    bool enabled = json_bool(t, "sandbox.enabled", false);
    q->sandbox_available = enabled && json_bool(t, "sandbox.available", true);
    q->sandbox_auto_allow = enabled && json_bool(t, "sandbox.auto_allow", false);
    q->sandbox_unsandboxed = flag_of(t, "sandbox.request_unsandboxed");
    r->classifier = json_cstr(t, "classifier", "error");
    r->confidence = strcmp(r->classifier, "low_confidence") == 0 ? 0.5 : 1;
    if (json_is_object(json_at(t, "classifier"))) {
        r->classifier = json_cstr(t, "classifier.verdict", "error");
        r->confidence = json_num(t, "classifier.confidence", 0);
    }
}

static void
fill_call(struct check_record *r)
{
    const struct cJSON *rewritten = json_at(r->tree, "hook.updated_input");
    r->req.tool = json_cstr(r->tree, "tool", NULL);
    r->req.input = json_at(r->tree, "input");
    r->req.rules = &r->rules;
    if (rewritten && json_is_object(json_at(r->tree, "hook"))) {
        /* What a hook rewrote is judged as it will run; its yes was said to something else. */
        r->req.input = rewritten;
        if (r->req.hook == VERDICT_ALLOW)
            r->req.hook = VERDICT_NONE;
    }
}

bool
check_record_parse(struct check_record *r, struct str line, const char **ret_problem,
                   struct err *err)
{
    *r = (struct check_record){0};
    *ret_problem = NULL;
    perm_rules_init(&r->rules);
    r->tree = json_parse(line, err);
    if (!r->tree)
        return false;
    if (!json_is_object(r->tree))
        *ret_problem = "the record is no object";
    else if (!mode_of(r->tree, &r->req.mode))
        *ret_problem = "the mode is not known";
    enum scope rules = scope_of(r->tree, "rules_source", SCOPE_USER);
    add_rules(r, VERDICT_ALLOW, "rules.allow", scope_of(r->tree, "allow_source", rules));
    add_rules(r, VERDICT_ASK, "rules.ask", rules);
    add_rules(r, VERDICT_DENY, "rules.deny", scope_of(r->tree, "deny_source", rules));
    fill_places(r);
    fill_circumstances(r);
    fill_call(r);
    return true;
}

void
check_record_release(struct check_record *r)
{
    perm_rules_release(&r->rules);
    json_free(r->tree);
    free(r->dirs);
    free(r->cwd);
}
