/*
 * Commands whose operands are names that another one finds: find's {} and what a pipe feeds to xargs. Which commands print names, and
 * below which folders all of them lie; names_below.c looks at what lies there.
 */
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "perm/looks.h"
#include "perm/matches.h"
#include "perm/programs.h"

enum { ROOTS_MAX = 16 };

static struct word
word_below(struct sh *sh, struct str src, struct str folder, bool many)
{
    struct word w = word_unknown(src, many);
    w.below = arena_str(sh->a, folder);
    w.prefix = w.below;
    return w;
}

struct word
names_word(struct sh *sh, struct str src, const struct names *n, size_t i, bool many)
{
    struct word w = word_below(sh, src, n->below[i], many);
    w.tracked = n->tracked;
    w.only = n->only;
    w.no_links = n->no_links;
    return w;
}

/* ---- who prints names ---- */

/* The folders that find starts from and the index behind them; false: not all of them are known. */
static bool
find_roots(struct sh *sh, const struct command *c, struct names *ret, size_t *ret_next)
{
    size_t i = 1;
    *ret = (struct names){.below = arena_alloc(sh->a, ROOTS_MAX * sizeof *ret->below)};
    while (i < c->n && c->argv[i].w.known &&
           (str_is(c->argv[i].w.text, "-H") || str_is(c->argv[i].w.text, "-P")))
        i++;
    for (; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        if (w->w.text.len && strchr("-(!),", w->w.text.ptr[0]))
            break;
        if (!w->w.known || w->w.glob || !w->w.text.len || ret->n >= ROOTS_MAX)
            return false;
        ret->below[ret->n++] = w->w.text;
    }
    if (ret->n == 0)
        ret->below[ret->n++] = STR(".");
    *ret_next = i;
    return true;
}

/* A pattern that this fnmatch reads as find's does, whatever the locale: letters and '*'. */
static bool
pattern_is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("?[]\\", s.ptr[i]) || (unsigned char)s.ptr[i] >= 0x80)
            return false;
    return s.len > 0;
}

/* Tests that all names have passed: -name and -type f before the names are used, in an expression that joins by "and" alone. */
static void
find_tests(const struct command *c, size_t from, struct names *ret)
{
    static const char *const ends[] = {"-exec", "-execdir", "-print", "-print0"};
    static const char *const joins[] = {"-o", "-or", "!", "-not", "(", ")", ","};
    bool ended = false;
    for (size_t i = from; i < c->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(joins); k++)
            if (str_is(c->argv[i].w.text, joins[k]))
                return;
    for (size_t i = from; i < c->n && !ended; i++) {
        struct str s = c->argv[i].w.text;
        const struct word *v = i + 1 < c->n ? &c->argv[i + 1] : NULL;
        for (size_t k = 0; k < ARRAY_LEN(ends); k++)
            ended = ended || str_is(s, ends[k]);
        if (!v || !v->w.known || v->w.glob || ended)
            continue;
        if (str_is(s, "-name") && pattern_is_plain(v->w.text))
            ret->only = v->w.text;
        ret->no_links = ret->no_links || (str_is(s, "-type") && str_is(v->w.text, "f"));
        i += str_is(s, "-name") || str_is(s, "-type");
    }
}

bool
names_of_find(struct sh *sh, const struct command *c, bool prints, struct names *ret)
{
    static const char *const other[] = {"-follow", "-L", "-files0-from", "-printf", "-ls"};
    size_t i;
    if (!find_roots(sh, c, ret, &i))
        return false;
    find_tests(c, i, ret);
    for (; i < c->n; i++) {
        struct str s = c->argv[i].w.text;
        if (str_is(s, "-exec") || str_is(s, "-execdir"))
            return !prints;
        for (size_t k = 0; k < (prints ? ARRAY_LEN(other) : 3); k++)
            if (str_is(s, other[k]) || !c->argv[i].w.known)
                return false;
        ret->nul = ret->nul || str_is(s, "-print0");
        ret->named = ret->named || str_is(s, "-name") || str_is(s, "-iname");
    }
    return true;
}

bool
names_options(const struct options *o, const char *letters)
{
    for (size_t i = 0; i < ARRAY_LEN(o->seen); i++)
        if (o->seen[i] && !strchr(letters, (int)i))
            return false;
    return !o->unknown && !o->bad && !o->writes && !o->long_seen && !o->uncounted;
}

