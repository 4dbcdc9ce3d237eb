/* `yare perm explain COMMAND`: what the settings at hand make of a command, for people. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "perm/chain.h"
#include "perm/check.h"
#include "perm/sandbox.h"

static const char *
layer_what(const char *id)
{
    size_t n;
    const struct perm_layer *layers = perm_chain_layers(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(layers[i].id, id) == 0)
            return layers[i].what;
    return "";
}

/* Nothing of a command or a rule reaches a terminal as it is. */
static void
print_visible(FILE *out, const char *text)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    text_visible(&b, str_from(text));
    fputs(buf_cstr(&b), out);
    buf_release(&b);
}

static void
print_finding(FILE *out, const struct finding *f)
{
    const char *colon = strchr(layer_what(f->layer), ':');
    int n = colon ? (int)(colon - layer_what(f->layer)) : 0;
    fprintf(out, "  %-5s %-5s ", f->verdict == VERDICT_NONE ? "note" : verdict_name(f->verdict),
            f->layer);
    if (n && strcmp(f->layer, "rules") != 0)
        fprintf(out, "(%.*s) ", n, layer_what(f->layer));
    print_visible(out, f->reason);
    fputc('\n', out);
    if (f->rule) {
        fputs("              rule ", out);
        print_visible(out, f->rule);
        if (f->file && f->line)
            fprintf(out, "  %s:%d", f->file, f->line);
        else if (f->file)
            fprintf(out, "  %s", f->file);
        fputc('\n', out);
    }
}

static void
print_decision(FILE *out, const struct decision *d, enum perm_mode mode)
{
    fprintf(out, "%s", verdict_name(d->verdict));
    if (d->verdict == VERDICT_ASK && d->liftable_by == LIFT_PERSON)
        fputs(" (only a person can allow it)", out);
    fprintf(out, ", in %s mode\n", perm_mode_shown(mode));
    for (size_t i = 0; i < d->n_findings; i++)
        print_finding(out, &d->findings[i]);
}

static void
print_effects(FILE *out, const struct decision *d)
{
    if (d->n_effects)
        fputs("\nwhat it does, as far as that is known before it runs:\n", out);
    for (size_t i = 0; i < d->n_effects; i++) {
        const struct decision_effect *e = &d->effects[i];
        fprintf(out, "  %-11s ", e->kind);
        print_visible(out, e->path ? e->path : "(not known)");
        if (e->leads) {
            fputs(" -> ", out);
            print_visible(out, e->leads);
        }
        fputc('\n', out);
    }
    if (d->effects_more)
        fprintf(out, "  and %zu more\n", d->effects_more);
}

static void
print_problems(FILE *out, const char *title, const struct config_problem *list, size_t n)
{
    if (n)
        fprintf(out, "\n%s:\n", title);
    for (size_t i = 0; i < n; i++) {
        fputs("  ", out);
        if (list[i].file)
            fprintf(out, "%s:%d: ", list[i].file, list[i].line);
        print_visible(out, list[i].text);
        fputc('\n', out);
    }
}

static enum perm_mode
configured_mode(const struct config *config, bool trusted, enum scope *ret_scope)
{
    enum perm_mode mode = PERM_DEFAULT;
    const char *name = config_str(config, "permissions.defaultMode", !trusted, NULL);
    const struct config_source *from = config_origin(config, "permissions.defaultMode", !trusted);
    bool repo = from && (from->scope == SCOPE_PROJECT || from->scope == SCOPE_LOCAL);
    *ret_scope = from ? from->scope : SCOPE_USER;
    if (name && repo && (strcmp(name, "auto") == 0 || strcmp(name, "bypassPermissions") == 0))
        return PERM_DEFAULT; /* a project cannot set these */
    if (!name || !perm_mode_parse(name, &mode))
        return PERM_DEFAULT;
    return mode;
}

static void
print_suggestions(FILE *out, const struct perm_request *req)
{
    char *rules[5];
    const char *why = NULL;
    size_t n = perm_chain_suggest(req, rules, &why);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "\n\"always\" would save: ", out);
        print_visible(out, rules[i]);
        free(rules[i]);
    }
    if (n)
        fputc('\n', out);
    else if (why)
        fprintf(out, "\nno rule to save: %s\n", why);
}

