/*
 * Rules for files against programs that read, change or fill whole folders (trees_table.c). Where the folder holds, now, what a deny or ask
 * rule names, or where it cannot be known what will lie there, the call asks in every mode; where the rule names the folder as a
 * whole and the program changes it, it is denied.
 */
#include "perm/looks.h"
#include "perm/matches.h"
#include "perm/trees_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/repo.h"
#include "perm/shell.h"

enum { PLACES_MAX = 64, GLOB_MAX = 2000 };

/* ---- the rules ---- */

bool
trees_rules_exist(const struct chain *c, bool edits)
{
    const struct perm_rules *rs = c->req->rules;
    return rules_any(rs, &c->deny, "Read") || rules_any(rs, &c->ask, edits ? "Edit" : "Read") ||
           (edits && rules_any(rs, &c->deny, "Edit"));
}

const struct perm_rule *
trees_whole_rule(const struct chain *c, const char *tool, const struct path_names *n)
{
    struct path_names deep = {.n = n->n};
    for (size_t i = 0; i < n->n; i++)
        deep.v[i] = xasprintf("%s/\x02", n->v[i]);
    const struct perm_rule *r = rules_match_path(c->req->rules, &c->deny, tool,
                                                 (const char *const *)deep.v, deep.n, &c->anchor);
    path_names_release(&deep);
    return r;
}

const struct perm_rule *
trees_edit_rule(const struct chain *c, const struct rule_filter *f, const struct path_names *base,
                const char *rel)
{
    char *paths[3] = {NULL};
    for (size_t i = 0; i < base->n; i++)
        paths[i] = *rel ? fs_join(base->v[i], rel) : xstrdup(base->v[i]);
    const struct perm_rule *r =
        rules_match_path(c->req->rules, f, "Edit", (const char *const *)paths, base->n, &c->anchor);
    for (size_t i = 0; i < base->n; i++)
        free(paths[i]);
    return r;
}

/* ---- one folder ---- */

struct trees {
    struct chain *c;
    const struct perm_leaf *l;
    const struct tree_row *row;
    const char *cwd;
    size_t n_places;
    bool named; /* an operand names something that is there */
    bool lost;  /* an operand is not known */
};

static void
judge_folder(struct trees *t, const char *path, const char *shown, const char *types)
{
    static const enum perm_span spans[] = {[TREE_READS] = SPAN_DISK,
                                           [TREE_LISTED] = SPAN_UNSEEN,
                                           [TREE_WRITES] = SPAN_DISK,
                                           [TREE_FILLS] = SPAN_UNSEEN,
                                           [TREE_TRACKED] = SPAN_TRACKED};
    struct chain *c = t->c;
    enum tree_does does = t->row->does;
    bool write = does >= TREE_WRITES;
    struct path_names n;
    if (t->n_places++ == PLACES_MAX)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, NULL, shown,
                  "it names more folders than are looked through for what rules for files name");
    if (t->n_places > PLACES_MAX ||
        chain_seen(c, xasprintf("tree %d %s\n%s\n%s", (int)does, t->cwd, path, types ? types : "")))
        return;
    path_names_init(&n, t->cwd, path, c->fold);
    const struct perm_rule *whole =
        write || does == TREE_READS ? trees_whole_rule(c, write ? "Edit" : "Read", &n) : NULL;
    struct access a = {.kind = write ? EFFECT_WRITE : EFFECT_READ_TREE,
                       .path = n.v[0],
                       .shown = shown,
                       .leaf = t->l,
                       .below = write,
                       .span = spans[does],
                       .types = types};
    if (whole)
        chain_add(c, "rules", VERDICT_DENY, FORCE_HARD, whole, shown,
                  "it %s what lies in '%s', which a deny rule is about",
                  write ? "changes" : "reads", shown);
    else
        access_rules(c, &a, &n);
    path_names_release(&n);
}

/* A file that it changes is named. */
static void
judge_file(struct trees *t, const char *path, const char *shown)
{
    struct chain *c = t->c;
    struct path_names n;
    if (chain_seen(c, xasprintf("tree file %s", path)))
        return;
    path_names_init(&n, t->cwd, path, c->fold);
    struct access a = {.kind = EFFECT_WRITE, .path = n.v[0], .shown = shown, .leaf = t->l};
    access_rules(c, &a, &n);
    path_names_release(&n);
}

/* What is not there now may be in another revision: a rule that places a file in it says so. */
static void
judge_missing(struct trees *t, const char *path, const char *shown)
{
    struct chain *c = t->c;
    struct path_names n;
    if (chain_seen(c, xasprintf("tree missing %s", path)))
        return;
    path_names_init(&n, t->cwd, path, c->fold);
    struct access a = {
        .kind = EFFECT_WRITE, .path = n.v[0], .shown = shown, .leaf = t->l, .below = true};
    access_rules(c, &a, &n);
    path_names_release(&n);
}

