/* How the session starts: its mode, which session it goes on with, and what is wrong with the settings. */
#include "setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/fs.h"
#include "base/text.h"
#include "engine/engine.h"
#include "perm/rules.h"
#include "store/session.h"

static bool
say_unknown_mode(struct setup *s, const char *name, struct err *err)
{
    static const char path[] = "permissions.defaultMode";
    const struct config_source *from = config_origin(s->config, path, !s->trusted);
    const char *file = from && from->file[0] ? from->file : "--settings";
    return err_set(err, ERR_INVALID,
                   "%s:%d unknown permission mode '%s': default, acceptEdits, plan, auto, dontAsk "
                   "or bypassPermissions",
                   file, config_line(s->config, from, path), name);
}

bool
setup_choose_mode(struct setup *s, struct engine_config *cfg, struct err *err)
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
        /* A project may not put the person into AFK mode, nor take the prompts away. */
        if (name && from && (from->scope == SCOPE_PROJECT || from->scope == SCOPE_LOCAL) &&
            (strcmp(name, "auto") == 0 || strcmp(name, "bypassPermissions") == 0))
            name = NULL;
    }
    if (name && !perm_mode_parse(name, &cfg->mode))
        return say_unknown_mode(s, name, err);
    if (cfg->mode != PERM_BYPASS)
        return true;
    const char *off = config_str(s->config, "permissions.disableBypassPermissionsMode", false, "");
    if (strcmp(off, "disable") == 0)
        return err_set(err, ERR_DENIED, "bypass mode is disabled by the settings");
    if (geteuid() == 0 && (!getenv("IS_SANDBOX") || strcmp(getenv("IS_SANDBOX"), "1") != 0))
        return err_set(err, ERR_DENIED,
                       "bypass mode as root is refused outside a sandbox: set IS_SANDBOX=1 where "
                       "there is one");
    cfg->bypass_allowed = true;
    return true;
}

/* --continue goes on with sessions of the screen only; those of -p would surprise. */
static bool
say_nothing_to_continue(struct setup *s, struct err *err)
{
    struct session_info *list = NULL;
    size_t n = 0;
    if (!session_list(s->data_dir, s->root, &list, &n, err))
        return false;
    if (n == 0) {
        err_set(err, ERR_INVALID, "there is no session of '%s' to go on with; start one with: yare",
                s->root);
    } else {
        struct buf title;
        buf_init(&title, 4096);
        text_visible(&title, str_from(list[0].title));
        buf_truncate(&title, text_fit(buf_str(&title), 60, NULL));
        err_set(err, ERR_INVALID,
                "-c goes on with sessions of the screen, and there are only those of -p here; the "
                "newest is \"%s\": yare --resume %s",
                buf_cstr(&title), list[0].id);
        buf_release(&title);
    }
    session_list_free(list, n);
    return false;
}

/* Two conversations in one file would be one to all who read it. */
static bool
check_new_id(struct setup *s, struct err *err)
{
    const struct options *o = s->options;
    bool old = (o->go_on || o->resume) && !o->fork_session;
    if (!o->session_id || old)
        return true;
    struct session_paths p;
    session_paths_make(s->data_dir, s->root, o->session_id, &p);
    bool used = fs_exists(p.journal);
    session_paths_release(&p);
    return !used || err_set(err, ERR_INVALID,
                            "there is a session %s already: go on with it by --resume, or name "
                            "another --session-id",
                            o->session_id);
}

/* `yare resume my first`: the second word was a prompt then, and may have been meant as the rest of a title. Always false. */
static bool
say_quotes(const struct options *o, struct err *err)
{
    if (!o->prompt || o->print || err->code != ERR_INVALID)
        return false;
    char *why = xstrdup(err->text);
    err_set(err, ERR_INVALID, "%s; a title of several words goes in quotes: yare resume '%s %.60s'",
            why, o->resume_id, o->prompt);
    free(why);
    return false;
}

bool
setup_choose_session(struct setup *s, char id[37], struct engine_config *cfg, struct err *err)
{
    const struct options *o = s->options;
    if (!check_new_id(s, err))
        return false;
    if (o->go_on) {
        if (!session_find(s->data_dir, s->root, NULL, id, err))
            return false;
        if (!id[0])
            return say_nothing_to_continue(s, err);
        cfg->resume_id = id;
    } else if (o->resume && o->resume_id) {
        /* the line is well formed: what it names is not there (the same as for `yare export`) */
        s->wrong_usage = false;
        if (!session_find(s->data_dir, s->root, o->resume_id, id, err))
            return say_quotes(o, err);
        if (!id[0])
            return err_set(err, ERR_INVALID, "no session '%s' here; yare sessions lists them",
                           o->resume_id);
        s->wrong_usage = true;
        cfg->resume_id = id;
    }
    return true;
}

#define PROBLEMS_SAID 4

static void
add_problem(struct buf *out, size_t nth, const char *file, int line, const char *text)
{
    if (nth < PROBLEMS_SAID)
        buf_addf(out, "%ssettings: %s:%d %s", nth ? "\n" : "", file && *file ? file : "--settings",
                 line, text);
}

static bool
is_unused_model(struct setup *s)
{
    const char *why, *model = s->options->model;
    return model && strcmp(model, "offline-pilot") != 0 &&
           strcmp(setup_provider(s, &why), "offline") == 0;
}

/* Nothing is sent that was not written down first, so it is said before somebody has typed for nothing. */
static void
add_unwritable(struct buf *out, const char *data_dir)
{
    char *at = xstrdup(data_dir);
    while (!fs_exists(at) && strcmp(at, "/") != 0) {
        char *up = fs_dirname(at);
        free(at);
        at = up;
    }
    if (access(at, W_OK | X_OK) != 0)
        buf_addf(out,
                 "%ssessions cannot be written below '%s' (%s), so no request can be sent: make it "
                 "writable, or set YARE_DATA_DIR",
                 out->len ? "\n" : "", at, strerror(errno));
    free(at);
}

/* A deny rule that is not read must not be missed in silence. NULL when all is well; yours. */
char *
setup_problems(struct setup *s)
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
    if (is_unused_model(s))
        buf_addf(&out,
                 "%sthe offline pilot answers, which is no language model and has no others: "
                 "--model %s is not used (/connect lists what answers on this machine)",
                 out.len ? "\n" : "", s->options->model);
    add_unwritable(&out, s->data_dir);
    if (s->mended)
        buf_addf(&out, "%s%s", out.len ? "\n" : "", s->mended);
    if (s->models_problem)
        buf_addf(&out, "%s%s", out.len ? "\n" : "", s->models_problem);
    char *text = out.len ? xstrdup(buf_cstr(&out)) : NULL;
    buf_release(&out);
    return text;
}
