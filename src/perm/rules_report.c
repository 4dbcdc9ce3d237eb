/*
 * What the rules of all files say together: which contradict each other, which never count because another comes first, which
 * add nothing, and which let through more than anybody would write on purpose.
 */
#include <stdlib.h>
#include <string.h>

#include "perm/rules_match.h"

/* With more rules than this only contradictions are looked for. */
enum { COMPARED_MAX = 1000, PAIRS_MAX = 4000000 };

/* " (FILE:LINE)" of the other rule. */
static char *
where(const struct perm_rule *r)
{
    if (!r->file || !*r->file)
        return xstrdup(r->scope == SCOPE_CLI ? " (command line)" : "");
    return xasprintf(" (%s:%d)", r->file, r->line);
}

/* ---- does everything that `a` names also fall under `b`? Said only when it is plain. ---- */

static bool
command_covers(const struct perm_rule *b, const struct perm_rule *a)
{
    /* A '*' of a is an ordinary sign here: only a '*' of b can stand for it. */
    if (!perm_rules_bash_covers(b, str_from(a->pattern)))
        return false;
    if (!a->boundary)
        return true;
    char *open = xasprintf("%s *", a->pattern);
    bool covers = perm_rules_bash_covers(b, str_from(open));
    free(open);
    return covers;
}

static bool
path_covers(const struct perm_rule *b, const struct perm_rule *a)
{
    struct str wide = str_from(b->body), path = str_from(a->body);
    if (str_eq(wide, path))
        return true;
    if (!str_ends(wide, "/**") || str_contains(path, STR("..")) || wide.len < 4)
        return false;
    wide.len -= 2; /* "src/" */
    return path.len > wide.len && memcmp(path.ptr, wide.ptr, wide.len) == 0;
}

static bool
name_covers(const struct perm_rule *b, const struct perm_rule *a)
{
    struct str server = str_from(b->tool);
    if (strchr(b->tool, '*'))
        return perm_rules_name_glob(server, str_from(a->tool));
    return strncmp(b->tool, "mcp__", 5) == 0 && str_starts(str_from(a->tool), b->tool) &&
           strncmp(a->tool + server.len, "__", 2) == 0;
}

static bool
rule_covers(const struct perm_rule *b, const struct perm_rule *a)
{
    if (a->param || b->param)
        return strcmp(a->tool, b->tool) == 0 &&
               ((b->param && a->param && !strcmp(a->body, b->body)) || !b->body);
    if (strcmp(a->tool, b->tool) != 0) {
        /* What may not be read may not be changed. */
        bool reads = a->verdict == VERDICT_ALLOW && b->verdict == VERDICT_DENY && a->body &&
                     b->body && strcmp(a->tool, "Edit") == 0 && strcmp(b->tool, "Read") == 0;
        return reads ? path_covers(b, a) : !b->body && name_covers(b, a);
    }
    if (!b->body || !a->body)
        return !b->body;
    if (a->pattern && b->pattern)
        return command_covers(b, a);
    return perm_rules_path_tool(a->tool) ? path_covers(b, a) : strcmp(a->body, b->body) == 0;
}

/* ---- pairs ---- */

/* b stands in a stronger list. */
static void
tell_stronger(struct perm_rules *rs, const struct perm_rule *a, const struct perm_rule *b)
{
    char *place = where(b);
    const char *list = rule_list_name(a->verdict), *other = rule_list_name(b->verdict);
    bool same = strcmp(a->tool, b->tool) == 0 &&
                (a->body == b->body || (a->body && b->body && strcmp(a->body, b->body) == 0));
    rules_problem(rs, a->file, a->line,
                  same ? xasprintf("%s rule '%s' contradicts %s rule '%s'%s, which comes first",
                                   list, a->text, other, b->text, place)
                       : xasprintf("%s rule '%s' never counts: %s rule '%s'%s comes first", list,
                                   a->text, other, b->text, place));
    free(place);
}