/* The folder it runs in; of git its whole repository. Where that is not known, the project. */
static void
judge_here(struct trees *t)
{
    char *top = t->row->does == TREE_TRACKED ? repo_find_top(t->cwd) : NULL;
    judge_folder(t, top ? top : t->cwd, ".", t->row->types);
    free(top);
}

/* "src/ **" that the program expands, "./..." of go: the folder before it, and what its last part says of the names. */
static void
judge_pattern_word(struct trees *t, struct str s)
{
    size_t cut = 0, last = 0;
    for (size_t i = 0; i < s.len && !strchr("*?[{", s.ptr[i]); i++)
        if (s.ptr[i] == '/')
            cut = i;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '/')
            last = i + 1;
    struct str tail = str_sub(s, last, s.len);
    char *dir = cut ? str_dup(str_sub(s, 0, cut)) : xstrdup("."), *shown = str_dup(s);
    char *types = NULL;
    bool plain = str_starts(tail, "*.") && tail.len > 2;
    for (size_t i = 2; plain && i < tail.len; i++)
        plain = strchr("*?[{(!", tail.ptr[i]) == NULL;
    if (plain)
        types = str_dup(str_sub(tail, 2, tail.len));
    t->named = true;
    judge_folder(t, dir, shown, types ? types : t->row->types);
    free(types);
    free(shown);
    free(dir);
}

static bool
has_type(const char *types, struct str name)
{
    struct str all = str_from(types), type;
    while (types && str_split(&all, ' ', &type))
        if (name.len > type.len && str_eq(str_sub(name, name.len - type.len, name.len), type) &&
            name.ptr[name.len - type.len - 1] == '.')
            return true;
    return false;
}

/* A file that the i-th word names is what the program works on, not the value of an option before it. */
static bool
names_file(const struct trees *t, size_t i, struct str s, bool there)
{
    struct str before = t->l->argv[i - 1].text;
    bool option = before.len > 1 && before.ptr[0] == '-' && !str_is(before, "--") &&
                  !trees_row_word(t->l, i - 1, t->row) && !leaf_is(t->l, "git");
    return !option && (there || has_type(t->row->types, s));
}

/* The i-th word is, or ends with, a place. */
static void
judge_place_word(struct trees *t, size_t i, struct str s)
{
    if (!s.len || s.len >= 4096 || memchr(s.ptr, '\0', s.len))
        return;
    if (str_ends(s, "/...") || str_is(s, "..."))
        s = s.len > 4 ? str_sub(s, 0, s.len - 4) : STR(".");
    char *text = str_dup(s), *path = fs_normalize(t->cwd, text);
    bool there = fs_exists(path), remote = str_find(s, ':', 0) != (size_t)-1;
    t->named = t->named || fs_is_dir(path) || names_file(t, i, s, there);
    if (there ? fs_is_dir(path) : t->row->does == TREE_FILLS && !remote) {
        judge_folder(t, path, text, t->row->types);
    } else if (there) {
        if (t->row->does == TREE_TRACKED || t->row->does == TREE_WRITES)
            judge_file(t, path, text);
    } else if (t->row->does == TREE_TRACKED && !strpbrk(text, ":*?[")) {
        judge_missing(t, path, text);
    } else if (t->row->does == TREE_TRACKED && (s.ptr[0] == ':' || strpbrk(text, "*?["))) {
        judge_here(t);
    } else if (strpbrk(text, "*?[{") && t->row->does == TREE_WRITES) {
        judge_pattern_word(t, s);
    } else if (!remote) {
        judge_folder(t, path, text, t->row->types); /* it may be there by then */
    }
    free(path);
    free(text);
}

/* What the shell makes of a pattern. */
static void
judge_glob_word(struct trees *t, struct str s)
{
    char *text = str_dup(s), *path = fs_normalize(t->cwd, text);
    glob_t g;
    int failed = path_glob(path, &g);
    if (failed && failed != GLOB_NOMATCH)
        t->lost = true;
    if (g.gl_pathc > GLOB_MAX)
        t->lost = true;
    for (size_t i = 0; !failed && i < g.gl_pathc && i < GLOB_MAX; i++) {
        t->named = true;
        t->lost = t->lost || !may_walk(LOOK_STAT);
        if (fs_is_dir(g.gl_pathv[i]))
            judge_folder(t, g.gl_pathv[i], g.gl_pathv[i], t->row->types);
    }
    globfree(&g);
    free(path);
    free(text);
}

/* ---- where ---- */

static bool
is_operand(const struct trees *t, size_t i, size_t name_at)
{
    const struct perm_word *w = &t->l->argv[i];
    /* "-m MESSAGE", "-b BRANCH" */
    bool value = leaf_is(t->l, "git") && i > 1 &&
                 trees_word_is(t->l, i - 1, STR("-m|-b|-B|-c|-C|--message|--orphan|--create"));
    return i != name_at && !value && !(w->known && w->text.len && w->text.ptr[0] == '-') &&
           !trees_row_word(t->l, i, t->row);
}

