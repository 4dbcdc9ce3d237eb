/*
 * What a copy of a folder brings: "cp -r tmpl/config ." writes config/app.yml without naming it. The folder that is copied is looked
 * through, and each name that will lie where it goes is held against the rules for Edit: a deny rule that names one denies,
 * whoever allowed the program. Past a number of entries any rule for what lies there asks.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/lasts.h"
#include "perm/looks.h"
#include "perm/matches.h"
#include "perm/trees.h"

enum { ENTRIES_MAX = 12000, DEPTH_MAX = 32, SOURCES_MAX = 500 };

/* Rules of one list, the first one first. */
struct spoken {
    const struct rule_filter *list;
    struct speaker {
        const struct perm_rule *rule;
        struct lasts lasts;
    } * v;
    size_t n, cap;
    bool
        began; /* what names the folder itself, or one that holds it, would have named the first thing in it */
};

struct copies {
    struct chain *c;
    const struct perm_leaf *l;
    const char *cwd, *shown;
    struct path_names to;    /* the folder that is copied into */
    bool certain;            /* all that lies there is copied */
    bool inside;             /* of rsync: "x/" brings what lies in x, "x" the folder itself */
    struct spoken deny, ask; /* the rules that speak of something below `to` */
    bool asked, done, lost;
    size_t entries;
};

/* ---- what lies in a source ---- */

/* The first rule that names `rel` below what is copied into. */
static const struct perm_rule *
speaks_of(const struct copies *k, struct spoken *s, const char *rel)
{
    const struct perm_rule *found = NULL;
    char *paths[3] = {NULL};
    struct last_name last;
    last_name_init(&last, rel, s->n);
    for (size_t i = 0; i < s->n && !found; i++) {
        const struct speaker *v = &s->v[i];
        const struct perm_rules one = {.rules = (struct perm_rule *)v->rule, .n = 1};
        if (s->began && v->rule->body && !lasts_may(&v->lasts, &last, k->c->fold))
            continue;
        for (size_t j = 0; j < k->to.n && !paths[j]; j++)
            paths[j] = fs_join(k->to.v[j], rel);
        if (rules_match_path(&one, s->list, "Edit", (const char *const *)paths, k->to.n,
                             &k->c->anchor))
            found = v->rule;
    }
    s->began = true;
    for (size_t j = 0; j < ARRAY_LEN(paths); j++)
        free(paths[j]);
    last_name_release(&last);
    return found;
}

static void
held_against(struct copies *k, const char *rel)
{
    struct chain *c = k->c;
    const struct perm_rule *r = speaks_of(k, &k->deny, rel);
    if (r) {
        chain_add(c, "rules", k->certain ? VERDICT_DENY : VERDICT_ASK, FORCE_HARD, r, k->shown,
                  "it writes '%s/%s', which a deny rule names", k->to.v[0], rel);
        k->done = true;
        return;
    }
    r = k->asked ? NULL : speaks_of(k, &k->ask, rel);
    if (r) {
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, r, k->shown,
                  "it writes '%s/%s', which an ask rule names", k->to.v[0], rel);
        k->asked = true;
    }
}