/* grep -l and rg -l print names of files that they were given, or that lie below. */
static bool
names_of_search(struct sh *sh, const struct command *c, bool rg, struct names *ret)
{
    struct options o;
    const struct program *p = program_find(rg ? STR("rg") : STR("grep"));
    options_parse(sh, SIZE_MAX, c, 1, &p->spec, &o);
    bool lists = o.seen['l'] || (rg ? o.seen['1'] : o.seen['L']);
    if (!lists || !names_options(&o, rg ? "l1gtTiFwsSu.eP0" : "lLrEFGPiwxseIaJZ"))
        return false;
    size_t first = o.pattern || (rg && o.seen['1']) ? 0 : 1;
    *ret = (struct names){.below = arena_alloc(sh->a, ROOTS_MAX * sizeof *ret->below)};
    for (size_t i = first; i < o.n_operands; i++) {
        const struct word *w = &c->argv[o.operands[i]];
        if (!w->w.known || w->w.glob || !w->w.text.len || ret->n >= ROOTS_MAX)
            return false;
        ret->below[ret->n++] = w->w.text;
    }
    ret->nul = o.seen[rg ? '0' : 'Z'];
    ret->bare = ret->n == 0;
    if (ret->bare)
        ret->below[ret->n++] = STR(".");
    return true;
}

/* None of what the pattern stands for is a folder, whose content ls would list. */
static bool
matches_no_folder(struct sh *sh, struct str pattern)
{
    const struct cwdset *cwd = &sh->st.cwd;
    glob_t g = {0};
    const char *path = cwd->n == 1 && !cwd->unknown ? arena_printf(sh->a, "%s/%.*s", cwd->dir[0],
                                                                   (int)pattern.len, pattern.ptr)
                                                    : "";
    int failed = path_glob(path, &g);
    bool none = *path && (failed == 0 || failed == GLOB_NOMATCH);
    struct stat st;
    for (size_t i = 0; none && !failed && i < g.gl_pathc; i++)
        none = may_walk(LOOK_STAT) && (stat(g.gl_pathv[i], &st) != 0 || !S_ISDIR(st.st_mode));
    globfree(&g);
    return none;
}

/* "ls -t src/\*.c": the names that match, with their folder in front; with -d also those of folders. */
static bool
names_of_pattern(struct sh *sh, const struct word *w, bool folders, struct names *ret)
{
    struct str t = w->w.text;
    while (folders && t.len > 1 && t.ptr[t.len - 1] == '/')
        t.len--;
    size_t cut = t.len;
    while (cut > 0 && t.ptr[cut - 1] != '/')
        cut--;
    struct str dir = str_sub(t, 0, cut > 1 ? cut - 1 : cut), last = str_sub(t, cut, t.len - cut);
    for (size_t i = 0; i < dir.len; i++)
        if (strchr("*?[\\", dir.ptr[i]))
            return false;
    ret->bare = dir.len == 0;
    ret->below[0] = dir.len ? dir : STR(".");
    if (!folders)
        ret->only = last;
    return w->w.known && t.len && t.ptr[0] != '/' && pattern_is_plain(last) &&
           (folders || matches_no_folder(sh, t));
}

/* ls of its folder, of one other or of a pattern: the names in it, a line each. */
static bool
names_of_list(struct sh *sh, const struct command *c, struct names *ret)
{
    struct options o;
    options_parse(sh, SIZE_MAX, c, 1, &program_find(STR("ls"))->spec, &o);
    *ret = (struct names){
        .below = arena_alloc(sh->a, sizeof *ret->below), .n = 1, .flat = true, .bare = true};
    ret->below[0] = STR(".");
    const struct word *dir = o.n_operands == 1 ? &c->argv[o.operands[0]] : NULL;
    o.uncounted = o.uncounted && !(dir && dir->w.glob);
    if (!names_options(&o, "1aArtSXUd") || o.n_operands > 1 || (o.seen['d'] && !dir))
        return false;
    if (dir && dir->w.glob)
        return names_of_pattern(sh, dir, o.seen['d'], ret);
    if (!dir)
        return true;
    ret->inside = ret->below[0] = dir->w.text;
    return dir->w.known && !o.seen['d'] && path_is_dir(sh, dir);
}

