/*
 * Deny and ask rules of the kind PROGRAM SUB [SUB2] against a command with options between these words: "npm --prefix web
 * publish" is "npm publish". Which options take the next word is a table; where it does not say, both readings are tried, and
 * what only such a reading matches is MATCH_MAY. So is what says the same by other names (rules_spelling.c).
 *
 * From the first word of the rule that holds a '*' on, its text is matched against the text of the command's words from there.
 */
#include "perm/rules_subcommand.h"

#include <string.h>

#include "perm/looks.h"
#include "perm/shell.h"
#include "perm/wild.h"

enum { SUB_NO, SUB_MAY, SUB_SURE };
enum { STEPS_MAX = 2000, TEXT_MAX = 1 << 20 };
struct search {
    const struct perm_leaf *leaf;
    const struct globals *g;
    bool boundary, fold;
    size_t steps; /* what would be too much work is answered with "may" */
};

static int
weaker(int a, int b)
{
    return a < b ? a : b;
}

static int
stronger(int a, int b)
{
    return a > b ? a : b;
}

static int search_from(struct search *x, struct str rest, size_t i);

/* The first word of the rule's rest, which becomes what stands behind it; false: it was the last. */
static bool
take_word(struct str *rest, struct str *ret)
{
    size_t blank = str_find(*rest, ' ', 0);
    bool more = blank != (size_t)-1 && blank + 1 < rest->len;
    *ret = blank == (size_t)-1 ? *rest : str_sub(*rest, 0, blank);
    *rest = more ? str_sub(*rest, blank + 1, rest->len - blank - 1) : str_from(NULL);
    return more;
}

static bool
text_hits(struct str pattern, bool boundary, struct str text)
{
    struct buf open;
    buf_init(&open, TEXT_MAX);
    buf_add_str(&open, pattern);
    buf_adds(&open, " *");
    bool hit = wild_match(pattern, text) || (boundary && wild_match(buf_str(&open), text));
    buf_release(&open);
    return hit;
}

/* "deploy * --now" without the words that are a '*' alone: whoever denies that means "deploy --now" too. */
static bool
text_hits_bare(struct str pattern, bool boundary, struct str text)
{
    struct buf bare;
    struct str word;
    buf_init(&bare, TEXT_MAX);
    while (str_split(&pattern, ' ', &word))
        if (!str_is(word, "*"))
            buf_addf(&bare, "%s%.*s", bare.len ? " " : "", (int)word.len, word.ptr);
    bool hit = bare.len && text_hits(buf_str(&bare), boundary, text);
    buf_release(&bare);
    return hit;
}

/* The rule's rest, which has a wildcard in its first word, against the words from i on. */
static int
text_matches(struct search *x, struct str rest, size_t i)
{
    struct perm_leaf tail = *x->leaf;
    struct buf text;
    tail.argv += i;
    tail.n_argv -= i;
    for (size_t k = 0; k < tail.n_argv; k++)
        if (!tail.argv[k].known || tail.argv[k].glob)
            return SUB_MAY;
    buf_init(&text, TEXT_MAX);
    perm_leaf_text(&tail, false, &text);
    (void)may_look(LOOK_RULE + text.len / 8);
    int found = text_hits(rest, x->boundary, buf_str(&text))        ? SUB_SURE
                : text_hits_bare(rest, x->boundary, buf_str(&text)) ? SUB_MAY
                                                                    : SUB_NO;
    buf_release(&text);
    return found;
}

/* The words from i on are those of the rule so far as `rest` goes. */
static int
words_match(struct search *x, struct str rest, size_t i)
{
    struct str whole = rest, word, here = x->leaf->argv[i].text;
    bool more = take_word(&rest, &word);
    if (memchr(word.ptr, '*', word.len))
        return text_matches(x, whole, i);
    int found = SUB_NO;
    if (str_starts(word, "-") && spelling_options(whole, x->leaf, i, !x->boundary))
        found = SUB_MAY;
    int same = spelled_same(word, here, x->fold)        ? SUB_SURE
               : spelling_of(x->g, word, here, x->fold) ? SUB_MAY
                                                        : SUB_NO;
    if (same == SUB_NO)
        return found;
    int behind = more                                      ? search_from(x, rest, i + 1)
                 : x->boundary || i + 1 == x->leaf->n_argv ? SUB_SURE
                                                           : SUB_NO;
    return stronger(found, weaker(same, behind));
}

