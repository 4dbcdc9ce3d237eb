/* Deny rules of the chain as places: what Read and Edit may not touch, a command should not either. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/rules_match.h"
#include "perm/sandbox_parts.h"

/* "dir/", "dir/ *" and "dir/ **" (without the blank) all name what lies in dir. */
static char *
without_tail(const char *body)
{
    size_t n = strlen(body);
    if (n > 3 && strcmp(body + n - 3, "/**") == 0)
        n -= 3;
    else if (n > 1 && body[n - 1] == '/')
        n--;
    return str_dup(str_make(body, n));
}

/* The place of a rule without wildcards, as rules_path.c anchors it; yours. NULL: it names many. */
static char *
place_of(const struct perm_rule *r, const struct perm_anchor *an)
{
    char *body = without_tail(r->body), *at = NULL;
    const char *s = body;
    if (strpbrk(s, "*?[{\\"))
        goto out;
    if (s[0] == '/' && s[1] == '/')
        at = fs_normalize("/", s + 1);
    else if (s[0] == '~' && (s[1] == '/' || !s[1]))
        at = fs_normalize(an->home, s[1] ? s + 2 : ".");
    else if (s[0] == '/')
        at = fs_normalize(r->claude && r->scope == SCOPE_USER && an->config_home ? an->config_home
                                                                                 : an->root,
                          s + 1);
    else if (strchr(r->body, '/') && (strchr(s, '/') || s[0] == '.'))
        at = fs_normalize(an->cwd, s);
out:
    free(body);
    return at;
}

void
sandbox_deny_rules(struct sandbox_plan *p, const struct perm_rules *rules,
                   const struct perm_anchor *an, bool *ret_walk)
{
    *ret_walk = false;
    for (size_t i = 0; rules && i < rules->n; i++) {
        const struct perm_rule *r = &rules->rules[i];
        const char *tool = perm_rules_path_tool(r->tool);
        if (r->verdict != VERDICT_DENY || !r->body || !tool || !strcmp(tool, "Cd"))
            continue;
        char *at = place_of(r, an), *real = at ? paths_real(at) : NULL;
        bool read = strcmp(tool, "Read") == 0;
        if (real && strcmp(real, "/") != 0)
            paths_add(read ? &p->unreadable : &p->read_only, real);
        else
            *ret_walk = true; /* many, or not there yet */
        free(at);
        free(real);
    }
}
