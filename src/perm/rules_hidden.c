/*
 * Deny and ask rules against words that may hold a command (hidden.c): cut at blanks, quotes and operators, does one of them begin
 * what the rule names?
 */
#include <stdlib.h>
#include <string.h>

#include "perm/rules_match.h"
#include "perm/shell.h"

enum { HIDDEN_MAX = 1000, TEXT_MAX = 1 << 20 };

static bool
parts(char c)
{
    return c == '\0' || strchr(" \t\n'\"`;|&(){}[]<>$!=,:#\\", c);
}

static void
cut(struct str s, struct perm_word *v, size_t *n)
{
    for (size_t i = 0; i < s.len && *n < HIDDEN_MAX;) {
        size_t from = i;
        while (i < s.len && !parts(s.ptr[i]))
            i++;
        if (i > from)
            v[(*n)++] = (struct perm_word){.text = str_sub(s, from, i - from), .known = true};
        while (i < s.len && parts(s.ptr[i]))
            i++;
    }
}

void
hidden_init(struct leaf_texts *t, const struct perm_leaf *leaf)
{
    if (!leaf->n_hidden)
        return;
    t->hidden = xcalloc(HIDDEN_MAX, sizeof *t->hidden);
    for (size_t i = 0; i < leaf->n_hidden; i++)
        cut(leaf->hidden[i].text, t->hidden, &t->n_hidden);
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
        open.boundary = true; /* where it ends in there is not known */
        found = perm_rules_bash_covers(&open, buf_str(&text)) ||
                rule_match_subcommand(str_from(r->pattern), true, &leaf, fold) != MATCH_NONE;
        buf_release(&text);
    }
    return found;
}
