/*
 * What a recursive read can really reach. A rule for ".env" overlaps every folder; whether such a file lies in this one is looked at, so
 * that "grep -r x ." need not ask because of a file that is not there. Errs towards yes: past a number of entries, and where
 * another part of the command may make files first, everything may be there.
 *
 * What git prints of its history (git log -p, git diff) is what it tracks. Its index is looked at for that, as names on the disk
 * are: the objects of all revisions are too many to read before each call, so a file that was tracked once and is no longer
 * there is not seen. Where there is no repository, and where an earlier part of the command may have changed the index, what
 * lies there counts as well.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/repo.h"
#include "perm/lasts.h"
#include "perm/looks.h"
#include "perm/trees.h"

enum {
    ENTRIES_MAX = 12000,
    DEPTH_MAX = 32,
    TRACKED_MAX = 100000,
    RULES_LOOKED = 64,
    ONLY_MAX = 8,
};

struct reach {
    const struct chain *c;
    const char *tool;
    const struct path_names *top;
    const struct rule_filter *list;
    const struct perm_rule *rules[RULES_LOOKED]; /* those that overlap the tree at all */
    struct lasts lasts[RULES_LOOKED];
    size_t n_rules;
    bool skip_hidden;           /* names that begin with a dot are passed by */
    bool names_only;            /* what is read are names: only rules for whole folders matter */
    const char *only[ONLY_MAX]; /* patterns of the names of files that are read; none: all */
    char *owned[ONLY_MAX];
    const char *types; /* ends of those names, parted by blanks, or NULL */
    size_t n_only, entries;
    const struct perm_rule *found;
    bool lost;
};

/* ---- what the command says about it ---- */

static bool
lists_names(const struct perm_leaf *l)
{
    static const char *const programs[] = {"find", "fd",   "fdfind", "du",
                                           "ls",   "tree", "exa",    "eza"};
    for (size_t i = 0; l->cls == CLASS_READER && i < ARRAY_LEN(programs); i++)
        if (leaf_is(l, programs[i]))
            return true;
    return false;
}

/* The pattern of "--include=X", "-g X" and the like at *i, which is moved past it. */
static struct str
pattern_of(const struct perm_leaf *l, size_t *i, const char *name, const char *letter)
{
    struct str s = l->argv[*i].text;
    size_t n = strlen(name);
    if (str_starts(s, name) && s.len > n && s.ptr[n] == '=')
        return str_sub(s, n + 1, s.len);
    if ((str_is(s, name) || (letter && str_is(s, letter))) && *i + 1 < l->n_argv)
        return l->argv[++*i].text;
    if (letter && str_starts(s, letter) && s.len > 2)
        return str_sub(s, 2, s.len);
    return (struct str){0};
}

/* "grep --include", "rg -g": only files of these names are read. A pattern that is not plain speaks for none. */
static void
read_only_patterns(struct reach *r, const struct perm_leaf *l)
{
    bool grep = leaf_is(l, "grep") || leaf_is(l, "egrep") || leaf_is(l, "fgrep");
    if (!grep && !leaf_is(l, "rg"))
        return;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = pattern_of(l, &i, grep ? "--include" : "--glob", grep ? NULL : "-g");
        if (!s.ptr)
            continue;
        bool plain = s.len && l->argv[i].known && r->n_only < ONLY_MAX;
        for (size_t k = 0; k < s.len; k++)
            plain = plain && s.ptr[k] && !strchr("!/{[\\", s.ptr[k]);
        if (!plain) {
            r->n_only = 0;
            return;
        }
        r->owned[r->n_only] = str_dup(s);
        r->only[r->n_only] = r->owned[r->n_only];
        r->n_only++;
    }
}

