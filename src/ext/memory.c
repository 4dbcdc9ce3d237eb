#include "ext/memory_private.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "ext/memory_text.h"

#define RULES_DEPTH 8
#define NAMES_MAX 10000 /* of one folder */

const char *
memory_kind_name(enum memory_kind k)
{
    static const char *const names[] = {
        [MEMORY_MANAGED] = "managed", [MEMORY_USER] = "user",   [MEMORY_PROJECT] = "project",
        [MEMORY_LOCAL] = "local",     [MEMORY_RULES] = "rules",
    };
    return names[k];
}

void
memory_init(struct memory *m)
{
    *m = (struct memory){0};
    buf_init(&m->text, MEMORY_MAX);
}

void
memory_release(struct memory *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->files[i].path);
        free(m->files[i].imported_by);
        free(m->files[i].left_out);
    }
    free(m->files);
    buf_release(&m->text);
    *m = (struct memory){0};
}

static void
load_in(struct loader *l, enum memory_kind kind, const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    memory_file_load(l, kind, path, NULL, 0);
    free(path);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted; yours. *ret_all false: there are more. */
static char **
names_in(const char *dir, size_t *ret_n, bool *ret_all)
{
    char **names = NULL;
    size_t n = 0, cap = 0;
    struct dirent *e = NULL;
    DIR *d = opendir(dir);
    while (d && n < NAMES_MAX && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        ARRAY_GROW(names, n, cap);
        names[n++] = xstrdup(e->d_name);
    }
    *ret_all = !e;
    if (d)
        closedir(d);
    if (n)
        qsort(names, n, sizeof *names, by_name);
    *ret_n = n;
    return names;
}

/* A few links that lead back up are a tree without end, so that depth alone is no bound. */
static bool
may_enter(struct loader *l, const char *dir)
{
    if (l->folders < MEMORY_FOLDERS_MAX) {
        l->folders++;
        return true;
    }
    if (!l->no_more_folders)
        memory_file_leave_out(
            l, MEMORY_RULES, dir, NULL,
            xasprintf("only %d folders of rules are looked into", MEMORY_FOLDERS_MAX));
    l->no_more_folders = true;
    return false;
}

static void
load_rules(struct loader *l, const char *dir, int depth)
{
    size_t n;
    bool all;
    if (!fs_is_dir(dir) || !may_enter(l, dir))
        return;
    char **names = names_in(dir, &n, &all);
    for (size_t i = 0; i < n; i++) {
        char *path = fs_join(dir, names[i]);
        if (fs_is_dir(path) && depth < RULES_DEPTH && !l->full && !l->no_more_folders)
            load_rules(l, path, depth + 1);
        else if (str_ends(str_from(names[i]), ".md"))
            memory_file_load(l, MEMORY_RULES, path, NULL, 0);
        free(path);
        free(names[i]);
    }
    if (!all)
        memory_file_leave_out(l, MEMORY_RULES, dir, NULL,
                              xasprintf("only %d names of a folder are looked at", NAMES_MAX));
    free(names);
}

static void
load_user(struct loader *l)
{
    const struct memory_options *o = l->o;
    char *dir = o->claude_dir ? xstrdup(o->claude_dir)
                : o->home     ? fs_join(o->home, ".claude")
                              : NULL;
    if (dir) {
        char *rules = fs_join(dir, "rules");
        load_in(l, MEMORY_USER, dir, "CLAUDE.md");
        load_rules(l, rules, 0);
        free(rules);
    }
    free(dir);
    if (o->config_dir)
        load_in(l, MEMORY_USER, o->config_dir, "AGENTS.md");
}

/* ---- the chain of folders ---- */

struct chain {
    char **dirs;
    size_t n, cap;
};

/* From the topmost folder down to the working folder. */
static void
make_chain(const struct memory_options *o, struct chain *c)
{
    const char *top = o->home && fs_is_within(o->root, o->home) ? o->home : o->root;
    const char *bottom = fs_is_within(o->cwd, o->root) ? o->cwd : o->root;
    char *dir = xstrdup(bottom);
    while (fs_is_within(dir, top)) {
        ARRAY_GROW(c->dirs, c->n, c->cap);
        memmove(c->dirs + 1, c->dirs, c->n++ * sizeof *c->dirs);
        c->dirs[0] = dir;
        char *up = fs_dirname(dir);
        bool at_top = strcmp(up, dir) == 0;
        dir = up;
        if (at_top)
            break;
    }
    free(dir);
}

static bool
has(const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    bool yes = fs_exists(path);
    free(path);
    return yes;
}

static bool
has_claude(const struct chain *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (has(c->dirs[i], "CLAUDE.md") || has(c->dirs[i], ".claude/CLAUDE.md") ||
            has(c->dirs[i], "CLAUDE.local.md"))
            return true;
    return false;
}

/* The home folder's .claude is the user's own, not a project's. */
static bool
is_users(const struct memory_options *o, const char *dir)
{
    return o->home && strcmp(dir, o->home) == 0;
}

static void
load_folder(struct loader *l, const char *dir, bool agents)
{
    bool users = is_users(l->o, dir);
    char *rules = fs_join(dir, ".claude/rules");
    load_in(l, MEMORY_PROJECT, dir, "CLAUDE.md");
    if (!has(dir, "CLAUDE.md") && !users)
        load_in(l, MEMORY_PROJECT, dir, ".claude/CLAUDE.md");
    if (agents)
        load_in(l, MEMORY_PROJECT, dir, "AGENTS.md");
    load_in(l, MEMORY_LOCAL, dir, "CLAUDE.local.md");
    if (!users)
        load_rules(l, rules, 0);
    free(rules);
}

static void
chain_release(struct chain *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->dirs[i]);
    free(c->dirs);
}