/* Lets some lines of its input through as they are; no operand names a file. *ret_nul: its lines end with NUL bytes. */
static bool
passes_lines(struct sh *sh, const struct command *c, bool *ret_nul)
{
    static const struct {
        const char *name, *letters;
        size_t operands;
    } filters[] = {
        {"grep", "EFGPivwxeasz", 1},
        {"egrep", "EFGPivwxeasz", 1},
        {"fgrep", "EFGPivwxeasz", 1},
        {"head", "nqz", 0},
        {"tail", "nqz", 0},
        {"sort", "urfRVnhktz", 0},
        {"uniq", "uidz", 0},
        {"cat", "", 0},
        {"tac", "", 0},
    };
    struct options o;
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        const struct program *p = program_find(str_from(filters[i].name));
        if (!p || !arg_is(c, 0, filters[i].name))
            continue;
        options_parse(sh, SIZE_MAX, c, 1, &p->spec, &o);
        *ret_nul = o.seen['z'];
        return names_options(&o, filters[i].letters) &&
               o.n_operands == (o.pattern ? 0 : filters[i].operands);
    }
    return false;
}

static struct command
leaf_words(struct sh *sh, const struct perm_leaf *l)
{
    struct command c = {.argv = arena_alloc(sh->a, (l->n_argv + 1) * sizeof *c.argv),
                        .n = l->n_argv};
    for (size_t i = 0; i < l->n_argv; i++)
        c.argv[i] = (struct word){.w = l->argv[i], .src = l->argv[i].text};
    return c;
}

/* The leaf's output goes into the pipe and its input comes from there: nothing is redirected. */
static bool
plain_stage(const struct perm_leaf *l)
{
    for (size_t i = 0; i < l->n_effects; i++)
        if (l->effects[i].redirect)
            return false;
    return l->n_argv && l->name_known && l->argv_known && l->role == LEAF_RUN &&
           l->wrapper == SIZE_MAX && (l->cls == CLASS_READER || l->cls == CLASS_GIT_READ) &&
           !l->effects_unknown && !l->bad_env && !l->n_assigns;
}

enum stage { STAGE_OTHER, STAGE_PRINTS, STAGE_PASSES };

/* What a part of a pipe does: it prints names, or lets through some of what another prints. */
static enum stage
stage_of(struct sh *sh, const struct perm_leaf *l, struct names *ret, bool *ret_nul)
{
    struct command in = leaf_words(sh, l);
    struct str name = l->argv[0].text;
    bool rg = str_is(name, "rg");
    bool grep = str_is(name, "grep") || str_is(name, "egrep") || str_is(name, "fgrep");
    bool prints = (rg || grep) && names_of_search(sh, &in, rg, ret);
    if (str_is(name, "find"))
        prints = names_of_find(sh, &in, true, ret);
    else if (str_is(name, "git"))
        prints = names_of_git(sh, &in, ret);
    else if (str_is(name, "ls"))
        prints = names_of_list(sh, &in, ret);
    if (prints)
        return STAGE_PRINTS;
    return passes_lines(sh, &in, ret_nul) ? STAGE_PASSES : STAGE_OTHER;
}

bool
names_of_stages(struct sh *sh, const size_t *stages, size_t n, struct names *ret)
{
    bool any = false, nul = false, filter_nul = false;
    const struct cwdset *cwd = &sh->st.cwd;
    if (cwd->n != 1 || cwd->unknown)
        return false;
    for (size_t i = n; i-- > 0;) {
        const struct perm_leaf *l = stages[i] == SIZE_MAX ? NULL : leaf_at(sh, stages[i]);
        bool plain = l && plain_stage(l) && !funcs_have(sh, l->argv[0].text);
        enum stage kind = plain ? stage_of(sh, l, ret, &nul) : STAGE_OTHER;
        if (kind != STAGE_PASSES)
            return kind == STAGE_PRINTS && l->cwd && strcmp(l->cwd, cwd->dir[0]) == 0 &&
                   (!any || filter_nul == ret->nul);
        if (any && nul != filter_nul)
            return false;
        any = true;
        filter_nul = nul;
    }
    return false;
}

bool
names_from_pipe(struct sh *sh, const struct command *c, struct names *ret)
{
    return !c->doc && !c->herestring && !c->stdin_file &&
           names_of_stages(sh, sh->stages, sh->n_stages, ret) && !ret->inside.len;
}