/* rg passes hidden files by unless an option says otherwise; a pattern of -g that does not begin with '!' lets them in. */
static bool
passes_hidden_by(const struct chain *c, const struct perm_leaf *l)
{
    if (!leaf_is(l, "rg") || l->n_assigns || getenv("RIPGREP_CONFIG_PATH") ||
        str_contains(c->command, STR("RIPGREP")))
        return false;
    for (size_t i = 1; i < l->n_argv; i++) {
        size_t at = i;
        struct str s = l->argv[i].text, g = pattern_of(l, &at, "--glob", "-g");
        if (!g.ptr)
            g = pattern_of(l, &at, "--iglob", NULL);
        bool bundle = s.len > 1 && s.ptr[0] == '-' && s.ptr[1] != '-';
        if (!l->argv[i].known || l->argv[i].glob || str_starts(s, "--hidden") ||
            str_starts(s, "--unrestricted"))
            return false;
        if (g.ptr ? !str_starts(g, "!")
                  : bundle && (memchr(s.ptr, 'u', s.len) || memchr(s.ptr, '.', s.len) ||
                               memchr(s.ptr, 'g', s.len)))
            return false;
        i = at;
    }
    return true;
}

/* ---- the walk ---- */

static bool
has_type(const char *types, const char *name)
{
    const char *dot = strrchr(name, '.');
    struct str all = str_from(types), type;
    while (dot && str_split(&all, ' ', &type))
        if (str_is(type, dot + 1))
            return true;
    return false;
}

static bool
is_read(const struct reach *r, const char *name)
{
    if (r->types && !has_type(r->types, name))
        return false;
    if (!r->n_only)
        return true;
    for (size_t i = 0; i < r->n_only; i++)
        if (fnmatch(r->only[i], name, 0) == 0)
            return true;
    return false;
}

/* ---- the tree ---- */

/* What lies below a folder that a rule names was found with that folder. */
static void
look_at(struct reach *r, const char *rel)
{
    char *paths[3] = {NULL};
    struct last_name last;
    last_name_init(&last, rel, r->n_rules);
    for (size_t i = 0; i < r->n_rules && !r->found; i++) {
        if (!lasts_may(&r->lasts[i], &last, r->c->fold))
            continue;
        for (size_t k = 0; k < r->top->n && !paths[k]; k++)
            paths[k] = fs_join(r->top->v[k], rel);
        const struct perm_rules one = {.rules = (struct perm_rule *)r->rules[i], .n = 1};
        if (rules_match_path(&one, r->list, r->tool, (const char *const *)paths, r->top->n,
                             &r->c->anchor))
            r->found = r->rules[i];
    }
    for (size_t k = 0; k < ARRAY_LEN(paths); k++)
        free(paths[k]);
    last_name_release(&last);
}

static void
walk(struct reach *r, const char *dir, const char *rel, int depth)
{
    DIR *d = depth > DEPTH_MAX ? NULL : opendir(dir);
    if (!d) {
        r->lost = r->lost || depth > DEPTH_MAX; /* what cannot be opened cannot be read either */
        return;
    }
    r->lost = r->lost || !may_walk(LOOK_FOLDER);
    for (struct dirent *e = readdir(d); e && !r->found && !r->lost; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        r->lost = ++r->entries > ENTRIES_MAX || !may_walk(LOOK_NAME);
        if (r->skip_hidden && e->d_name[0] == '.')
            continue;
        char *at = fs_join(dir, e->d_name),
             *below = *rel ? fs_join(rel, e->d_name) : xstrdup(e->d_name);
        struct stat st;
        bool folder = e->d_type == DT_DIR ||
                      (e->d_type == DT_UNKNOWN && lstat(at, &st) == 0 && S_ISDIR(st.st_mode));
        if (folder ? !r->types : is_read(r, e->d_name))
            look_at(r, below);
        if (folder && !r->found)
            walk(r, at, below, depth + 1);
        free(at);
        free(below);
    }
    closedir(d);
}

/* ---- what git tracks ---- */

struct tracked {
    struct reach *r;
    const char *top, *base; /* the repository, and the folder or file in it that the read is of */
    size_t names;
};

