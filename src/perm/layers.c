/* Layers 2 to 5 over the leaves of a shell command. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "perm/chain_ctx.h"

/* What a finding calls a leaf: its words as they were understood. */
static const char *
leaf_part(const struct chain *c, size_t i)
{
    const char *text = buf_cstr(&c->texts[i].plain);
    if (!*text)
        text = buf_cstr(&c->texts[i].with_env);
    if (strcmp(text, "\"$stdin\"") == 0) /* the parser's name for it (builtins.c, hidden.c) */
        return "what is piped in";
    return *text ? text : NULL;
}

/* ---- rules ---- */

static void
leaf_rules(struct chain *c, size_t i)
{
    const struct perm_rules *rs = c->req->rules;
    const struct perm_leaf *l = &c->sh.leaves[i];
    struct leaf_match m = rules_match_leaf(rs, &c->deny, &c->texts[i], l);
    const char *part = leaf_part(c, i);
    if (m.how > MATCH_MAY)
        chain_add(c, "rules", VERDICT_DENY, FORCE_HARD, m.rule, part, "a deny rule matches '%s'",
                  part);
    else if (m.how == MATCH_MAY)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, m.rule, part,
                  "'%s' is not fully known before it runs and may become what a deny rule names",
                  part);
    m = rules_match_leaf(rs, &c->ask, &c->texts[i], l);
    if (m.how > MATCH_MAY)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, m.rule, part,
                  m.rule->broken ? "a rule that cannot be read may be about '%s'"
                                 : "an ask rule matches '%s'",
                  part);
    else if (m.how == MATCH_MAY)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, m.rule, part,
                  "'%s' is not fully known before it runs and may become what an ask rule names",
                  part);
}

static void
raw_rules(struct chain *c, struct str command)
{
    const struct perm_rules *rs = c->req->rules;
    const struct perm_rule *r = rules_match_raw(rs, &c->deny, command);
    if (r) {
        chain_add(c, "rules", VERDICT_DENY, FORCE_HARD, r, NULL,
                  "the command cannot be analysed and holds the words of a deny rule");
        return;
    }
    r = rules_match_raw(rs, &c->ask, command);
    if (r)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, r, NULL,
                  "the command cannot be analysed and holds the words of an ask rule");
    if (rules_any(rs, &c->deny, "Bash") || rules_any(rs, &c->ask, "Bash") || c->denies_read ||
        c->denies_edit)
        chain_add(
            c, "rules", VERDICT_ASK, FORCE_HARD, NULL, NULL,
            "there are deny or ask rules, and whether they speak of this command cannot be told");
}

void
layer_rules(struct chain *c)
{
    if (!c->has_sh)
        return;
    for (size_t i = 0; i < c->sh.n_leaves; i++)
        leaf_rules(c, i);
    if (c->sh.incomplete || c->sh.unparsable)
        raw_rules(c, c->command);
}

/* ---- L2: the shell's tree ---- */

/* Words of what no mode lets through: where they stand in a text that nobody can read, a person looks at it. */
static bool
raw_is_grave(struct str s)
{
    static const char *const words[] = {"rm",   "rmdir",  "unlink", "shred", "dd",
                                        "mkfs", "wipefs", "delete", "yare",  "claude"};
    for (size_t i = 0; i < s.len;) {
        size_t n = 0;
        while (i + n < s.len && (isalnum((unsigned char)s.ptr[i + n]) || s.ptr[i + n] == '_'))
            n++;
        struct str word = str_sub(s, i, n);
        for (size_t k = 0; n && k < ARRAY_LEN(words); k++)
            if (str_is(word, words[k]))
                return true;
        i += n ? n : 1;
    }
    return false;
}

