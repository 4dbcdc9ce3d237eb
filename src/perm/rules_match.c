#include "perm/rules_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "perm/looks.h"
#include "perm/wild.h"

enum { TEXT_MAX = 1 << 20, DENY_TEXTS = 6 };

/* Letters for one part of what may be looked at; a deny or ask rule takes several. */
enum { LETTERS = 16, DENIES = 4 };

typedef bool wild_fn(struct str pattern, struct str text);

/* The pattern itself, and where it ends at a word all that begins with it and a blank. */
static bool
pattern_test(wild_fn *wild, struct str pattern, bool boundary, struct str text)
{
    if (wild(pattern, text))
        return true;
    if (!boundary)
        return false;
    struct buf open;
    buf_init(&open, TEXT_MAX);
    buf_add_str(&open, pattern);
    buf_adds(&open, " *");
    bool hit = wild(buf_str(&open), text);
    buf_release(&open);
    return hit;
}

static bool
pattern_match(struct str pattern, bool boundary, struct str text)
{
    if (pattern.len && pattern.ptr[0] != '*' && (!text.len || text.ptr[0] != pattern.ptr[0]))
        return false;
    if (memchr(pattern.ptr, '*', pattern.len))
        return pattern_test(wild_match, pattern, boundary, text);
    /* Nearly every rule is one of these, and each meets every command. */
    return text.len >= pattern.len && memcmp(text.ptr, pattern.ptr, pattern.len) == 0 &&
           (text.len == pattern.len || (boundary && text.ptr[pattern.len] == ' '));
}

static bool
pattern_may(struct str pattern, bool boundary, struct str text)
{
    return pattern_test(wild_overlap, pattern, boundary, text);
}

bool
perm_rules_bash_covers(const struct perm_rule *r, struct str text)
{
    return pattern_match(str_from(r->pattern), r->boundary, text);
}

bool
perm_rules_name_glob(struct str pattern, struct str name)
{
    return wild_match(pattern, name);
}

/* ---- one rule, one leaf ---- */

static enum match_how
allow_match(const struct perm_rule *r, const struct leaf_texts *t)
{
    struct str exact = buf_str(&t->exact), env = buf_str(&t->with_env);

    if (!t->name_known && exact.len)
        return MATCH_NONE;
    struct str p = str_from(r->pattern);
    if (!pattern_match(p, r->boundary, exact) && !(env.len && pattern_match(p, r->boundary, env)))
        return MATCH_NONE;
    bool wild = r->boundary || str_find(p, '*', 0) != (size_t)-1;
    return wild ? MATCH_PREFIX : MATCH_EXACT;
}

static char *
lower(struct str s)
{
    char *copy = str_dup(s);
    for (size_t i = 0; i < s.len; i++)
        copy[i] = (char)tolower((unsigned char)copy[i]);
    return copy;
}

static enum match_how
deny_match(struct str p, bool boundary, const struct str text[DENY_TEXTS])
{
    struct str base = rule_without_folder(p);
    if (pattern_match(p, boundary, text[0]) || pattern_match(p, boundary, text[1]) ||
        pattern_match(base, boundary, text[1]))
        return MATCH_PREFIX;
    if (text[2].len && (pattern_may(p, boundary, text[2]) || pattern_may(p, boundary, text[3]) ||
                        pattern_may(base, boundary, text[3])))
        return MATCH_MAY;
    if (text[5].len && pattern_match(base, boundary, text[5]))
        return MATCH_MAY; /* the program by another name */
    /* Assignments are passed over but by a rule that begins with one. */
    if (!text[4].len || !memchr(p.ptr, '=', p.len))
        return MATCH_NONE;
    return pattern_match(p, boundary, text[4]) ? MATCH_PREFIX
           : pattern_may(p, boundary, text[4]) ? MATCH_MAY
                                               : MATCH_NONE;
}

/* On a volume that ignores case "GIT" runs git. */
static enum match_how
deny_match_folded(const struct perm_rule *r, const struct str text[DENY_TEXTS])
{
    size_t letters = 0;
    for (size_t i = 0; i < DENY_TEXTS; i++)
        letters += text[i].len;
    if (!may_look(LOOK_RULE + letters / LETTERS))
        return MATCH_MAY;
    char *p = lower(str_from(r->pattern)), *copies[DENY_TEXTS];
    struct str low[DENY_TEXTS];
    for (size_t i = 0; i < DENY_TEXTS; i++) {
        copies[i] = lower(text[i]);
        low[i] = str_make(copies[i], text[i].len);
    }
    enum match_how how = deny_match(str_from(p), r->boundary, low);
    for (size_t i = 0; i < DENY_TEXTS; i++)
        free(copies[i]);
    free(p);
    return how;
}