/* The name, and each folder on the way to it. */
static bool
look_at_tracked(void *arg, struct str name)
{
    struct tracked *t = arg;
    char *text = str_dup(name), *path = fs_join(t->top, text);
    size_t n = strcmp(t->base, "/") == 0 ? 0 : strlen(t->base);
    char *rel = path_inside(path, t->base, t->r->c->fold) && path[n] == '/' ? path + n + 1 : NULL;
    t->r->lost =
        t->r->lost || ++t->names > TRACKED_MAX || !may_walk(LOOK_NAME) || str_ends(name, "/");
    for (char *end = rel; end && !t->r->found;) {
        char *slash = strchr(end, '/');
        if (slash)
            *slash = '\0';
        look_at(t->r, rel);
        if (slash)
            *slash++ = '/';
        end = slash;
    }
    free(path);
    free(text);
    return !t->r->found && !t->r->lost;
}

/* An earlier part of the call may have put names into the index. */
static bool
index_changes_before(const struct chain *c, const struct perm_leaf *own)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves && &c->sh.leaves[i] != own; i++)
        if (leaf_is(&c->sh.leaves[i], "git") && c->sh.leaves[i].effects_unknown)
            return true;
    return false;
}

/* A rule that says by its place which file it means ("./.env", "secrets/x") says that it is there, or soon will be: in the project
 * itself it counts without a look. One that gives a name alone is a precaution that holds everywhere. */
static bool
says_where(const struct perm_rule *rule)
{
    return strchr(rule->body, '/') != NULL;
}

/* A rule that is about the folder `dir`, which is not there, and not about one of its name anywhere. */
static bool
placed_in(const struct perm_rule *rule, const char *dir)
{
    const char *base = fs_basename(dir);
    size_t n = strlen(base);
    bool anchored =
        rule->body[0] == '/' || rule->body[0] == '~' || strncmp(rule->body, "./", 2) == 0;
    return anchored || (n && strncmp(rule->body, base, n) == 0 && rule->body[n] == '/');
}

/* False: what lies on the disk has to be looked at as well. */
static bool
walk_tracked(struct reach *r, const struct perm_leaf *own)
{
    bool found = false;
    struct tracked t = {.r = r, .base = r->top->v[r->top->n - 1]};
    char *top = repo_find_top(t.base);
    t.top = top;
    if (top && !repo_each_tracked(top, look_at_tracked, &t, &found) && found && !r->found)
        r->lost = true;
    free(top);
    bool reads = strcmp(r->tool, "Read") == 0, gone = !fs_exists(t.base);
    for (size_t i = 0; !found && i < r->n_rules && !r->found; i++) /* no index to look into */
        if (says_where(r->rules[i]) && (reads || (gone && placed_in(r->rules[i], t.base))))
            r->found = r->rules[i];
    return top && !index_changes_before(r->c, own);
}

/* ---- the question ---- */

static void
pick_rules(struct reach *r)
{
    const struct perm_rules *rs = r->c->req->rules;
    bool looked = rs && may_pass(rs->n);
    for (size_t i = 0; looked && i < rs->n; i++) {
        const struct perm_rule *rule = &rs->rules[i];
        const struct perm_rules one = {.rules = (struct perm_rule *)rule, .n = 1};
        bool overlaps = false;
        if (!rule_counts(rule, r->list))
            continue;
        for (size_t k = 0; k < r->top->n && !overlaps; k++)
            overlaps = rules_overlap_path(&one, r->list, r->tool, r->top->v[k], true,
                                          &r->c->anchor) != NULL;
        bool whole = !rule->body || str_ends(str_from(rule->body), "/**") ||
                     str_ends(str_from(rule->body), "/");
        if (!overlaps || (r->names_only && !whole))
            continue;
        if (r->n_rules == RULES_LOOKED || !rule->body) {
            r->found = rule;
            return;
        }
        lasts_init(&r->lasts[r->n_rules], rule);
        r->rules[r->n_rules++] = rule;
    }
}

/* An earlier part of the call may put such a file there first. */
static bool
changes_before(const struct chain *c, const struct perm_leaf *own)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        bool runs = l->wrapper < c->sh.n_leaves && &c->sh.leaves[l->wrapper] == own;
        if (l == own || runs)
            continue;
        bool empty = leaf_is(l, "mkdir") || leaf_is(l, "touch"); /* what they make holds nothing */
        for (size_t k = 0; k < l->n_effects && !empty; k++)
            if (l->effects[k].kind == EFFECT_WRITE &&
                (!l->effects[k].path || !l->effects[k].redirect))
                return true;
    }
    return c->sh.incomplete || c->sh.unparsable;
}