static void
leaf_uncovered(struct chain *c, size_t i)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    const struct cover *v = &c->covers[i];
    const char *why = v->why;
    if (!why && l->cls == CLASS_GIT_READ && !c->trusted)
        why = "git reads the repository's settings, which can run programs, and this folder is not "
              "trusted";
    if (!why && l->cls == CLASS_GIT_READ)
        why = "it works in another repository, or in one whose settings or hooks run programs";
    if (!why && c->mode == PERM_PLAN)
        why = "plan mode: it may change something";
    if (!why)
        why = l->unknown_why ? l->unknown_why : "no rule allows it";
    chain_add(c, l->raises_power || l->role == LEAF_WRAPPER ? "L3" : "L2", VERDICT_ASK, FORCE_PLAIN,
              NULL, leaf_part(c, i), "'%s': %s", leaf_part(c, i) ? leaf_part(c, i) : "", why);
}

static void
leaf_covered(struct chain *c, size_t i)
{
    const struct cover *v = &c->covers[i];
    const char *part = leaf_part(c, i);
    if (v->rule.how != MATCH_NONE)
        chain_add(c, "rules", VERDICT_ALLOW, FORCE_PLAIN, v->rule.rule, part,
                  "an allow rule covers '%s'", part ? part : "it");
    else if (v->free)
        chain_add(c, "L2", VERDICT_ALLOW, FORCE_PLAIN, NULL, part, "'%s' only reads",
                  part ? part : "it");
    else if (v->editor && c->mode != PERM_ACCEPT_EDITS)
        chain_add(c, "rules", VERDICT_ALLOW, FORCE_PLAIN, NULL, part,
                  "rules for Edit cover all that '%s' writes", part ? part : "it");
    else if (v->editor)
        chain_add(c, "mode", VERDICT_ALLOW, FORCE_PLAIN, NULL, part,
                  "accept edits mode covers '%s'", part ? part : "it");
}

void
layer_shell(struct chain *c)
{
    if (!c->has_sh)
        return;
    if (c->sh.unparsable || c->sh.incomplete)
        chain_add(c, "L2", VERDICT_ASK, raw_is_grave(c->command) ? FORCE_HARD : FORCE_PLAIN, NULL,
                  NULL, "the command cannot be fully understood: %s",
                  c->sh.why ? c->sh.why : "it is no plain bash");
    for (size_t i = 0; i < c->sh.n_leaves; i++) {
        const struct cover *v = &c->covers[i];
        if (v->rule.how != MATCH_NONE || v->free || v->editor)
            leaf_covered(c, i);
        else if (!v->carried)
            leaf_uncovered(c, i);
        else
            chain_add(c, c->sh.leaves[i].role == LEAF_RUN ? "L2" : "L3", VERDICT_ALLOW, FORCE_PLAIN,
                      NULL, leaf_part(c, i), "'%s' is judged by what it runs",
                      leaf_part(c, i) ? leaf_part(c, i) : "it");
    }
}

/* ---- L3: wrappers ---- */

void
layer_wrappers(struct chain *c)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        if (l->role == LEAF_INNER && l->wrapper < i)
            chain_add(c, "L3", VERDICT_NONE, FORCE_PLAIN, NULL, leaf_part(c, i),
                      "'%s' is run by '%s'", leaf_part(c, i) ? leaf_part(c, i) : "",
                      leaf_part(c, l->wrapper) ? leaf_part(c, l->wrapper) : "");
        else if (l->raises_power)
            chain_add(c, "L3", VERDICT_NONE, FORCE_PLAIN, NULL, leaf_part(c, i),
                      "'%s' runs with more power or somewhere else", leaf_part(c, i));
    }
}

/* ---- L4: environment ---- */

/* A rule names its assignments, or spells out the whole command that holds it: "env A=x PROGRAM", "bash -c 'A=x PROGRAM'". A rule
 * for the very words behind an assignment says nothing of it. */
static bool
env_is_named(const struct chain *c, size_t i)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    size_t spelled = l->wrapper < i ? l->wrapper : i;
    return c->covers[i].env_named ||
           ((spelled < i || !l->n_assigns) && c->covers[spelled].rule.how == MATCH_EXACT);
}

void
layer_env(struct chain *c)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        if (l->bad_env && !env_is_named(c, i))
            chain_add(c, "L4", VERDICT_ASK, FORCE_PLAIN, NULL, leaf_part(c, i),
                      "it sets %s, which can change what runs",
                      l->bad_env_name ? l->bad_env_name : "a variable");
    }
}

