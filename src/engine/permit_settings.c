#include "engine/permit_settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/trust.h"
#include "engine/core.h"

#define DIRS_MAX 64

void
permit_settings_init(struct permit_settings *s)
{
    memset(s, 0, sizeof *s);
    perm_rules_init(&s->rules);
}

void
permit_settings_release(struct permit_settings *s)
{
    config_free(s->config);
    perm_rules_release(&s->rules);
    for (size_t i = 0; i < s->n_dirs; i++)
        free(s->dirs[i]);
    free(s->dirs);
    permit_settings_init(s);
}

char *
permit_settings_dir(const struct core *c, struct str dir)
{
    char *text = str_dup(dir), *full = str_starts(dir, "~/") ? fs_normalize(c->home, text + 2)
                                                             : fs_normalize(c->root, text);
    free(text);
    return full;
}

static void
add_dir(struct permit_settings *s, const struct core *c, struct str dir)
{
    if (s->n_dirs >= DIRS_MAX || !dir.len)
        return;
    ARRAY_GROW(s->dirs, s->n_dirs, s->cap_dirs);
    s->dirs[s->n_dirs++] = permit_settings_dir(c, dir);
}

static bool
was_there(const struct config *old, const struct config_problem *p)
{
    const struct config_problem *list;
    size_t n = config_problems(old, &list);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].file, p->file) && !strcmp(list[i].text, p->text))
            return true;
    return false;
}

/* Each problem once, when it comes up; those of the start were told then. */
static void
tell_problems(const struct config *old, const struct config *now, struct core *c)
{
    const struct config_problem *list;
    size_t n = config_problems(now, &list);
    for (size_t i = 0; i < n; i++)
        if (!was_there(old, &list[i]))
            core_notice(c, "settings: %s:%d %s", list[i].file, list[i].line, list[i].text);
}

/* last: what was in force, or NULL. */
static void
load(struct permit_settings *s, const struct config *last, const struct core *c)
{
    const struct config_paths paths = {
        .home = c->home,
        .config_dir = c->config_dir,
        .project_root = c->root,
        .cli_settings = c->given.settings,
    };
    s->trusted = c->trusted;
    s->kept = c->trusted && trust_check(c->config_dir, c->root) == TRUST_YES;
    s->config = config_reload(&paths, last);
    perm_rules_load(&s->rules, s->config);
    for (size_t i = 0; c->given.allowed_tools[i]; i++)
        perm_rules_add(&s->rules, VERDICT_ALLOW, c->given.allowed_tools[i], SCOPE_CLI, false, NULL,
                       0);
    for (size_t i = 0; c->given.disallowed_tools[i]; i++)
        perm_rules_add(&s->rules, VERDICT_DENY, c->given.disallowed_tools[i], SCOPE_CLI, false,
                       NULL, 0);
    struct config_item items[DIRS_MAX];
    size_t n =
        config_list(s->config, "permissions.additionalDirectories", !c->trusted, items, DIRS_MAX);
    for (size_t i = 0; i < n && i < DIRS_MAX; i++)
        add_dir(s, c, items[i].value);
    for (size_t i = 0; c->given.add_dirs[i]; i++)
        add_dir(s, c, str_from(c->given.add_dirs[i]));
}

bool
permit_settings_are_kept(const struct permit_settings *s, const struct core *c)
{
    return s->kept && trust_check(c->config_dir, c->root) == TRUST_YES;
}

/* A pull, an editor or the agent itself changed what the person looked at: from now on it only narrows. */
static void
drop_trust_if_changed(const struct permit_settings *s, struct core *c)
{
    if (!s->config || !s->kept || !c->trusted || permit_settings_are_kept(s, c))
        return;
    c->trusted = false;
    core_notice(c, "this folder's settings changed since you trusted them: they only narrow now; "
                   "/trust shows them and takes them up");
    core_emit_session(c, false);
}

bool
permit_settings_hold(const struct permit_settings *s, const struct core *c)
{
    return s->config && !s->stale && s->trusted == c->trusted;
}

void
permit_settings_refresh(struct permit_settings *s, struct core *c)
{
    if (permit_settings_hold(s, c) && !config_is_stale(s->config))
        return;
    drop_trust_if_changed(s, c);
    struct permit_settings old = *s;
    permit_settings_init(s);
    s->generation = old.generation + 1;
    load(s, old.config, c);
    if (old.config)
        tell_problems(old.config, s->config, c);
    permit_settings_release(&old);
    log_info("permit", "settings loaded: %zu rules", s->rules.n);
}