/* A reader whose unknown words are only what find or a pipe names, all below folders that are among its effects. */
static bool
given_names(const struct chain *c, const struct perm_leaf *l)
{
    if (l->cls != CLASS_READER || l->effects_unknown || !l->name_known)
        return false;
    for (size_t i = 0; i < l->n_effects; i++)
        if (!l->effects[i].path)
            return false;
    if (l->wrapper >= c->sh.n_leaves)
        return l->given;
    const struct perm_leaf *outer = &c->sh.leaves[l->wrapper];
    return outer->cls == CLASS_READER && !outer->effects_unknown &&
           (leaf_is(outer, "find") || leaf_is(outer, "xargs"));
}

/* The project itself, or a folder around it. */
static bool
holds_root(const struct chain *c, const struct path_names *n)
{
    for (size_t i = 0; i < n->n; i++)
        for (size_t k = 0; k < c->n_roots && k < 2; k++)
            if (path_inside(c->roots[k], n->v[i], c->fold))
                return true;
    return false;
}

/* The rule's file has a plain name, and one that is read. */
static bool
name_is_read(const struct reach *r, const struct perm_rule *rule)
{
    const char *last = strrchr(rule->body, '/') + 1;
    return *last && !strpbrk(last, "*?[{\\") && is_read(r, last);
}

/* rg does not reach hidden files. */
static bool
is_hidden(const struct perm_rule *rule)
{
    const char *last = strrchr(rule->body, '/');
    last = last ? last + 1 : rule->body;
    return last[0] == '.' && last[1] && last[1] != '.' && !strpbrk(last, "{\\");
}

static void
look_below(struct reach *r, const struct access *a)
{
    const struct chain *c = r->c;
    bool tracked = a->span == SPAN_TRACKED;
    bool found = a->shown && strcmp(a->shown, "{}") == 0 && trees_is_given_found(c, a->leaf);
    bool known = a->leaf->argv_known || found || given_names(c, a->leaf);
    bool sure = tracked || (known && !changes_before(c, a->leaf));
    bool some = r->names_only || r->n_only || r->types;
    bool near = some || path_in_roots(c, r->top, false);
    const char *dir = r->top->v[r->top->n - 1];
    bool holds = holds_root(c, r->top);
    bool root = a->span == SPAN_DISK && !r->names_only && (holds || !fs_exists(dir));
    for (size_t i = 0; root && i < r->n_rules && !r->found; i++)
        if (says_where(r->rules[i]) && (holds || placed_in(r->rules[i], dir)) &&
            !(r->skip_hidden && is_hidden(r->rules[i])) && (!some || name_is_read(r, r->rules[i])))
            r->found = r->rules[i];
    r->lost = r->top->lost || a->span == SPAN_UNSEEN || !sure || !near;
    if (!r->lost && !r->found && (!tracked || !walk_tracked(r, a->leaf)))
        walk(r, r->top->v[r->top->n - 1], "", 0);
}

const struct perm_rule *
tree_reaches(const struct chain *c, const struct access *a, const struct rule_filter *f,
             const char *tool, const struct path_names *n)
{
    struct reach r = {.c = c, .tool = tool, .top = n, .list = f};
    bool known = a->leaf->argv_known;
    r.names_only = known && lists_names(a->leaf);
    if (known && a->span == SPAN_DISK) {
        read_only_patterns(&r, a->leaf);
        r.skip_hidden = passes_hidden_by(c, a->leaf);
    }
    if (a->only)
        r.only[r.n_only++] = a->only;
    r.types = a->types;
    pick_rules(&r);
    if (!r.found && r.n_rules)
        look_below(&r, a);
    if (!r.found && r.n_rules && r.lost)
        r.found = r.rules[0];
    for (size_t i = 0; i < ARRAY_LEN(r.owned); i++)
        free(r.owned[i]);
    for (size_t i = 0; i < r.n_rules; i++)
        lasts_release(&r.lasts[i]);
    return r.found;
}
