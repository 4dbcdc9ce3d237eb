/*
 * Deny and ask rules against words that may hold a command (hidden.c): cut at blanks, quotes and operators, does one of them begin
 * what the rule names?
 */
#include <stdlib.h>
#include <string.h>

#include "perm/looks.h"
#include "perm/rules_match.h"
#include "perm/shell.h"

enum { HIDDEN_MAX = 1000, TEXT_MAX = 1 << 20 };

static bool
parts(char c)
{
    return c == '\0' || strchr(" \t\n'\"`;|&(){}[]<>$!=,:#\\", c);
}

static void
cut(struct str s, struct leaf_texts *t, size_t *cap)
{
    for (size_t i = 0; i < s.len && t->n_hidden < HIDDEN_MAX;) {
        size_t from = i;
        while (i < s.len && !parts(s.ptr[i]))
            i++;
        if (i > from) {
            ARRAY_GROW(t->hidden, t->n_hidden, *cap);
            t->hidden[t->n_hidden++] =
                (struct perm_word){.text = str_sub(s, from, i - from), .known = true};
        }
        while (i < s.len && parts(s.ptr[i]))
            i++;
    }
}

/* Variables whose value is a command line or a program that others run. */
static bool
names_command(struct str name)
{
    static const char *const ends[] = {
        "PAGER",     "EDITOR",   "_COMMAND",  "_CMD",     "BROWSER", "VISUAL", "SHELL",
        "_WRAPPER",  "LESSOPEN", "LESSCLOSE", "PS0",      "PS1",     "PS2",    "PS4",
        "ASKPASS",   "_DIFF",    "_LINKER",   "_PROGRAM", "CC",      "CXX",    "CPP",
        "MAKEFLAGS", "_SSH",     "_RSH",      "_EXEC",    "TERMINAL"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends(name, ends[i]))
            return true;
    return false;
}

/* "export EDITOR=...": the value; a null string where it is none. */
static struct str
declared(struct str s)
{
    size_t eq = str_find(s, '=', 0);
    return eq != (size_t)-1 && names_command(str_sub(s, 0, eq)) ? str_sub(s, eq + 1, s.len)
                                                                : (struct str){0};
}

static bool
declares(const struct perm_leaf *l)
{
    static const char *const builtins[] = {"export", "declare", "typeset", "readonly"};
    for (size_t i = 0; l->n_argv > 1 && i < ARRAY_LEN(builtins); i++)
        if (str_is(l->argv[0].text, builtins[i]))
            return true;
    return false;
}

static bool
sets_command(const struct perm_leaf *l)
{
    for (size_t i = 0; i < l->n_assigns; i++)
        if (names_command(l->assigns[i].name))
            return true;
    return declares(l);
}

void
hidden_init(struct leaf_texts *t, const struct perm_leaf *leaf)
{
    bool sets = sets_command(leaf);
    size_t cap = 0;
    for (size_t i = 0; i < leaf->n_hidden; i++) {
        struct str s = leaf->hidden[i].text;
        cut(s, t, &cap);
        if (s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-') /* "-Pless", "-H'firefox x'" */
            cut(str_sub(s, 2, s.len), t, &cap);
    }
    for (size_t i = 0; sets && i < leaf->n_assigns; i++)
        if (names_command(leaf->assigns[i].name))
            cut(leaf->assigns[i].value.text, t, &cap);
    for (size_t i = 1; sets && declares(leaf) && i < leaf->n_argv; i++)
        cut(declared(leaf->argv[i].text), t, &cap);
}

/* The program that the rule names, without its folder; empty: it may be any. */
static struct str
rule_program(const struct perm_rule *r)
{
    struct str p = rule_without_folder(str_from(r->pattern));
    size_t blank = str_find(p, ' ', 0);
    if (blank != (size_t)-1)
        p = str_sub(p, 0, blank);
    return memchr(p.ptr, '*', p.len) ? str_from(NULL) : p;
}

bool
rule_match_hidden(const struct perm_rule *r, const struct leaf_texts *t, bool fold)
{
    struct str program = rule_program(r);
    bool trusted, found = false;
    if (program.len && t->n_hidden && !may_look(1 + t->n_hidden / 2))
        return true;
    for (size_t i = 0; program.len && i < t->n_hidden && !found; i++) {
        struct str name = program_name(t->hidden[i].text, &trusted);
        if (!str_eq(name, program) &&
            !(fold && name.len == program.len && strncasecmp(name.ptr, program.ptr, name.len) == 0))
            continue;
        struct perm_leaf leaf = {.argv = t->hidden + i,
                                 .n_argv = t->n_hidden - i,
                                 .argv_known = true,
                                 .name_known = true};
        struct perm_rule open = *r;
        struct buf text;
        buf_init(&text, TEXT_MAX);
        perm_leaf_text(&leaf, true, &text);
        (void)may_look(LOOK_RULE + text.len / 8);
        open.boundary = true; /* where it ends in there is not known */
        found = perm_rules_bash_covers(&open, buf_str(&text)) ||
                rule_match_subcommand(str_from(r->pattern), true, &leaf, fold) != MATCH_NONE;
        buf_release(&text);
    }
    return found;
}
