/* What the rules say of one file access: a deny or ask rule that names what it takes, or what that may reach. */
#include <string.h>
#include <sys/stat.h>

#include "perm/matches.h"
#include "perm/trees.h"

const struct access_kind access_kinds[] = {
    [EFFECT_READ] = {"reads", "read", false, false},
    [EFFECT_READ_TREE] = {"reads everything below", "read tree", false, true},
    [EFFECT_WRITE] = {"writes", "write", true, false},
    [EFFECT_DELETE] = {"removes", "delete", true, true},
    [EFFECT_DELETE_TREE] = {"removes everything below", "delete tree", true, true},
    [EFFECT_EXEC] = {"runs", "run", false, false},
    [EFFECT_NET] = {"connects to", "net", false, false},
};

const char *
access_rule_tool(const struct access *a)
{
    return access_kinds[a->kind].write ? "Edit" : "Read";
}

static const struct perm_rule *
overlap(const struct chain *c, const struct rule_filter *list, const struct access *a,
        const struct path_names *n, bool tree)
{
    const struct perm_rule *r = NULL;
    for (size_t i = 0; i < n->n && !r; i++)
        r = rules_overlap_path(c->req->rules, list, access_rule_tool(a), n->v[i], tree, &c->anchor);
    return r;
}

/* Another command of the call may put something there first, so that looking now says nothing. */
static bool
others_change(const struct chain *c, const struct perm_leaf *own)
{
    for (size_t i = 0; i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        if (l == own)
            continue;
        if (l->effects_unknown)
            return true;
        for (size_t k = 0; k < l->n_effects; k++)
            if (l->effects[k].kind != EFFECT_READ && l->effects[k].kind != EFFECT_READ_TREE)
                return true;
    }
    return c->sh.incomplete || c->sh.unparsable;
}

/* By every name: nothing lies below it. */
static bool
is_plain_file(const struct path_names *n)
{
    struct stat st;
    for (size_t i = 0; i < n->n; i++)
        if (lstat(n->v[i], &st) != 0 || S_ISDIR(st.st_mode))
            return false;
    return n->n > 0 && !n->lost;
}

static const struct perm_rule *
reached(const struct chain *c, const struct rule_filter *list, const struct access *a,
        const struct path_names *n)
{
    bool all = a->kind == EFFECT_READ_TREE || a->kind == EFFECT_DELETE_TREE;
    if ((all || a->below) && a->leaf && !a->glob)
        return tree_reaches(c, a, list, access_rule_tool(a), n);
    /* its own names were judged; rm without -r leaves a folder that has something in it */
    bool rm = a->leaf && leaf_is(a->leaf, "rm") && !n->lost;
    if (a->kind == EFFECT_DELETE && !a->glob && (rm || is_plain_file(n)))
        return NULL;
    /* Folders among what a pattern matches are judged one by one. */
    bool each = all && a->leaf && !others_change(c, a->leaf);
    return overlap(c, list, a, n, a->below || (access_kinds[a->kind].tree && !each));
}

/* A deny rule names whatever may lie in the tree. */
static const struct perm_rule *
whole_denied(const struct chain *c, const struct access *a, const struct path_names *n)
{
    const struct perm_rule *r = NULL;
    for (size_t i = 0; i < n->n && a->kind == EFFECT_READ_TREE && !a->glob && !r; i++) {
        struct path_names all = {.n = 1, .v = {xasprintf("%s/\x02", n->v[i])}};
        struct path_names deep = {.n = 1, .v = {xasprintf("%s/\x02/\x02", n->v[i])}};
        const char *const *v = (const char *const *)all.v, *const *w = (const char *const *)deep.v;
        r = rules_match_path(c->req->rules, &c->deny, access_rule_tool(a), v, 1, &c->anchor);
        if (!rules_match_path(c->req->rules, &c->deny, access_rule_tool(a), w, 1, &c->anchor))
            r = NULL;
        path_names_release(&all);
        path_names_release(&deep);
    }
    return r;
}

/* What the operand itself is not, but may reach. A tool that leaves such files out itself need not ask. */
static void
judge_reach(struct chain *c, const struct access *a, const struct path_names *n)
{
    const struct perm_rule *deny = reached(c, &c->deny, a, n), *ask = reached(c, &c->ask, a, n);
    const struct perm_rule *whole = deny ? whole_denied(c, a, n) : NULL;
    if (whole) {
        chain_add(c, "rules", VERDICT_DENY, FORCE_HARD, whole, a->shown,
                  "a deny rule names all that lies below '%s'", n->v[0]);
        return;
    }
    if (!a->filters) {
        if (deny || ask)
            chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, deny ? deny : ask, a->shown,
                      "it %s '%s', which can reach what the rule names", access_kinds[a->kind].verb,
                      a->shown);
        return;
    }
    if (deny)
        chain_add(c, "rules", VERDICT_NONE, FORCE_PLAIN, deny, a->shown,
                  "what the rule names is left out of the search");
    if (ask)
        chain_add(c, "rules", VERDICT_NONE, FORCE_PLAIN, ask, a->shown,
                  "what the rule names is left out, unless a person says yes to this call");
}

bool
access_rules(struct chain *c, const struct access *a, const struct path_names *n)
{
    const struct perm_rules *rs = c->req->rules;
    const char *const *v = (const char *const *)n->v;
    const struct perm_rule *r =
        rules_match_path(rs, &c->deny, access_rule_tool(a), v, n->n, &c->anchor);
    if (!r && a->cd)
        r = rules_match_path(rs, &c->deny, "Cd", v, n->n, &c->anchor);
    if (!r)
        r = path_other_name_rule(c, &c->deny, access_rule_tool(a), n);
    if (!r && a->kind == EFFECT_DELETE_TREE && a->leaf && !a->glob && !a->by_name)
        r = trees_whole_rule(c, "Edit", n); /* what lies in it is what the rule is about */
    if (!r && !a->leaf && strcmp(c->req->tool, "Glob") == 0)
        r = trees_whole_rule(c, "Read", n); /* it lists what lies there */
    if (r) {
        chain_add(c, "rules", VERDICT_DENY, FORCE_HARD, r, a->shown, "a deny rule names '%s'",
                  n->v[0]);
        return false;
    }
    r = rules_match_path(rs, &c->ask, access_rule_tool(a), v, n->n, &c->anchor);
    if (!r && a->cd)
        r = rules_match_path(rs, &c->ask, "Cd", v, n->n, &c->anchor);
    if (!r)
        r = path_other_name_rule(c, &c->ask, access_rule_tool(a), n);
    if (r)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, r, a->shown, "an ask rule names '%s'",
                  n->v[0]);
    if (a->glob || a->below || access_kinds[a->kind].tree)
        judge_reach(c, a, n);
    return true;
}
