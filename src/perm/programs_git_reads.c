/*
 * Which files' text a form of git prints. An operand that names one is a read of it; what prints a patch or searches prints of all
 * that is tracked, or of what the pathspecs leave of it (see SPAN_TRACKED). Where what a word limits it to is not certain, it
 * limits nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/repo.h"
#include "perm/programs_git.h"

/* An operand that may name a file of the work tree, be it there or not; "a..b" names revisions. */
static bool
may_be_path(struct sh *sh, const struct word *w)
{
    struct str s = w->w.text;
    bool range = str_contains(s, STR("..")) && !str_is(s, "..") && !str_starts(s, "../") &&
                 !str_contains(s, STR("/.."));
    return w->w.known && (w->w.glob || path_exists(sh, w) ||
                          (!range && (memchr(s.ptr, '.', s.len) || memchr(s.ptr, '/', s.len))));
}

/* The folder that "REV:path" and ":/path" begin at. */
static const char *
top_of(struct sh *sh)
{
    const struct cwdset *c = &sh->st.cwd;
    char *top = c->n == 1 && !c->unknown ? repo_find_top(c->dir[0]) : NULL;
    const char *r = top ? arena_printf(sh->a, "%s", top) : sh->env->root ? sh->env->root : ".";
    free(top);
    return r;
}

static struct word
from_top(struct judged *j, struct str path)
{
    return word_literal(
        j->sh, str_from(arena_printf(j->sh->a, "%s/%.*s", top_of(j->sh), (int)path.len, path.ptr)));
}

/* ---- files that are named ---- */

/* The path of "REV:path"; empty: it is none. */
static struct str
path_in_revision(const struct word *w, size_t from)
{
    struct str s = w->w.text;
    size_t colon = w->w.known ? str_find(s, ':', from) : (size_t)-1;
    if (colon == (size_t)-1 || colon == 0 || colon + 1 >= s.len)
        return (struct str){0};
    return str_sub(s, colon + 1, s.len);
}

static void
read_in_revision(struct judged *j, struct str path)
{
    bool here = str_starts(path, "./") || str_starts(path, "../");
    struct word w = here ? word_literal(j->sh, path) : from_top(j, path);
    effect_add(j->sh, j->leaf, EFFECT_READ, &w);
}

/* ":path" and ":0:path" name files of the index, ":/path" and ":(top)path" of the work tree. */
static void
read_index_path(struct judged *j, struct str s, bool pathspec)
{
    size_t from = 1, close = str_find(s, ')', 0);
    bool top = !pathspec;
    if (s.len > 1 && (s.ptr[1] == '!' || s.ptr[1] == '^'))
        return;
    if (s.len > 3 && s.ptr[1] >= '0' && s.ptr[1] <= '3' && s.ptr[2] == ':') {
        from = 3;
    } else if (s.len > 1 && s.ptr[1] == '(' && close != (size_t)-1) {
        from = close + 1;
        top = str_contains(str_sub(s, 0, close), STR("top"));
    } else if (s.len > 1 && s.ptr[1] == '/') {
        from = 2;
        top = true;
    }
    if (from >= s.len)
        return;
    struct str path = str_sub(s, from, s.len);
    if (top && !str_starts(path, "./") && !str_starts(path, "../"))
        read_in_revision(j, path);
    effect_text(j->sh, j->leaf, EFFECT_READ, path);
}

/* Paths among the operands: what lies outside, what exists, what rev:path names. */
static void
read_operands(struct judged *j, size_t first, bool files)
{
    for (size_t i = first; i < j->o.n_operands; i++) {
        const struct word *w = judged_operand(j, i);
        struct str s = w->w.text, in_rev = path_in_revision(w, 0);
        bool pathspec = i >= j->o.n_before_end;
        if (pathspec && !str_starts(s, ":"))
            effect_add(j->sh, j->leaf, EFFECT_READ, w);
        else if (in_rev.len)
            /* A search for words in a revision holds colons of its own. */
            for (size_t k = 0; in_rev.len && k < 8; k++) {
                read_in_revision(j, in_rev);
                in_rev = path_in_revision(w, (size_t)(in_rev.ptr - s.ptr));
            }
        else if (w->w.known && str_starts(s, ":"))
            read_index_path(j, s, pathspec);
        else if (files || may_be_path(j->sh, w))
            effect_add(j->sh, j->leaf, EFFECT_READ, w);
    }
}

