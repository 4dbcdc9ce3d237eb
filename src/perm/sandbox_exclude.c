/* What the settings say of who runs inside: for the engine's calls and for `yare perm explain` alike. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "perm/chain.h"
#include "perm/sandbox.h"

enum { EXCLUDED_MAX = 256 };

bool
sandbox_flag(const struct config *cfg, bool trusted, const char *name, bool tighter, bool fallback)
{
    char *path = xasprintf("sandbox.%s", name);
    const struct config_source *src;
    size_t n = config_sources(cfg, &src);
    bool value = config_bool(cfg, path, !trusted, fallback);
    for (size_t i = 0; i < n && !trusted; i++)
        if ((src[i].scope == SCOPE_PROJECT || src[i].scope == SCOPE_LOCAL) &&
            json_bool(config_value(cfg, i, "sandbox"), name, !tighter) == tighter)
            value = tighter;
    free(path);
    return value;
}

static void
load_excluded(const struct config_item *items, size_t n, struct perm_rules *rules)
{
    for (size_t i = 0; i < n; i++) {
        char *name = str_dup(items[i].value);
        char *text = xasprintf(strpbrk(name, "*:") ? "Bash(%s)" : "Bash(%s:*)", name);
        perm_rules_add(rules, VERDICT_ALLOW, text, SCOPE_CLI, false, NULL, 0);
        free(text);
        free(name);
    }
}

bool
sandbox_excludes(const struct config *cfg, const struct perm_request *of)
{
    struct config_item items[EXCLUDED_MAX];
    struct perm_rules rules;
    struct perm_request req = *of;
    struct decision d;
    size_t n = config_list(cfg, "sandbox.excludedCommands", !of->trusted, items, EXCLUDED_MAX);
    if (!n)
        return false;
    perm_rules_init(&rules);
    load_excluded(items, n < EXCLUDED_MAX ? n : EXCLUDED_MAX, &rules);
    req.rules = &rules;
    req.mode = PERM_DEFAULT;
    req.sandbox_auto_allow = false;
    perm_chain_check(&req, &d);
    bool named = false;
    for (size_t i = 0; i < d.n_findings; i++)
        named |= d.findings[i].verdict == VERDICT_ALLOW && d.findings[i].rule;
    bool excluded = named && d.verdict == VERDICT_ALLOW;
    decision_release(&d);
    perm_rules_release(&rules);
    return excluded;
}