/* ---- L5: paths ---- */

bool
leaf_is_any(const struct perm_leaf *leaf, const char *const *programs, size_t n)
{
    if (!leaf->n_argv || !leaf->argv[0].known)
        return false;
    struct str name = leaf->argv[0].text;
    size_t from = name.len;
    while (from > 0 && name.ptr[from - 1] != '/')
        from--;
    name = str_sub(name, from, name.len);
    for (size_t i = 0; i < n && name.len; i++)
        if (programs[i][0] == name.ptr[0] && str_is(name, programs[i]))
            return true;
    return false;
}

/* Another yare would have a mode and rules of its own, and its sub-commands change settings. */
static void
leaf_is_yare(struct chain *c, size_t i)
{
    if (leaf_is(&c->sh.leaves[i], "yare") && c->covers[i].rule.how != MATCH_EXACT)
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, leaf_part(c, i),
                  "'%s' starts yare again or changes its settings", leaf_part(c, i));
}

/* Could the pattern name one of yare's own files, or everything? */
static bool
names_own(struct str pattern)
{
    static const char *const own[] = {
        "settings.json", "settings.local.json",
        ".yare",         ".claude",
        "trust.json",    ".mcp.json",
        "hooks",         "agents",
        "commands",      "skills",
        "rules",         "a.md",
        ".git",          "x",
    };
    char *p = str_dup(pattern);
    bool match = pattern.len == 0, wild = strpbrk(p, "*?[") != NULL;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        match = match || ((wild || (strcmp(own[i], "x") != 0 && strcmp(own[i], "a.md") != 0)) &&
                          fnmatch(p, own[i], FNM_CASEFOLD) == 0);
    free(p);
    return match;
}

/* find with a test of names, joined to nothing else by -o or !, removes what they match, not the folder it starts from. */
bool
leaf_finds_by_name(const struct perm_leaf *l)
{
    bool named = false;
    if (!leaf_is(l, "find"))
        return false;
    for (size_t i = 1; i < l->n_argv; i++) {
        const struct perm_word *w = &l->argv[i];
        if (!w->known || str_is(w->text, "-o") || str_is(w->text, "-or") || str_is(w->text, "!") ||
            str_is(w->text, "-not") || str_is(w->text, ","))
            return false;
        bool test = str_is(w->text, "-name") || str_is(w->text, "-iname");
        if (test && i + 1 < l->n_argv && l->argv[i + 1].known && !names_own(l->argv[i + 1].text))
            named = true;
        if (str_is(w->text, "-delete") && !named)
            return false; /* it comes first: nothing is tested */
    }
    return named;
}

void
layer_paths(struct chain *c)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        bool cd = leaf_is(l, "cd") || leaf_is(l, "pushd");
        leaf_is_yare(c, i);
        judge_operands(c, l);
        for (size_t k = 0; k < l->n_effects; k++) {
            const struct perm_effect *e = &l->effects[k];
            struct access a = {.kind = e->kind,
                               .path = e->path,
                               .shown = e->shown,
                               .glob = e->glob,
                               .redirect = e->redirect,
                               .cover = &c->covers[i],
                               .leaf = l,
                               .cwd = l->cwd,
                               .cd = cd && !e->redirect,
                               .itself = e->itself,
                               .below = e->below,
                               .span = e->span,
                               .only = e->only,
                               .by_name = e->kind == EFFECT_DELETE_TREE && leaf_finds_by_name(l)};
            if (e->kind == EFFECT_NET && !(e->shown && *e->shown)) /* to a host that is not known */
                a.shown = leaf_part(c, i);
            size_t how[] = {i,         e->kind,  e->glob, e->redirect,
                            e->itself, e->below, e->span, e->path != NULL};
            const char *what = e->path ? e->path : e->shown ? e->shown : "";
            if (!chain_seen_parts(c, 'e', how, ARRAY_LEN(how), what, ""))
                judge_access(c, &a);
        }
    }
}