/* "-L 1,9:file" of git log. */
static void
read_line_ranges(struct judged *j)
{
    const struct command *c = j->c;
    for (size_t i = 1; i < c->n; i++) {
        struct str s = c->argv[i].w.text;
        if (!str_starts(s, "-L"))
            continue;
        if (s.len == 2 && i + 1 < c->n)
            s = c->argv[++i].w.text;
        size_t colon = (size_t)-1;
        for (size_t k = 0; k < s.len; k++)
            if (s.ptr[k] == ':')
                colon = k;
        if (colon != (size_t)-1 && colon + 1 < s.len)
            effect_text(j->sh, j->leaf, EFFECT_READ, str_sub(s, colon + 1, s.len));
    }
}

/* ---- all that is tracked ---- */

/* What a pathspec leaves: a folder or file that is named without a pattern. True: it does not limit, or not to that alone. */
static bool
pathspec_is_open(struct judged *j, const struct word *w, struct word *ret)
{
    struct str s = w->w.text;
    static const char *const plain[] = {":(top)", ":(literal)", ":(top,literal)", ":/"};
    size_t cut = 0;
    *ret = *w;
    for (size_t i = 0; i < ARRAY_LEN(plain) && !cut; i++)
        cut = str_starts(s, plain[i]) ? strlen(plain[i]) : 0;
    struct str rest = str_sub(s, cut, s.len);
    if (cut && !str_is(str_sub(s, 0, cut), ":(literal)"))
        *ret = from_top(j, rest);
    else if (cut)
        *ret = word_literal(j->sh, rest);
    else if (!s.len || s.ptr[0] == ':')
        return true; /* excluding alone leaves all the rest; other magic is not looked into */
    for (size_t i = 0; i < rest.len; i++)
        if (strchr("*?[\\", rest.ptr[i]))
            return true;
    return !w->w.known || w->w.glob;
}

/* Behind "--" all are paths; before it, or without one, what lies there, for git refuses a name that is a revision too. */
static bool
is_pathspec(struct judged *j, size_t i)
{
    const struct word *w = judged_operand(j, i);
    if (j->o.ended)
        return i >= j->o.n_before_end;
    return !str_starts(w->w.text, ":") && !path_in_revision(w, 0).len && path_exists(j->sh, w);
}

static void
span_whole(struct judged *j, bool here, enum perm_span span)
{
    struct word w = word_literal(j->sh, here ? STR(".") : str_from(top_of(j->sh)));
    effect_span(j->sh, j->leaf, &w, span);
}

static void
read_tracked(struct judged *j, const struct git_command *g, size_t first, enum perm_span span)
{
    bool open = false, limited = false, objects = false, revisions = false, grep = g->ops == G_TREE;
    struct word limit;
    for (size_t i = first; i < j->o.n_operands; i++) {
        const struct word *w = judged_operand(j, i);
        struct str in_rev = path_in_revision(w, 0);
        bool index = !j->o.ended && str_starts(w->w.text, ":") && !str_starts(w->w.text, ":/") &&
                     !str_starts(w->w.text, ":(");
        if (is_pathspec(j, i)) {
            bool excludes = str_starts(w->w.text, ":!") || str_starts(w->w.text, ":^") ||
                            str_starts(w->w.text, ":(exclude)");
            bool is_open = pathspec_is_open(j, w, &limit);
            open = open || (is_open && !excludes);
            limited = limited || !excludes;
            if (!is_open)
                effect_span(j->sh, j->leaf, &limit, span);
        } else if (in_rev.len || index) {
            objects = true;
            bool here = str_starts(in_rev, "./") || str_starts(in_rev, "../");
            limit = here ? word_literal(j->sh, in_rev) : from_top(j, in_rev);
            if (in_rev.len)
                effect_span(j->sh, j->leaf, &limit, span);
        } else {
            revisions = true;
        }
    }
    if (open || (!limited && (revisions || !objects)))
        span_whole(j, grep && str_is(str_from(g->name), "grep"), span);
}

