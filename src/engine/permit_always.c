/*
 * What "always" means: rules that are saved, or, where no narrow rule would do, the very same command until the session ends
 * (permit_kept.c). Nothing of the latter outlives the session or lifts what a person has to look at each time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/repo.h"
#include "base/trust.h"
#include "engine/permit_private.h"

#define LOCAL_SETTINGS ".yare/settings.local.json"

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
    while (a->n_rules) /* it was offered something else before */
        free(a->rules[--a->n_rules]);
    a->session = false;
    if (!c->trusted) {
        why = "this folder is not trusted, its saved rules would not count; /trust changes that";
    } else {
        struct permit_request r;
        permit_build_request(p, call, &r);
        a->n_rules = c->seams.perm_suggest(&r.req, a->rules, &why);
        a->session = !a->n_rules && permit_may_keep(call, d);
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
        if (permit_keep(p, call))
            core_notice(p->core, "exactly this command runs without a question until the session "
                                 "ends; /permissions takes it back");
        else
            core_notice(p->core,
                        "allowed once: too much is allowed until the session ends already; "
                        "/permissions takes some of it back");
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