static size_t
last_operand(const struct trees *t, size_t name_at)
{
    for (size_t i = t->l->n_argv; i-- > name_at + 1;)
        if (is_operand(t, i, name_at))
            return i;
    return 0;
}

static void
judge_word(struct trees *t, size_t i)
{
    const struct perm_word *w = &t->l->argv[i];
    if (!w->known)
        t->lost = true;
    else if (w->glob)
        judge_glob_word(t, w->text);
    else
        judge_place_word(t, i, w->text);
}

static void
judge_operand_words(struct trees *t, size_t name_at)
{
    size_t last = t->row->where == AT_SOURCES ? last_operand(t, name_at) : 0;
    for (size_t i = name_at + 1; i < t->l->n_argv; i++)
        if (i != last && is_operand(t, i, name_at))
            judge_word(t, i);
    if (t->lost || (!t->named && t->row->where == AT_OPERANDS_OR_HERE))
        judge_here(t);
}

/* "scp -r host:x .": what comes from elsewhere has names that nobody sees. What lies here is copies.c's. */
static void
judge_target(struct trees *t, size_t name_at)
{
    size_t last = last_operand(t, name_at);
    bool remote = false;
    for (size_t i = name_at + 1; i < last; i++) {
        const struct perm_word *w = &t->l->argv[i];
        remote = remote || (is_operand(t, i, name_at) &&
                            (!w->known || str_find(w->text, ':', 0) != (size_t)-1));
    }
    if (remote)
        judge_word(t, last);
    if (t->lost)
        judge_here(t);
}

/* The value of one of the options, attached or as the next word. */
static bool
judge_option(struct trees *t)
{
    bool found = false;
    for (size_t i = 1; t->row->option && i < t->l->n_argv; i++) {
        struct str all = str_from(t->row->option), name, s = t->l->argv[i].text;
        while (str_split(&all, '|', &name)) {
            struct str v = str_from(NULL);
            bool starts = s.len > name.len && strncmp(s.ptr, name.ptr, name.len) == 0;
            if (str_eq(s, name) && i + 1 < t->l->n_argv)
                judge_word(t, i + 1);
            else if (starts && s.ptr[name.len] == '=')
                v = str_sub(s, name.len + 1, s.len);
            else if (starts && name.len == 2)
                v = str_sub(s, 2, s.len);
            else
                continue;
            found = true;
            size_t eq = str_find(v, '=', 0);
            if (v.len)
                judge_place_word(t, i, eq == (size_t)-1 ? v : str_sub(v, eq + 1, v.len));
        }
    }
    return found;
}

/* ---- a row ---- */

static void
judge_row_at(struct trees *t, size_t name_at)
{
    enum tree_where where = t->row->where;
    bool by_option = where == AT_OPTION || where == AT_VALUE;
    if (where == AT_HERE || (by_option && !judge_option(t) && where == AT_OPTION))
        judge_here(t);
    else if (where == AT_TARGET)
        judge_target(t, name_at);
    else if (!by_option)
        judge_operand_words(t, name_at);
    else if (t->lost)
        judge_here(t);
}

static void
judge_row(struct chain *c, const struct perm_leaf *l, const struct tree_row *r, size_t name_at)
{
    for (size_t i = 0; i < (l->n_cwds ? l->n_cwds : 1); i++) {
        const char *cwd = l->n_cwds ? l->cwds[i] : c->root;
        char *folder = leaf_is(l, "git") ? repo_git_folder(l, cwd) : xstrdup(cwd);
        char *at = fs_normalize(cwd, folder ? folder : c->root);
        struct trees t = {.c = c, .l = l, .row = r, .cwd = at, .lost = !folder};
        judge_row_at(&t, name_at);
        free(at);
        free(folder);
    }
}

static void
judge_table(struct chain *c, const struct perm_leaf *l, const struct tree_table *table)
{
    bool runner = trees_runner(l), trusted;
    size_t at;
    struct str name = program_name(l->argv[0].text, &trusted);
    char first = name.len ? name.ptr[0] : '\0';
    for (size_t i = 0; i < table->n; i++)
        if ((runner || table->v[i].program[0] == first) &&
            trees_runs(l, runner, table->v[i].program, &at) && trees_row_speaks(l, &table->v[i]))
            judge_row(c, l, &table->v[i], at);
}

void
judge_trees(struct chain *c, const struct perm_leaf *l)
{
    if (!l->n_argv || !l->name_known)
        return;
    if (trees_rules_exist(c, false))
        judge_table(c, l, &trees_read);
    if (trees_rules_exist(c, true))
        judge_table(c, l, &trees_write);
}