enum match_how
rule_match_leaf(const struct perm_rule *r, const struct leaf_texts *t, const struct perm_leaf *leaf,
                bool fold_case)
{
    if (rule_begins_otherwise(r, t))
        return MATCH_NONE;
    if (!rule_is_for_bash(r))
        return r->verdict != VERDICT_ALLOW && !r->body &&
                       perm_rules_name_glob(str_from(r->tool), STR("Bash"))
                   ? MATCH_BLANKET
                   : MATCH_NONE;
    if (!r->body)
        return MATCH_BLANKET;
    if (r->param) /* judged with the call's input */
        return MATCH_NONE;
    if (!leaf->n_argv && !t->with_env.len)
        return MATCH_NONE;
    if (r->verdict == VERDICT_ALLOW)
        return allow_match(r, t);
    const struct str text[DENY_TEXTS] = {buf_str(&t->plain),     buf_str(&t->deny),
                                         buf_str(&t->gap_plain), buf_str(&t->gap_deny),
                                         buf_str(&t->with_env),  buf_str(&t->linked)};
    enum match_how how = deny_match(str_from(r->pattern), r->boundary, text);
    if (how != MATCH_PREFIX && fold_case)
        how = deny_match_folded(r, text);
    if (how == MATCH_PREFIX)
        return how;
    enum match_how sub = rule_match_subcommand(str_from(r->pattern), r->boundary, leaf, fold_case);
    if (sub > how)
        how = sub;
    return how == MATCH_NONE && rule_match_hidden(r, t, fold_case) ? MATCH_MAY : how;
}

bool
rule_allow_counts(const struct perm_rule *r, const struct rule_filter *f)
{
    if (f->untrusted && (r->scope == SCOPE_PROJECT || r->scope == SCOPE_LOCAL))
        return false;
    return !(f->narrow && rule_is_broad(r));
}

bool
perm_rules_suspended(const struct perm_rule *r, enum perm_mode mode)
{
    return mode == PERM_AUTO && r->verdict == VERDICT_ALLOW && rule_is_broad(r);
}

/* ---- the list ---- */

struct leaf_match
rules_match_leaf(const struct perm_rules *rs, const struct rule_filter *f,
                 const struct leaf_texts *t, const struct perm_leaf *leaf)
{
    struct leaf_match best = {0};
    if (!may_pass(rs ? 2 * rs->n : 0))
        return best;
    for (size_t i = 0; rs && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f))
            continue;
        if (r->verdict != VERDICT_ALLOW && rule_is_for_bash(r) && !may_look(DENIES))
            break;
        enum match_how how = rule_match_leaf(r, t, leaf, f->fold_case);
        if (how > best.how)
            best = (struct leaf_match){r, how};
    }
    return best;
}

bool
rules_name_env(const struct perm_rules *rs, const struct rule_filter *f, const struct leaf_texts *t)
{
    bool looked = rs && t->with_env.len && may_pass(rs->n);
    for (size_t i = 0; looked && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f) || !r->pattern || !rule_is_for_bash(r))
            continue;
        struct str head = rule_head(r);
        size_t eq = str_find(head, '=', 0), blank = str_find(head, ' ', 0);
        if (eq == (size_t)-1 || (blank != (size_t)-1 && blank < eq))
            continue;
        if (perm_rules_bash_covers(r, buf_str(&t->with_env)))
            return true;
    }
    return false;
}

bool
rules_any(const struct perm_rules *rs, const struct rule_filter *f, const char *tool)
{
    for (size_t i = 0; rs && i < rs->n; i++)
        if (rule_counts(&rs->rules[i], f) && !rs->rules[i].param &&
            perm_rules_name_glob(str_from(rs->rules[i].tool), str_from(tool)))
            return true;
    return false;
}

static bool
parts_words(char c)
{
    switch (c) {
    case '\0':
    case ';':
    case '|':
    case '&':
    case '(':
    case ')':
    case '{':
    case '}':
    case '<':
    case '>':
    case '`':
    case '$':
    case '/':
        return true;
    default:
        return isspace((unsigned char)c) != 0;
    }
}

/* Text with every run of blanks, quotes and operators as one blank. */
static void
raw_words(struct str s, struct buf *out)
{
    char *to = buf_reserve(out, s.len + 2);
    size_t n = 0;
    if (!to)
        return;
    to[n++] = ' ';
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\'' || c == '"' || c == '\\')
            continue;
        if (parts_words(c))
            c = ' ';
        if (c != ' ' || to[n - 1] != ' ')
            to[n++] = c;
    }
    to[n++] = ' ';
    buf_commit(out, n);
}

const struct perm_rule *
rules_match_raw(const struct perm_rules *rs, const struct rule_filter *f, struct str command)
{
    const struct perm_rule *found = NULL;
    struct buf text;
    buf_init(&text, BUF_MAX);
    raw_words(command, &text);
    for (size_t i = 0; rs && i < rs->n && !found; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f) || !rule_is_for_bash(r))
            continue;
        if (!may_look(LOOK_RULE + text.len / (4 * LETTERS)))
            break;
        struct buf head;
        buf_init(&head, TEXT_MAX);
        if (r->pattern)
            raw_words(rule_without_folder(str_trim(rule_head(r))), &head);
        if (!r->body || (head.len > 2 && str_contains(buf_str(&text), buf_str(&head))))
            found = r;
        buf_release(&head);
    }
    buf_release(&text);
    return found;
}

const struct perm_rule *
perm_rules_match_leaf(const struct perm_rules *rs, enum verdict list, const struct perm_leaf *leaf)
{
    struct rule_filter f = {.list = list};
    struct leaf_texts t;
    leaf_texts_init(&t, leaf);
    struct leaf_match m = rules_match_leaf(rs, &f, &t, leaf);
    leaf_texts_release(&t);
    return m.how > MATCH_MAY ? m.rule : NULL;
}