static void
load_chain(struct loader *l)
{
    const struct memory_options *o = l->o;
    struct chain c = {0};
    make_chain(o, &c);
    bool agents = o->both || !has_claude(&c);
    for (size_t i = 0; i < c.n; i++) {
        l->bound = fs_is_within(c.dirs[i], o->root) ? o->root : c.dirs[i];
        load_folder(l, c.dirs[i], agents);
    }
    chain_release(&c);
}

void
memory_load(const struct memory_options *o, struct memory *ret)
{
    struct loader l = {.o = o, .m = ret};
    char *managed = fs_join(o->system_dir ? o->system_dir : "/etc", "claude-code/CLAUDE.md");
    memory_file_load(&l, MEMORY_MANAGED, managed, NULL, 0);
    free(managed);
    load_user(&l);
    load_chain(&l);
}

/* ---- what waits ---- */

/* A rule's globs are relative to the folder its .claude stands in; the person's own, to the project. */
static struct str
path_for_rule(const struct memory_options *o, const char *rule, const char *path)
{
    const char *at = strstr(rule, "/.claude/rules/");
    char *base = at ? str_dup(str_make(rule, (size_t)(at - rule))) : xstrdup(o->root);
    if (!fs_is_within(path, base) || is_users(o, base)) {
        free(base);
        base = xstrdup(o->root);
    }
    struct str rel = str_from(path);
    size_t n = strlen(base);
    if (fs_is_within(path, base) && n < rel.len)
        rel = str_sub(rel, n == 1 ? 1 : n + 1, rel.len);
    free(base);
    return rel;
}

static void
wake_rule(struct loader *l, size_t row, const char *path)
{
    struct memory *m = l->m;
    struct buf b;
    struct str body;
    struct err err = {0};
    bool found = false;
    char *rule = m->files[row].path;
    buf_init(&b, MEMORY_FILE_MAX);
    char *why = memory_file_forbidden(l, rule);
    if (!why && fs_read_if(rule, MEMORY_FILE_MAX, &b, &found, &err) && found &&
        memory_paths_match(buf_str(&b), path_for_rule(l->o, rule, path))) {
        free(m->files[row].left_out);
        m->files[row].left_out = NULL;
        m->files[row].waits = false;
        (void)memory_has_paths(buf_str(&b), &body);
        memory_file_add_text(l, row, body);
    }
    free(why);
    buf_release(&b);
}

static void
wake_rules(struct loader *l, const char *path)
{
    for (size_t i = 0; i < l->m->n; i++)
        if (l->m->files[i].waits && l->m->files[i].kind == MEMORY_RULES)
            wake_rule(l, i, path);
}

void
memory_touch(const struct memory_options *o, struct memory *m, const char *path, bool visited)
{
    struct loader l = {.o = o, .m = m, .bound = o->root};
    struct chain c = {0};
    char *dir = fs_dirname(path);
    if (fs_is_within(dir, o->root) && strcmp(dir, o->root) != 0 && !visited) {
        struct memory_options below = *o;
        below.home = NULL; /* the chain begins at the root */
        below.cwd = dir;
        make_chain(&below, &c);
        bool agents = o->both || !has_claude(&c);
        for (size_t i = 1; i < c.n; i++) /* the root's own are known */
            load_folder(&l, c.dirs[i], agents);
    }
    if (fs_is_within(path, o->root))
        wake_rules(&l, path);
    chain_release(&c);
    free(dir);
}