static bool
same_file(const struct perm_rule *a, const struct perm_rule *b)
{
    return a->scope == b->scope && a->claude == b->claude &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

/* Both stand in one list of one file: other files may be switched off or change on their own. */
static bool
tell_same_list(struct perm_rules *rs, size_t i, size_t k)
{
    const struct perm_rule *a = &rs->rules[i], *b = &rs->rules[k];
    if (a->verdict != b->verdict || !same_file(a, b) || rule_is_broad(b) || !rule_covers(b, a))
        return false;
    bool twice = rule_covers(a, b);
    if (twice && k > i)
        return false; /* told at the later one */
    char *place = where(b);
    rules_problem(rs, a->file, a->line,
                  xasprintf("%s rule '%s' %s: '%s'%s", rule_list_name(a->verdict), a->text,
                            twice ? "stands twice" : "adds nothing to another one", b->text,
                            place));
    free(place);
    return true;
}

static void
compare_one(struct perm_rules *rs, size_t i)
{
    const struct perm_rule *a = &rs->rules[i];
    for (size_t k = 0; a->verdict != VERDICT_DENY && k < rs->n; k++)
        if (rs->rules[k].verdict > a->verdict && rule_covers(&rs->rules[k], a)) {
            tell_stronger(rs, a, &rs->rules[k]);
            return;
        }
    for (size_t k = 0; rs->n <= COMPARED_MAX && k < rs->n; k++)
        if (k != i && tell_same_list(rs, i, k))
            return;
}

/* ---- one rule by itself ---- */

static const char *
too_broad(const struct perm_rule *r)
{
    static const char *const everything[] = {"//**", "~/**", "//", "~"};
    if (strcmp(r->tool, "Bash") == 0 && r->param)
        return NULL;
    if (strcmp(r->tool, "Bash") == 0) {
        struct str head = r->pattern ? str_trim(rule_head(r)) : (struct str){0};
        bool open = !r->body || r->boundary || strchr(r->pattern, '*');
        if (open && !head.len)
            return "it lets every command run";
        if (open && str_find(head, ' ', 0) == (size_t)-1 && rule_program_is_broad(head))
            return "that program runs whatever it is given";
    }
    if (strcmp(r->tool, "Edit") == 0 && !r->body)
        return "it lets every file of the project be changed, name the folder";
    for (size_t i = 0; strcmp(r->tool, "Edit") == 0 && r->body && i < ARRAY_LEN(everything); i++)
        if (strcmp(r->body, everything[i]) == 0)
            return "it lets files be changed that have nothing to do with the project";
    if (strcmp(r->tool, "WebFetch") == 0 && (!r->body || strcmp(r->body, "domain:*") == 0))
        return "it lets any host be asked, and told";
    return NULL;
}

static void
look_at(struct perm_rules *rs, const struct perm_rule *r)
{
    if (r->verdict != VERDICT_ALLOW)
        return;
    const char *why = too_broad(r);
    if (why)
        rules_problem(rs, r->file, r->line,
                      xasprintf("allow rule '%s' is very broad: %s", r->text, why));
    if (strcmp(r->tool, "Edit") != 0 || !r->body)
        return;
    const char *what = path_name_protected(r->body);
    if (what)
        rules_problem(rs, r->file, r->line,
                      xasprintf("allow rule '%s' does not keep it from asking: protected, %s",
                                r->text, what));
}

void
perm_rules_audit(struct perm_rules *rs)
{
    /* nobody waits for a report: of that many rules only the first are compared */
    size_t left = rs->n ? PAIRS_MAX / rs->n : 0;
    for (size_t i = 0; i < rs->n; i++) {
        bool weaker = rs->rules[i].verdict != VERDICT_DENY;
        if (!weaker || left)
            compare_one(rs, i);
        left -= weaker && left;
        look_at(rs, &rs->rules[i]);
    }
}
