/*
 * The body of a Bash rule. What no single command's words can hold (operators, redirections, variables) is told; in a deny or ask
 * rule its commands ask until it is mended.
 */
#include "perm/rules_reading.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What no single command's words can hold, or NULL. */
static const char *
never_a_word(struct str s)
{
    char quote = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\\' && quote != '\'')
            i++;
        else if (c == quote)
            quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        else if (!quote && strchr(";|&", c))
            return "rules are matched against one command at a time, write one for each";
        else if (!quote && strchr("<>", c))
            return "redirections are judged by Edit and Read rules, leave them out";
        else if (quote != '\'' && (c == '`' || (c == '$' && i + 1 < s.len &&
                                                (isalnum((unsigned char)s.ptr[i + 1]) ||
                                                 strchr("({_", s.ptr[i + 1])))))
            return "variables and substitutions have their values when rules are matched";
    }
    return NULL;
}

/* Takes nothing; "npm test 2" of "npm test 2>&1" is "npm test". */
static void
ask_for_part(struct reading *x, struct str part, char end)
{
    struct perm_rule r = {
        .verdict = VERDICT_ASK, .scope = x->r->scope, .claude = x->r->claude, .line = x->r->line};
    while (end == '>' && part.len && isdigit((unsigned char)part.ptr[part.len - 1]))
        part.len--;
    part = str_trim(part);
    if (part.len && !str_is(part, "*"))
        perm_rules_compile_bash(part, true, &r.pattern, &r.boundary);
    if (!r.pattern || x->rs->n >= RULES_MAX) {
        free(r.pattern);
        return;
    }
    r.text = xstrdup(x->r->text);
    r.tool = xstrdup("Bash");
    r.body = str_dup(part);
    r.file = xstrdup(x->r->file);
    r.boundary = true;
    ARRAY_GROW(x->rs->rules, x->rs->n, x->rs->cap);
    x->rs->rules[x->rs->n++] = r;
}

/* Each command of what was written as a compound asks: the rule was meant for it. */
static void
ask_for_parts(struct reading *x)
{
    struct str s = x->body;
    size_t from = 0;
    char quote = 0, before = 0;
    for (size_t i = 0; i <= s.len; i++) {
        char c = i < s.len ? s.ptr[i] : ';';
        if (c == quote)
            quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        if (i < s.len && (quote || !strchr(";|&<>", c)))
            continue;
        /* What stands behind '<' or '>' is a file. */
        if (!strchr("<>", before) || !before)
            ask_for_part(x, str_sub(s, from, i - from), c);
        if (c != '&' || before != '>' || i != from)
            before = c;
        from = i + 1;
    }
}

/* "rm:", "rm: *" and "rm:**" of a deny or ask rule: no program's name ends so, ":*" is meant. */
static void
mend_prefix(struct reading *x)
{
    static const char *const ends[] = {":**", ": *", ":"};
    struct str s = str_trim(x->body);
    for (size_t i = 0; reading_strict(x) && i < ARRAY_LEN(ends); i++) {
        if (!str_ends(s, ends[i]) || (i == 2 && str_find(s, ' ', 0) != (size_t)-1))
            continue;
        s = str_trim(str_sub(s, 0, s.len - strlen(ends[i])));
        if (!s.len || x->owned)
            return;
        reading_say(x, "is read as Bash(%.*s:*)", (int)s.len, s.ptr);
        x->owned = xasprintf("%.*s:*", (int)s.len, s.ptr);
        x->body = str_from(x->owned);
        return;
    }
}

bool
reading_command(struct reading *x)
{
    mend_prefix(x);
    const char *why = never_a_word(x->body);
    struct perm_rule *r = x->r;
    perm_rules_compile_bash(x->body, reading_strict(x), &r->pattern, &r->boundary);
    if (!r->pattern) {
        reading_unread(x, "is ignored: it names no command");
        return false;
    }
    if (why && !reading_strict(x)) {
        reading_say(x, "grants nothing: %s", why);
    } else if (why) {
        reading_unread(x, "IS NOT IN FORCE as written, its commands ask until it is mended: %s",
                       why);
        ask_for_parts(x);
    }
    return true;
}