/* Further folders of the settings. The strings are yours. */
static size_t
configured_dirs(const struct config *config, bool trusted, const char **dirs, size_t max)
{
    struct config_item items[64];
    size_t n =
        config_list(config, "permissions.additionalDirectories", !trusted, items, ARRAY_LEN(items));
    if (n > ARRAY_LEN(items))
        n = ARRAY_LEN(items);
    for (size_t i = 0; i < n && i < max; i++)
        dirs[i] = str_dup(items[i].value);
    return n < max ? n : max;
}

static struct cJSON *
bash_input(const char *command, struct err *err)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "command", command);
    jw_end(&w);
    struct cJSON *input = json_parse(buf_str(&b), err);
    buf_release(&b);
    return input;
}

/* Would this machine's sandbox, with these settings, answer for a command inside? */
static bool
sandbox_would_prove(const struct perm_request *req, const struct config *config)
{
    struct err err = {0};
    char *why = NULL;
    enum sandbox_kind kind = sandbox_choose(SANDBOX_WANT_AUTO, sandbox_probe(), &why);
    const struct sandbox_place at = {.root = req->root,
                                     .cwd = req->cwd,
                                     .home = req->home,
                                     .config_dir = req->config_dir,
                                     .data_dir = req->data_dir,
                                     .additional_dirs = req->additional_dirs,
                                     .n_additional_dirs = req->n_additional_dirs,
                                     .trusted = req->trusted};
    struct sandbox_plan *plan =
        kind == SANDBOX_NONE ? NULL : sandbox_plan_new(kind, &at, config, req->rules, &err);
    bool proves = plan && sandbox_plan_proves(plan);
    if (plan)
        sandbox_plan_free(plan);
    free(why);
    return proves;
}

/* As a session of this folder would have it, without --sandbox and /sandbox. */
static void
add_sandbox(struct perm_request *req, const struct config *config)
{
    if (!sandbox_flag(config, req->trusted, "enabled", true, false))
        return;
    req->sandbox_auto_allow =
        sandbox_flag(config, req->trusted, "autoAllowBashIfSandboxed", false, true);
    req->sandbox_available = sandbox_would_prove(req, config);
    req->sandbox_unsandboxed = sandbox_excludes(config, req);
}

int
perm_explain_run(const char *command, const struct config *config, bool trusted, const char *cwd,
                 const char *root, FILE *out)
{
    const char *dirs[64];
    struct perm_rules rules;
    struct decision d;
    struct err err;
    const struct config_problem *problems;
    struct cJSON *input = bash_input(command, &err);

    if (!input) {
        fprintf(out, "deny: the command cannot be read: %s\n", err.text);
        return 1;
    }
    perm_rules_init(&rules);
    perm_rules_load(&rules, config);
    char *config_home = config_dir(), *data = config_data_dir();
    struct perm_request req = {.tool = "Bash",
                               .input = input,
                               .rules = &rules,
                               .root = root,
                               .cwd = cwd,
                               .home = fs_home(),
                               .config_dir = config_home,
                               .data_dir = data,
                               .trusted = trusted,
                               .interactive = true,
                               .case_insensitive = -1,
                               .tool_known = true,
                               .additional_dirs = dirs};
    req.n_additional_dirs = configured_dirs(config, trusted, dirs, ARRAY_LEN(dirs));
    req.mode = configured_mode(config, trusted, &req.mode_scope);
    add_sandbox(&req, config);
    perm_chain_check(&req, &d);
    print_decision(out, &d, req.mode);
    print_effects(out, &d);
    if (d.verdict == VERDICT_ASK)
        print_suggestions(out, &req);
    size_t n_problems = config_problems(config, &problems);
    print_problems(out, "problems with settings", problems, n_problems);
    print_problems(out, "problems with rules", rules.problems, rules.n_problems);
    decision_release(&d);
    perm_rules_release(&rules);
    for (size_t i = 0; i < req.n_additional_dirs; i++)
        free((char *)dirs[i]);
    free(config_home);
    free(data);
    json_free(input);
    return 0;
}
