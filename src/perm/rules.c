#include "perm/rules.h"

#include <stdlib.h>
#include <string.h>

#include "perm/rules_match.h"

enum { PROBLEMS_MAX = 500 };

void
perm_rules_init(struct perm_rules *rs)
{
    *rs = (struct perm_rules){0};
}

void
rule_release(struct perm_rule *r)
{
    free(r->text);
    free(r->tool);
    free(r->body);
    free(r->pattern);
    free(r->file);
}

void
perm_rules_release(struct perm_rules *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        rule_release(&rs->rules[i]);
    for (size_t i = 0; i < rs->n_problems; i++) {
        free(rs->problems[i].file);
        free(rs->problems[i].text);
    }
    free(rs->rules);
    free(rs->problems);
    free(rs->broken);
    perm_rules_init(rs);
}

static void
add_problem(struct perm_rules *rs, const char *file, int line, bool unread, char *take_text)
{
    if (rs->n_problems >= PROBLEMS_MAX) {
        free(take_text);
        return;
    }
    ARRAY_GROW(rs->problems, rs->n_problems, rs->cap_problems);
    rs->problems[rs->n_problems++] = (struct config_problem){
        .file = xstrdup(file), .line = line, .text = take_text, .broken = unread};
}

void
rules_problem(struct perm_rules *rs, const char *file, int line, char *take_text)
{
    add_problem(rs, file, line, false, take_text);
}

void
rules_unread(struct perm_rules *rs, const char *file, int line, enum verdict list, char *take_text)
{
    add_problem(rs, file, line, list != VERDICT_ALLOW, take_text);
}

/* What is past the cap does not count. That a deny rule is among it must not let its command through: every call asks. */
static void
tell_too_many(struct perm_rules *rs, enum verdict list, const struct config_item *last, size_t n)
{
    const struct config_source *from = last->source;
    const char *file = from && from->file && *from->file ? from->file : "settings";
    rules_unread(rs, file, last->line, list,
                 xasprintf("there are %zu %s rules, and %d is the most: the others %s", n,
                           rule_list_name(list), RULES_MAX,
                           list == VERDICT_ALLOW
                               ? "grant nothing"
                               : "ARE NOT IN FORCE, and until some are taken out every call asks"));
    if (list != VERDICT_ALLOW && !rs->broken)
        rs->broken = xasprintf("all that %s holds (more than %d rules)", file, RULES_MAX);
}

static void
load_list(struct perm_rules *rs, const struct config *c, enum verdict list, const char *path)
{
    size_t all = config_list(c, path, false, NULL, 0), n = all < RULES_MAX ? all : RULES_MAX;
    struct config_item *items = xcalloc(n + 1, sizeof *items);
    size_t have = config_list(c, path, false, items, n);
    size_t i = 0;
    for (; i < have && i < n && rs->n < RULES_MAX; i++) {
        char *text = str_dup(items[i].value);
        const struct config_source *from = items[i].source;
        const char *file = from && from->file && *from->file ? from->file : NULL;
        perm_rules_add(rs, list, text, from ? from->scope : SCOPE_CLI, from && from->claude, file,
                       items[i].line);
        free(text);
    }
    if (i < all)
        tell_too_many(rs, list, &items[i ? i - 1 : 0], all);
    free(items);
}

void
perm_rules_load(struct perm_rules *rs, const struct config *c)
{
    const struct config_problem *broken = config_broken(c);
    free(rs->broken);
    rs->broken = broken ? xasprintf("%s:%d", broken->file, broken->line) : NULL;
    load_list(rs, c, VERDICT_DENY, "permissions.deny");
    load_list(rs, c, VERDICT_ASK, "permissions.ask");
    load_list(rs, c, VERDICT_ALLOW, "permissions.allow");
    perm_rules_audit(rs);
}