/* Past an option at i, in each way it may be read. */
static int
past_option(struct search *x, struct str rest, size_t i)
{
    enum takes takes = globals_take(x->g, x->leaf->argv[i].text);
    int without = takes == TAKES_NEXT ? SUB_NO : search_from(x, rest, i + 1);
    int with = takes == TAKES_NONE ? SUB_NO : search_from(x, rest, i + 2);
    int found = stronger(without, with);
    if (takes == TAKES_UNSURE && weaker(without, with) != SUB_SURE)
        found = weaker(found, SUB_MAY);
    /* An unquoted value may be several words: its own and the sub-command. */
    bool many = takes != TAKES_NONE && i + 1 < x->leaf->n_argv && x->leaf->argv[i + 1].split;
    return many ? stronger(found, SUB_MAY) : found;
}

/* Past a word at i that may stand before the sub-command. */
static int
past_word(struct search *x, struct str rest, size_t i)
{
    struct str here = x->leaf->argv[i].text;
    if (!x->g)
        return SUB_NO;
    if (words_list(x->g->named, here))
        return search_from(x, rest, i + 2);
    if (x->g->list || (str_starts(here, "+") && strcmp(x->g->name, "cargo") == 0))
        return search_from(x, rest, i + 1);
    if (words_list(x->g->between, here))
        return weaker(SUB_MAY, search_from(x, rest, i + 1));
    return SUB_NO;
}

static int
search_from(struct search *x, struct str rest, size_t i)
{
    struct str behind = rest, word;
    if (++x->steps > STEPS_MAX || !may_look(2))
        return SUB_MAY;
    if (i >= x->leaf->n_argv)
        return str_is(rest, "*") ? SUB_MAY : SUB_NO;
    const struct perm_word *w = &x->leaf->argv[i];
    if (!w->known || w->glob)
        return SUB_MAY; /* an option, the sub-command or nothing */
    int found = words_match(x, rest, i);
    if (found == SUB_SURE || w->text.len == 0)
        return found;
    /* The rule's own word may be left out: "docker container rm". */
    if (x->g && take_word(&behind, &word) && words_list(x->g->between, word))
        found = stronger(found, weaker(SUB_MAY, search_from(x, behind, i)));
    int past = w->text.ptr[0] == '-' ? past_option(x, rest, i) : past_word(x, rest, i);
    return stronger(found, past);
}

/* "docker-compose up" is "docker compose up", in the rule or in the command. *ret_rest: what is left of the rule. */
static bool
same_program(struct search *x, struct str program, struct str name, struct str *rest, int *ret_how)
{
    *ret_how = SUB_SURE;
    if (spelled_same(program, name, x->fold))
        return true;
    *ret_how = SUB_MAY;
    struct str sub, behind = *rest;
    if (str_is(name, "docker-compose") && str_is(program, "docker")) {
        bool more = take_word(&behind, &sub);
        *rest = behind;
        return more && str_is(sub, "compose");
    }
    return spelled_same(spelling_unversioned(program), spelling_unversioned(name), x->fold);
}

/* The rule says "docker-compose SUB", the command "docker ... compose SUB". */
static int
search_compose(struct search *x, struct str program, struct str name, struct str rest)
{
    if (!str_is(program, "docker-compose") || !str_is(name, "docker"))
        return SUB_NO;
    struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_adds(&b, "compose ");
    buf_add_str(&b, rest);
    int found = search_from(x, buf_str(&b), 1);
    buf_release(&b);
    return weaker(found, SUB_MAY);
}

enum match_how
rule_match_subcommand(struct str pattern, bool boundary, const struct perm_leaf *leaf, bool fold)
{
    struct str rest = rule_without_folder(pattern), program;
    bool trusted;
    int how;
    if (leaf->n_argv < 2 || !leaf->argv[0].known || !take_word(&rest, &program) ||
        memchr(program.ptr, '*', program.len))
        return MATCH_NONE;
    struct search x = {.leaf = leaf, .boundary = boundary, .fold = fold};
    struct str name = program_name(leaf->argv[0].text, &trusted);
    int found = SUB_NO;
    bool same = same_program(&x, program, name, &rest, &how);
    if (!same && !str_is(program, "docker-compose"))
        return MATCH_NONE;
    x.g = globals_of(str_is(name, "docker-compose") ? STR("docker") : name, fold);
    if (same)
        found = weaker(how, search_from(&x, rest, 1));
    else
        found = search_compose(&x, program, name, rest);
    return found == SUB_SURE ? MATCH_PREFIX : found == SUB_MAY ? MATCH_MAY : MATCH_NONE;
}