/* ---- what it prints ---- */

static bool
hex_operand(struct judged *j)
{
    for (size_t i = 0; i < j->o.n_operands; i++) {
        struct str s = judged_operand(j, i)->w.text;
        size_t n = 0;
        while (n < s.len && strchr("0123456789abcdefABCDEF", s.ptr[n]))
            n++;
        if (s.len >= 4 && n == s.len)
            return true;
    }
    return false;
}

static bool
asked_for_patch(const struct judged *j)
{
    static const char letters[] = "puUWc";
    for (size_t i = 0; letters[i]; i++)
        if (j->o.seen[(unsigned char)letters[i]])
            return true;
    return false;
}

static bool
prints_text(struct judged *j, const struct git_command *g)
{
    struct str name = str_from(g->name);
    const struct word *verb = judged_operand(j, 0);
    bool counts = j->o.seen['9'] || j->o.seen['s'];
    if (g->prints == PRINTS_NAMES || g->prints == PRINTS_FILE)
        return false;
    if (str_is(name, "grep"))
        return true;
    if (str_is(name, "cat-file"))
        return !j->o.seen['t'] && !j->o.seen['s'] && !j->o.seen['e'];
    if (str_is(name, "status"))
        return j->o.seen['v'];
    if (asked_for_patch(j))
        return true;
    if (str_is(name, "stash")) /* stash.showPatch may ask for it */
        return verb && str_is(verb->w.text, "show") && !counts;
    /* The name of an object may be that of a file, which is printed whatever the options are. */
    return g->prints == PRINTS_TEXT && (!counts || (str_is(name, "show") && hex_operand(j)));
}

void
git_reads(struct judged *j, const struct git_command *g, size_t first)
{
    const struct word *modules = j->o.value['6'];
    bool grep = str_is(str_from(g->name), "grep");
    read_operands(j, first, g->prints == PRINTS_FILE);
    if (j->o.seen['L'] && g->prints == PRINTS_ASKED)
        read_line_ranges(j);
    if (!prints_text(j, g))
        return;
    read_tracked(j, g, first, SPAN_TRACKED);
    if (j->o.seen['4'] && grep)
        read_tracked(j, g, first, SPAN_DISK);
    if ((j->o.seen['4'] && !grep) || (j->o.seen['6'] && (grep || !modules || !modules->w.known ||
                                                         str_is(modules->w.text, "diff"))))
        span_whole(j, false, SPAN_UNSEEN);
    if (j->o.seen['u'] && str_is(str_from(g->name), "stash")) /* -u: with what was not tracked */
        span_whole(j, false, SPAN_UNSEEN);
}

/* "git stash" and "git reflog expire" print nothing; only these verbs and options do. */
static bool
shows_patch(const struct command *c)
{
    static const char *const words[] = {"show", "list", "-p", "-u", "--patch"};
    for (size_t i = 1; i < c->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            if (!c->argv[i].w.known || str_is(c->argv[i].w.text, words[k]))
                return true;
    return false;
}

void
git_reads_unknown(struct sh *sh, size_t leaf, const struct command *c, struct str sub)
{
    static const char *const others[] = {"archive",      "format-patch", "fast-export", "bundle",
                                         "pack-objects", "difftool",     "send-email"};
    struct judged j = {.sh = sh, .leaf = leaf};
    const struct git_command *g = git_command_find(sub);
    bool text = g && g->prints != PRINTS_NAMES && !str_is(sub, "status");
    if (str_is(sub, "stash") || str_is(sub, "reflog"))
        text = shows_patch(c);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        text = text || str_is(sub, others[i]);
    if (text)
        span_whole(&j, false, SPAN_TRACKED);
    if (str_is(sub, "grep")) /* --no-index */
        effect_text(sh, leaf, EFFECT_READ_TREE, STR("."));
}