static bool
is_folder(const struct dirent *e, const char *path)
{
    struct stat st;
    if (e->d_type != DT_UNKNOWN)
        return e->d_type == DT_DIR;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
look_in(struct copies *k, const char *dir, const char *rel, int depth)
{
    DIR *d = depth > DEPTH_MAX ? NULL : opendir(dir);
    k->lost = k->lost || depth > DEPTH_MAX || !may_walk(LOOK_FOLDER);
    for (struct dirent *e; d && !k->done && !k->lost && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        k->lost = ++k->entries > ENTRIES_MAX || !may_walk(LOOK_NAME);
        char *at = fs_join(dir, e->d_name);
        char *below = *rel ? fs_join(rel, e->d_name) : xstrdup(e->d_name);
        held_against(k, below);
        if (!k->done && is_folder(e, at))
            look_in(k, at, below, depth + 1);
        free(at);
        free(below);
    }
    if (d)
        closedir(d);
}

/* ---- operands ---- */

static bool
copies_folders(const struct perm_leaf *l)
{
    static const char *const always[] = {"mv", "rsync", "ditto", "cpdup"};
    if (leaf_is(l, "cp") || leaf_is(l, "gcp"))
        return trees_has(l, "~r|~R|~a|--recursive|--archive|--recur*|--arch*");
    if (leaf_is(l, "cmake"))
        return trees_has(l, "-E copy_directory|copy_directory_if_different|rename");
    if (leaf_is(l, "git"))
        return trees_has(l, "mv");
    return leaf_is_any(l, always, ARRAY_LEN(always));
}

/* The words that belong to the sub-command, not to the copy. */
static bool
is_verb(const struct perm_leaf *l, struct str s)
{
    if (leaf_is(l, "git"))
        return str_is(s, "mv");
    return leaf_is(l, "cmake") && (str_starts(s, "copy_directory") || str_is(s, "rename"));
}

/* "-t DIR", "--target-directory=DIR": the folder; *ret_skip: the word that holds it alone, or 0. */
static struct str
target_option(const struct perm_leaf *l, size_t *ret_skip)
{
    *ret_skip = 0;
    bool has = leaf_is(l, "cp") || leaf_is(l, "mv");
    for (size_t i = 1; has && i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if ((str_is(s, "-t") || str_is(s, "--target-directory") ||
             (s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-' && s.ptr[s.len - 1] == 't')) &&
            i + 1 < l->n_argv) {
            *ret_skip = i + 1;
            return l->argv[i + 1].text;
        }
        if (str_starts(s, "--target-directory="))
            return str_sub(s, strlen("--target-directory="), s.len);
        if (str_starts(s, "-t") && s.len > 2)
            return str_sub(s, 2, s.len);
    }
    return str_from(NULL);
}

static bool
is_option(const struct perm_leaf *l, size_t i)
{
    struct str s = l->argv[i].text;
    return l->argv[i].known && s.len > 1 && s.ptr[0] == '-';
}

/* The last operand before word `end`: options may come behind it ("cp -r a b -v"), unless "--" ended them. */
static size_t
last_operand(const struct perm_leaf *l, size_t end)
{
    size_t i = end - 1;
    while (i > 1 && is_option(l, i) && !trees_has(l, "--"))
        i--;
    return i;
}

struct str
copies_target(const struct perm_leaf *l, size_t *ret_end, size_t *ret_skip)
{
    struct str target = target_option(l, ret_skip);
    *ret_end = target.len ? l->n_argv : last_operand(l, l->n_argv);
    return target.len ? target : l->argv[*ret_end].text;
}

static bool
is_source(const struct perm_leaf *l, size_t i, size_t skip)
{
    const struct perm_word *w = &l->argv[i];
    return i != skip && w->known && w->text.len && w->text.len < 4096 && w->text.ptr[0] != '-' &&
           !memchr(w->text.ptr, '\0', w->text.len) && !is_verb(l, w->text);
}

/* An earlier part of the call puts something there first. */
static bool
is_written_first(const struct copies *k, const char *path)
{
    const struct chain *c = k->c;
    for (size_t i = 0; i < c->sh.n_leaves && &c->sh.leaves[i] != k->l; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        for (size_t e = 0; e < l->n_effects; e++)
            if (l->effects[e].kind == EFFECT_WRITE &&
                (!l->effects[e].path || path_inside(l->effects[e].path, path, c->fold)))
                return true;
    }
    return false;
}

/* One folder or file that is copied. */
static void
judge_source(struct copies *k, const char *word, bool into)
{
    char *path = fs_normalize(k->cwd, word);
    size_t n = strlen(word);
    bool contents = !into || (n && strcmp(fs_basename(word), ".") == 0) ||
                    (k->inside && n && word[n - 1] == '/');
    const char *name = fs_basename(path);
    if (!contents)
        held_against(k, name);
    k->lost = k->lost || is_written_first(k, path) || !fs_exists(path);
    if (!k->done && fs_is_dir(path))
        look_in(k, path, contents ? "" : name, 0);
    free(path);
}

static void
judge_sources(struct copies *k, size_t last, size_t skip, bool into)
{
    for (size_t i = 1; i < last && !k->done; i++) {
        if (!is_source(k->l, i, skip))
            continue;
        char *word = str_dup(k->l->argv[i].text), *path = fs_normalize(k->cwd, word);
        glob_t g = {0};
        if (!k->l->argv[i].glob)
            judge_source(k, word, into);
        else if (path_glob(path, &g) != 0 || g.gl_pathc > SOURCES_MAX)
            k->lost = true;
        for (size_t m = 0; m < g.gl_pathc && m < SOURCES_MAX && !k->done; m++)
            judge_source(k, g.gl_pathv[m], true);
        globfree(&g);
        free(path);
        free(word);
    }
}

static size_t
count_sources(const struct perm_leaf *l, size_t last, size_t skip, bool *ret_glob)
{
    size_t n = 0;
    for (size_t i = 1; i < last; i++) {
        n += is_source(l, i, skip);
        *ret_glob = *ret_glob || l->argv[i].glob;
    }
    return n;
}

/* Some of what lies there may be left out: then it is not certain that anything is written. */
static bool
is_certain(const struct perm_leaf *l)
{
    if (leaf_is(l, "cp") || leaf_is(l, "mv"))
        return !trees_has(l, "~n|~u|~i|--no-clobber|--update*|--interactive*");
    return !leaf_is(l, "rsync") ||
           !trees_has(l, "~n|~u|--dry-run|--exclude*|--include*|--filter*|--existing|-f|"
                         "--ignore-existing|--max-size*|--min-size*|~C|~F");
}

static void
spoken_init(struct spoken *s, const struct copies *k, const struct rule_filter *f)
{
    const struct chain *c = k->c;
    *s = (struct spoken){.list = f};
    const struct perm_rules *rs = c->req->rules;
    bool looked = rs && may_pass(rs->n);
    for (size_t i = 0; looked && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        const struct perm_rules one = {.rules = (struct perm_rule *)r, .n = 1};
        bool below = false;
        for (size_t j = 0; j < k->to.n && !below && rule_counts(r, f); j++)
            below = rules_overlap_path(&one, f, "Edit", k->to.v[j], true, &c->anchor) != NULL;
        if (!below)
            continue;
        ARRAY_GROW(s->v, s->n, s->cap);
        s->v[s->n] = (struct speaker){.rule = r};
        if (r->body)
            lasts_init(&s->v[s->n].lasts, r);
        s->n++;
    }
}

static void
spoken_release(struct spoken *s)
{
    for (size_t i = 0; i < s->n; i++)
        lasts_release(&s->v[i].lasts);
    free(s->v);
}

static void
judge_from(struct copies *k, struct str target, size_t last, size_t skip)
{
    struct chain *c = k->c;
    char *into = str_dup(target), *dir = fs_normalize(k->cwd, into);
    bool some = last == k->l->n_argv; /* -t, or a pattern for several */
    bool many = count_sources(k->l, last, skip, &some) > 1 || some;
    bool onto = trees_has(k->l, "~T|--no-target-directory") || leaf_is(k->l, "ditto") ||
                (leaf_is(k->l, "cmake") && !trees_has(k->l, "rename"));
    bool folder = leaf_is(k->l, "rsync") || many || fs_is_dir(dir);
    path_names_init(&k->to, k->cwd, into, c->fold);
    k->shown = into;
    spoken_init(&k->deny, k, &c->deny);
    spoken_init(&k->ask, k, &c->ask);
    if (k->deny.n || k->ask.n)
        judge_sources(k, last, skip, folder && !onto);
    const struct perm_rule *r = k->deny.n               ? k->deny.v[0].rule
                                : k->ask.n && !k->asked ? k->ask.v[0].rule
                                                        : NULL;
    if (r && k->lost && !k->done)
        chain_add(
            c, "rules", VERDICT_ASK, FORCE_HARD, r, into,
            "what is copied into '%s' is too much to look through, and the rule names some of "
            "what may lie there",
            into);
    spoken_release(&k->deny);
    spoken_release(&k->ask);
    path_names_release(&k->to);
    free(dir);
    free(into);
}

static void
judge_into(struct chain *c, const struct perm_leaf *l, struct str target, size_t last, size_t skip,
           bool sure)
{
    /* "host:x" is not here. */
    if (target.len >= 4096 || memchr(target.ptr, '\0', target.len) || !target.len ||
        (leaf_is(l, "rsync") && memchr(target.ptr, ':', target.len)))
        return;
    for (size_t i = 0; i < l->n_cwds; i++) {
        struct copies k = {.c = c, .l = l, .cwd = l->cwds[i], .certain = sure && is_certain(l)};
        k.inside = leaf_is(l, "rsync");
        judge_from(&k, target, last, skip);
    }
}

void
judge_copies(struct chain *c, const struct perm_leaf *l)
{
    if (l->n_argv < 3 || !l->name_known || !trees_rules_exist(c, true) || !copies_folders(l))
        return;
    size_t last, skip;
    struct str target = copies_target(l, &last, &skip);
    if (last == l->n_argv)
        judge_into(c, l, target, last, skip, true);
    /* "rsync a b --exclude c": the last word may be the value of the option before it. */
    for (bool sure = true; last > 1 && last < l->n_argv; sure = false) {
        judge_into(c, l, l->argv[last].text, last, skip, sure);
        if (!is_option(l, last - 1) ||
            memchr(l->argv[last - 1].text.ptr, '=', l->argv[last - 1].text.len))
            break;
        last = last_operand(l, last);
    }
}
