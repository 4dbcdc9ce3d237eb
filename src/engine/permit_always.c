/*
 * What "always" means: rules that are saved, or, where no narrow rule would do, the very same command until the session ends.
 * Nothing of the latter outlives the session or lifts what a person has to look at each time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/repo.h"
#include "base/trust.h"
#include "engine/permit_private.h"

#define LOCAL_SETTINGS ".yare/settings.local.json"
#define KEPT_MAX 500 /* calls of one session; past that they ask again */

/* ---- exactly this, until the session ends ---- */

static bool
may_keep(const struct permit_call *call, const struct decision *d)
{
    return (call->tool->flags & TOOL_SHELL) && d->verdict == VERDICT_ASK &&
           d->liftable_by == LIFT_CLASSIFIER && json_str(call->input, "command").len;
}

/* The call as it is compared: tool, folder and input, but for what says nothing of what runs. */
static void
write_key(const struct permit *p, const struct permit_call *call, struct buf *out)
{
    static const char *const idle[] = {"description", "timeout"};
    buf_addf(out, "%s %s", call->tool->name, p->core->cwd);
    for (const struct cJSON *m = json_first(call->input); m; m = json_next(m)) {
        bool counts = json_key(m) != NULL;
        for (size_t i = 0; i < ARRAY_LEN(idle) && counts; i++)
            counts = strcmp(json_key(m), idle[i]) != 0;
        if (!counts)
            continue;
        buf_addc(out, '\n');
        json_quote(out, str_from(json_key(m)));
        buf_addc(out, ' ');
        json_print(m, out);
    }
}

static bool
is_kept(const struct permit *p, const struct permit_call *call)
{
    struct buf key;
    bool found = false;
    buf_init(&key, BUF_MAX);
    write_key(p, call, &key);
    for (size_t i = 0; i < p->n_kept && !found; i++)
        found = str_is(buf_str(&key), p->kept[i]);
    buf_release(&key);
    return found;
}

static void
keep(struct permit *p, const struct permit_call *call)
{
    struct buf key;
    if (p->n_kept == KEPT_MAX || is_kept(p, call))
        return;
    buf_init(&key, BUF_MAX);
    write_key(p, call, &key);
    ARRAY_GROW(p->kept, p->n_kept, p->cap_kept);
    p->kept[p->n_kept++] = buf_take(&key);
}

void
permit_forget_kept(struct permit *p)
{
    for (size_t i = 0; i < p->n_kept; i++)
        free(p->kept[i]);
    free(p->kept);
    p->kept = NULL;
    p->n_kept = p->cap_kept = 0;
}

void
permit_allow_kept(struct permit *p, const struct permit_call *call, struct decision *d)
{
    if (!p->n_kept || !may_keep(call, d) || !is_kept(p, call))
        return;
    decision_add(d, "session", VERDICT_ALLOW, NULL, NULL,
                 "a person allowed exactly this until the session ends");
    d->verdict = VERDICT_ALLOW;
    d->liftable_by = LIFT_NONE;
}

/* ---- rules ---- */

static char *
local_settings(const struct core *c)
{
    return fs_join(c->root, LOCAL_SETTINGS);
}

void
permit_offer_rules(struct permit *p, const struct permit_call *call, const struct decision *d,
                   struct ask *a, struct event *e)
{
    struct core *c = p->core;
    const char *why = NULL;
    if (!c->trusted) {
        why = "this folder is not trusted, its saved rules would not count; /trust changes that";
    } else {
        struct permit_request r;
        permit_build_request(p, call, &r);
        a->n_rules = c->seams.perm_suggest(&r.req, a->rules, &why);
        a->session = !a->n_rules && may_keep(call, d);
    }
    e->u.ask.rules = xcalloc(ARRAY_LEN(a->rules), sizeof *e->u.ask.rules);
    e->u.ask.n_rules = a->n_rules;
    for (size_t i = 0; i < a->n_rules; i++)
        e->u.ask.rules[i] = xstrdup(a->rules[i]);
    if (a->session) {
        e->u.ask.rules[0] = xasprintf("Bash(%s)", json_cstr(call->input, "command", ""));
        e->u.ask.n_rules = 1;
        return; /* without a file: nothing is saved */
    }
    e->u.ask.rules_why = a->n_rules ? NULL : xstrdup(why);
    e->u.ask.rules_file = local_settings(c);
}

/* Saving is only worth it when the rules then cover the call: it is judged with them first. */
static bool
rules_cover(struct permit *p, const struct permit_call *call, const struct ask *a, const char *file)
{
    struct permit_request r;
    struct decision d;
    struct perm_rules with;
    perm_rules_init(&with);
    const struct perm_rules *now = &p->settings.rules;
    for (size_t i = 0; i < now->n; i++)
        perm_rules_add(&with, now->rules[i].verdict, now->rules[i].text, now->rules[i].scope,
                       now->rules[i].claude, now->rules[i].file, now->rules[i].line);
    for (size_t i = 0; i < a->n_rules; i++)
        perm_rules_add(&with, VERDICT_ALLOW, a->rules[i], SCOPE_LOCAL, false, file, 0);
    permit_build_request(p, call, &r);
    r.req.rules = &with;
    p->core->seams.perm_check(&r.req, &d);
    bool covered = d.verdict == VERDICT_ALLOW;
    decision_release(&d);
    perm_rules_release(&with);
    return covered;
}

/* The file is one person's: git shall not offer it to everyone. Said once, when yare makes the file. */
static void
keep_from_git(struct core *c)
{
    struct err err = {0};
    bool added = false;
    char *top = repo_find_top(c->root);
    const char *line = top && strcmp(top, c->root) == 0 ? LOCAL_SETTINGS : "**/" LOCAL_SETTINGS;
    if (top && !repo_exclude_add(top, line, &added, &err))
        core_error(c, &err, NULL);
    else if (added)
        core_notice(c, "%s stays out of git: .git/info/exclude names it now", LOCAL_SETTINGS);
    free(top);
}

void
permit_keep_answer(struct permit *p, const struct permit_call *call, const struct ask *a)
{
    struct err err = {0};
    char *file = local_settings(p->core);
    if (a->session) {
        keep(p, call);
        core_notice(p->core, "exactly this command runs without a question until the session ends");
    } else if (!a->n_rules) {
        core_notice(p->core, "allowed once: no rule can be saved for this call");
    } else if (!rules_cover(p, call, a, file)) {
        core_notice(p->core, "allowed once: the rule would not cover this call, nothing was saved");
    } else {
        bool is_new = !fs_exists(file), kept = permit_settings_are_kept(&p->settings, p->core);
        for (size_t i = 0; i < a->n_rules; i++) {
            if (config_add_to_list(file, "permissions.allow", a->rules[i], &err))
                core_notice(p->core, "saved %s in %s", a->rules[i], file);
            else
                core_error(p->core, &err, NULL);
        }
        if (is_new && fs_exists(file))
            keep_from_git(p->core);
        if (kept &&
            !trust_grant(p->core->config_dir, p->core->root, &err)) /* the person's own change */
            core_error(p->core, &err, NULL);
        permit_reload(p);
    }
    free(file);
}
