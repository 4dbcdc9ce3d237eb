/*
 * Commands whose operands are names that another one finds: find's {} and what a pipe feeds to xargs. Where it is certain that
 * all of them lie below known folders, that no name can be taken for an option or fall apart into others, and where the links
 * among them lead, the inner command is judged as one that reads those folders.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/repo.h"
#include "perm/programs.h"

enum { ENTRIES_MAX = 6000, LINKS_MAX = 200, DEPTH_MAX = 24, ROOTS_MAX = 16 };

/* ---- what lies below a folder ---- */

struct look {
    struct sh *sh;
    size_t leaf; /* links below are reads of its own */
    size_t entries, links;
    bool odd; /* a name with a blank, a quote or a backslash, or a leading dash */
    bool lost;
    const char *only; /* the names that come out of it match this, or NULL */
    bool no_links;    /* and are no links */
};

static bool
name_is_odd(const char *s)
{
    if (*s == '-')
        return true;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == 0x7f || *s == '\'' || *s == '"' || *s == '\\')
            return true;
    return false;
}

static void
look_below(struct look *k, const char *path, int depth)
{
    DIR *d = opendir(path);
    if (!d)
        return; /* no folder, or one that cannot be read: no names come out of it */
    k->lost = k->lost || depth > DEPTH_MAX;
    for (struct dirent *e = readdir(d); e && !k->lost; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        bool named = !k->only || fnmatch(k->only, e->d_name, 0) == 0;
        k->odd = k->odd || ((named || e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) &&
                            name_is_odd(e->d_name));
        k->lost = ++k->entries > ENTRIES_MAX;
        if (e->d_type != DT_DIR && e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
            continue;
        const char *at = arena_printf(k->sh->a, "%s/%s", path, e->d_name);
        struct stat st;
        if (lstat(at, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            look_below(k, at, depth + 1);
        else if (!named || k->no_links)
            continue;
        else if (S_ISLNK(st.st_mode) && ++k->links > LINKS_MAX)
            k->lost = true;
        else if (S_ISLNK(st.st_mode) && k->leaf != SIZE_MAX)
            effect_text(k->sh, k->leaf,
                        stat(at, &st) == 0 && S_ISDIR(st.st_mode) ? EFFECT_READ_TREE : EFFECT_READ,
                        str_from(at));
    }
    closedir(d);
}

struct listed {
    struct look *k;
    const char *top, *dir;
};

static bool
look_at_listed(void *arg, struct str name)
{
    struct listed *t = arg;
    struct look *k = t->k;
    struct stat st;
    const char *path = arena_printf(k->sh->a, "%s/%.*s", strcmp(t->top, "/") == 0 ? "" : t->top,
                                    (int)name.len, name.ptr);
    size_t n = strlen(t->dir);
    k->lost = k->lost || ++k->entries > ENTRIES_MAX || str_ends(name, "/");
    if (k->lost || strncmp(path, t->dir, n) != 0 || path[n] != '/')
        return !k->lost;
    k->odd = k->odd || name_is_odd(path + n + 1);
    for (const char *p = path + n; *p; p++)
        k->odd = k->odd || (unsigned char)*p >= 0x80; /* git prints these in quotes */
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && k->leaf != SIZE_MAX)
        effect_text(k->sh, k->leaf, EFFECT_READ, str_from(path));
    return true;
}

/* What git ls-files names below dir: the names of its index. */
static void
look_at_index(struct look *k, const char *dir)
{
    bool found = false;
    char *top = repo_find_top(dir);
    struct listed t = {.k = k, .top = top, .dir = dir};
    if (!top || (!repo_each_tracked(top, look_at_listed, &t, &found) && found))
        k->lost = true;
    free(top);
}

/* An earlier part of the command line may put something there first. */
static bool
changed_before(const struct sh *sh, size_t to)
{
    for (size_t i = 0; i < to && i < sh->ret->n_leaves; i++) {
        const struct perm_leaf *l = &sh->ret->leaves[i];
        bool wrapper = l->role == LEAF_WRAPPER && l->transparent;
        if (l->effects_unknown && !wrapper)
            return true;
        for (size_t k = 0; k < l->n_effects; k++)
            if (l->effects[k].kind != EFFECT_READ && l->effects[k].kind != EFFECT_READ_TREE)
                return true;
    }
    return false;
}

void
effect_below(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w)
{
    struct word dir = word_literal(sh, w->below);
    dir.src = w->src;
    const struct cwdset *c = &sh->st.cwd;
    struct look k = {.sh = sh, .leaf = leaf, .lost = c->n != 1 || c->unknown};
    k.only = w->only.len ? arena_dup(sh->a, w->only.ptr, w->only.len) : NULL;
    k.no_links = w->no_links;
    const char *path = k.lost ? NULL : path_clean(sh->a, c->dir[0], w->below);
    bool reads = kind == EFFECT_READ || kind == EFFECT_READ_TREE;
    if (reads && path && !changed_before(sh, leaf)) {
        if (w->tracked) {
            effect_span(sh, leaf, &dir, SPAN_TRACKED);
            look_at_index(&k, path);
        } else {
            effect_only(sh, leaf, &dir, w->only);
            look_below(&k, path, 0);
        }
    } else {
        k.lost = true;
    }
    if (!k.lost)
        return;
    bool removes = kind == EFFECT_DELETE || kind == EFFECT_DELETE_TREE;
    struct word u = word_unknown(w->src, true);
    effect_add(sh, leaf, removes ? EFFECT_DELETE_TREE : kind, removes ? &dir : &u);
    effect_unknown(sh, leaf, "what lies there was not looked at in full");
}

void
leaf_is_opaque(struct sh *sh, size_t outer, size_t first)
{
    struct perm_leaf *l = leaf_at(sh, outer);
    l->role = sh->inner ? LEAF_INNER : LEAF_RUN;
    l->transparent = false;
    for (size_t i = first; i < sh->ret->n_leaves; i++)
        leaf_at(sh, i)->role = LEAF_INNER;
}

bool
leaf_inner_reads(struct sh *sh, size_t outer, const struct command *c, size_t from)
{
    size_t first = sh->ret->n_leaves;
    leaf_inner(sh, outer, c, from, true);
    const struct perm_leaf *in = leaf_at(sh, first);
    if (in && in->cls == CLASS_READER)
        return true;
    leaf_is_opaque(sh, outer, first);
    return false;
}

struct word
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

static bool
only_seen(const struct options *o, const char *letters)
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
    if (!lists || !only_seen(&o, rg ? "l1gtTiFwsSu.eP" : "lLrEFGPiwxseIaJ"))
        return false;
    size_t first = o.pattern || (rg && o.seen['1']) ? 0 : 1;
    *ret = (struct names){.below = arena_alloc(sh->a, ROOTS_MAX * sizeof *ret->below)};
    for (size_t i = first; i < o.n_operands; i++) {
        const struct word *w = &c->argv[o.operands[i]];
        if (!w->w.known || w->w.glob || !w->w.text.len || ret->n >= ROOTS_MAX)
            return false;
        ret->below[ret->n++] = w->w.text;
    }
    ret->bare = ret->n == 0;
    if (ret->bare)
        ret->below[ret->n++] = STR(".");
    return true;
}

/* ls without operands: the names in its folder, a line each. */
static bool
names_of_list(struct sh *sh, const struct command *c, struct names *ret)
{
    struct options o;
    options_parse(sh, SIZE_MAX, c, 1, &program_find(STR("ls"))->spec, &o);
    *ret = (struct names){.below = arena_alloc(sh->a, sizeof *ret->below), .n = 1, .bare = true};
    ret->below[0] = STR(".");
    return only_seen(&o, "1aArtSXU") && o.n_operands == 0;
}

/* "git ls-files [-z] [PATHSPEC...]": names of the index below its folder. */
static bool
names_of_index(struct sh *sh, const struct command *c, struct names *ret)
{
    static const struct optspec spec = {.shorts = "cz", .longs = "cached/c", .exact = true};
    struct options o;
    if (c->n < 2 || !c->argv[1].w.known || !str_is(c->argv[1].w.text, "ls-files"))
        return false;
    options_parse(sh, SIZE_MAX, c, 2, &spec, &o);
    *ret = (struct names){.below = arena_alloc(sh->a, sizeof *ret->below),
                          .n = 1,
                          .nul = o.seen['z'],
                          .tracked = true,
                          .bare = true};
    ret->below[0] = STR(".");
    for (size_t i = 0; i < o.n_operands; i++) {
        const struct word *w = &c->argv[o.operands[i]];
        if (!w->w.known || w->w.glob || !w->w.text.len || strchr("/:", w->w.text.ptr[0]) ||
            str_contains(w->w.text, STR("..")))
            return false;
    }
    return only_seen(&o, "cz");
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
        if (!p || !c->argv[0].w.known || !str_is(c->argv[0].w.text, filters[i].name))
            continue;
        options_parse(sh, SIZE_MAX, c, 1, &p->spec, &o);
        *ret_nul = o.seen['z'];
        return only_seen(&o, filters[i].letters) &&
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

/* 1: prints names, 0: something else, -1: lets through what another prints. */
static int
stage_names(struct sh *sh, const struct perm_leaf *l, struct names *ret, bool *ret_nul)
{
    struct command in = leaf_words(sh, l);
    struct str name = l->argv[0].text;
    bool rg = str_is(name, "rg");
    bool grep = str_is(name, "grep") || str_is(name, "egrep") || str_is(name, "fgrep");
    if (str_is(name, "find"))
        return names_of_find(sh, &in, true, ret);
    if (str_is(name, "git"))
        return names_of_index(sh, &in, ret);
    if (str_is(name, "ls"))
        return names_of_list(sh, &in, ret);
    if ((rg || grep) && names_of_search(sh, &in, rg, ret))
        return 1;
    return passes_lines(sh, &in, ret_nul) ? -1 : 0;
}

bool
names_from_pipe(struct sh *sh, const struct command *c, struct names *ret)
{
    bool any = false, nul = false, filter_nul = false;
    const struct cwdset *cwd = &sh->st.cwd;
    if (c->doc || c->herestring || c->stdin_file || cwd->n != 1 || cwd->unknown)
        return false;
    for (size_t i = sh->n_stages; i-- > 0;) {
        const struct perm_leaf *l = sh->stages[i] == SIZE_MAX ? NULL : leaf_at(sh, sh->stages[i]);
        int kind = l && plain_stage(l) ? stage_names(sh, l, ret, &nul) : 0;
        if (kind >= 0)
            return kind && l->cwd && strcmp(l->cwd, cwd->dir[0]) == 0 &&
                   (!any || filter_nul == ret->nul);
        if (any && nul != filter_nul)
            return false;
        any = true;
        filter_nul = nul;
    }
    return false;
}

bool
names_are_plain(struct sh *sh, const struct names *n)
{
    const struct cwdset *c = &sh->st.cwd;
    struct look k = {.sh = sh, .leaf = SIZE_MAX};
    k.only = n->only.len ? arena_dup(sh->a, n->only.ptr, n->only.len) : NULL;
    if (c->n != 1 || c->unknown || changed_before(sh, sh->ret->n_leaves))
        return false;
    for (size_t i = 0; i < n->n && !k.lost; i++) {
        const char *path = path_clean(sh->a, c->dir[0], n->below[i]);
        struct str s = n->below[i], part;
        while (str_split(&s, '/', &part))
            k.odd = k.odd || name_is_odd(arena_dup(sh->a, part.ptr, part.len));
        if (path && n->tracked)
            look_at_index(&k, path);
        else if (path)
            look_below(&k, path, 0);
        k.lost = k.lost || !path;
    }
    return !k.lost && !k.odd;
}
