#include "ext/memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/glob.h"
#include "ext/memory_text.h"

#define RULES_DEPTH 8
#define NAMES_MAX 10000 /* of one folder */

struct loader {
    const struct memory_options *o;
    struct memory *m;
    /* What a project's files may lead to, by links and imports. NULL: the user's own may lead anywhere. */
    const char *bound;
    size_t folders;             /* of rules, that were read */
    bool full, no_more_folders; /* told */
};

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

static bool
is_excluded(const struct memory_options *o, const char *path)
{
    for (char *const *g = o->excludes; g && *g; g++) {
        struct str pattern = str_from(*g), at = str_from(path);
        /* both without their leading slash: the matcher wants them so */
        if (str_starts(pattern, "/"))
            pattern = str_sub(pattern, 1, pattern.len);
        if (glob_match(pattern, str_sub(at, 1, at.len), GLOB_BRACES))
            return true;
    }
    return false;
}

static struct memory_file *
find(struct memory *m, const char *path)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->files[i].path, path) == 0)
            return &m->files[i];
    return NULL;
}

/* The rows move as they grow: what it gives is an index. */
static size_t
add_row(struct memory *m, enum memory_kind kind, const char *path, const char *by)
{
    ARRAY_GROW(m->files, m->n, m->cap);
    m->files[m->n] = (struct memory_file){
        .kind = kind, .path = xstrdup(path), .imported_by = by ? xstrdup(by) : NULL};
    return m->n++;
}

/* The first file past the most is told, the others are not looked at. */
static bool
has_room(struct loader *l, enum memory_kind kind, const char *path, const char *by)
{
    if (l->m->n < MEMORY_FILES_MAX)
        return true;
    if (!l->full) {
        size_t row = add_row(l->m, kind, path, by);
        l->m->files[row].left_out =
            xasprintf("only %d files are looked at, none from here on", MEMORY_FILES_MAX);
    }
    l->full = true;
    return false;
}

static void
leave_out(struct loader *l, enum memory_kind kind, const char *path, const char *by, char *take_why)
{
    if (!has_room(l, kind, path, by)) {
        free(take_why);
        return;
    }
    size_t row = add_row(l->m, kind, path, by);
    l->m->files[row].left_out = take_why;
}

static void
add_text(struct loader *l, size_t row, struct str text)
{
    struct memory *m = l->m;
    struct buf plain;
    buf_init(&plain, MEMORY_FILE_MAX);
    memory_strip(text, &plain);
    char *head = xasprintf("Contents of %s:\n\n", m->files[row].path);
    if (!str_trim(buf_str(&plain)).len) {
        m->files[row].left_out = xstrdup("it is empty");
        m->files[row].waits = true;
    } else if (m->text.len + strlen(head) + plain.len + 2 > MEMORY_MAX) {
        m->files[row].left_out =
            xasprintf("all instructions together may have %zu MiB", MEMORY_MAX >> 20);
    } else {
        buf_adds(&m->text, head);
        buf_add_str(&m->text, buf_str(&plain));
        buf_adds(&m->text, "\n\n");
        m->files[row].bytes = plain.len;
    }
    free(head);
    buf_release(&plain);
}

static void load(struct loader *l, enum memory_kind kind, const char *path, const char *by,
                 int hops);

/* A name that is no file is no import: people write "@someone". */
static void
follow(struct loader *l, enum memory_kind kind, const char *from, const char *as_written, int hops)
{
    const struct memory_options *o = l->o;
    char *dir = fs_dirname(from), *path;
    if (as_written[0] == '~' && as_written[1] == '/' && o->home)
        path = fs_normalize(o->home, as_written + 2);
    else
        path = fs_normalize(dir, as_written);
    struct err err = {0};
    char *real = fs_resolve(path, &err);
    if (!real || !fs_exists(real) || fs_is_dir(real)) {
        /* nothing to import */
    } else if (hops >= MEMORY_HOPS) {
        if (!find(l->m, path))
            leave_out(l, kind, path, from, xasprintf("imports go %d deep at most", MEMORY_HOPS));
    } else if (l->bound && !fs_is_within(real, l->bound)) {
        if (!find(l->m, path))
            leave_out(
                l, kind, path, from,
                xstrdup("it is outside the project; import it from your own memory file instead"));
    } else {
        load(l, kind, path, from, hops + 1);
    }
    free(real);
    free(path);
    free(dir);
}

static void
load_imports(struct loader *l, enum memory_kind kind, const char *path, struct str text, int hops)
{
    struct memory_imports it;
    struct buf name;
    buf_init(&name, 4096);
    memory_imports_init(&it, text);
    while (!l->full && memory_imports_next(&it, &name))
        if (!buf_full(&name) && strlen(buf_cstr(&name)) == name.len)
            follow(l, kind, path, buf_cstr(&name), hops);
    buf_release(&name);
}

/* Two names of one file (AGENTS.md as a link to CLAUDE.md) are one file. */
static bool
is_known(struct loader *l, const char *path)
{
    struct stat a, b;
    if (stat(path, &a) != 0)
        return false;
    for (size_t i = 0; i < l->m->n; i++)
        if (!l->m->files[i].left_out && stat(l->m->files[i].path, &b) == 0 &&
            a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            return true;
    return false;
}

/* Why it may not be read, yours; NULL: it may. */
static char *
forbidden(struct loader *l, const char *path)
{
    const struct memory_options *o = l->o;
    struct err err = {0};
    char *why = NULL, *real = fs_resolve(path, &err);
    if (!real)
        why = xstrdup(err.text);
    else if (l->bound && !fs_is_within(real, l->bound))
        why = xasprintf("it is a link to '%s', outside the project", real);
    else if (o->may_read && (!o->may_read(o->user, path) || !o->may_read(o->user, real)))
        why = xstrdup("a rule denies reading it");
    free(real);
    return why;
}

static void
load(struct loader *l, enum memory_kind kind, const char *path, const char *by, int hops)
{
    const struct memory_options *o = l->o;
    struct buf b;
    struct str text;
    struct err err = {0};
    bool found = false;
    if (l->full || is_excluded(o, path) || is_known(l, path))
        return;
    if (fs_exists(path) && !has_room(l, kind, path, by))
        return;
    buf_init(&b, MEMORY_FILE_MAX);
    char *why = fs_exists(path) ? forbidden(l, path) : NULL;
    if (why) {
        leave_out(l, kind, path, by, why);
    } else if (!fs_read_if(path, MEMORY_FILE_MAX, &b, &found, &err)) {
        leave_out(l, kind, path, by, xstrdup(err.text));
    } else if (found) {
        size_t row = add_row(l->m, kind, path, by);
        bool waits = memory_has_paths(buf_str(&b), &text) && kind == MEMORY_RULES;
        l->m->files[row].waits = waits;
        if (waits)
            l->m->files[row].left_out = xstrdup("it waits for a file of its paths");
        else
            add_text(l, row, kind == MEMORY_RULES ? text : buf_str(&b));
        if (!waits)
            load_imports(l, kind, path, buf_str(&b), hops);
    }
    buf_release(&b);
}

static void
load_in(struct loader *l, enum memory_kind kind, const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    load(l, kind, path, NULL, 0);
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
        leave_out(l, MEMORY_RULES, dir, NULL,
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
            load(l, MEMORY_RULES, path, NULL, 0);
        free(path);
        free(names[i]);
    }
    if (!all)
        leave_out(l, MEMORY_RULES, dir, NULL,
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
load_chain(struct loader *l)
{
    const struct memory_options *o = l->o;
    struct chain c = {0};
    make_chain(o, &c);
    bool agents = o->both || !has_claude(&c);
    for (size_t i = 0; i < c.n; i++) {
        const char *dir = c.dirs[i];
        char *rules = fs_join(dir, ".claude/rules");
        l->bound = fs_is_within(dir, o->root) ? o->root : dir;
        load_in(l, MEMORY_PROJECT, dir, "CLAUDE.md");
        if (!has(dir, "CLAUDE.md") && !is_users(o, dir))
            load_in(l, MEMORY_PROJECT, dir, ".claude/CLAUDE.md");
        if (agents)
            load_in(l, MEMORY_PROJECT, dir, "AGENTS.md");
        load_in(l, MEMORY_LOCAL, dir, "CLAUDE.local.md");
        if (!is_users(o, dir))
            load_rules(l, rules, 0);
        free(rules);
        free(c.dirs[i]);
    }
    free(c.dirs);
}

void
memory_load(const struct memory_options *o, struct memory *ret)
{
    struct loader l = {.o = o, .m = ret};
    char *managed = fs_join(o->system_dir ? o->system_dir : "/etc", "claude-code/CLAUDE.md");
    load(&l, MEMORY_MANAGED, managed, NULL, 0);
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
    char *why = forbidden(l, rule);
    if (!why && fs_read_if(rule, MEMORY_FILE_MAX, &b, &found, &err) && found &&
        memory_paths_match(buf_str(&b), path_for_rule(l->o, rule, path))) {
        free(m->files[row].left_out);
        m->files[row].left_out = NULL;
        m->files[row].waits = false;
        (void)memory_has_paths(buf_str(&b), &body);
        add_text(l, row, body);
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

static void
load_folder(struct loader *l, const char *dir, bool agents)
{
    char *rules = fs_join(dir, ".claude/rules");
    load_in(l, MEMORY_PROJECT, dir, "CLAUDE.md");
    if (!has(dir, "CLAUDE.md"))
        load_in(l, MEMORY_PROJECT, dir, ".claude/CLAUDE.md");
    if (agents)
        load_in(l, MEMORY_PROJECT, dir, "AGENTS.md");
    load_in(l, MEMORY_LOCAL, dir, "CLAUDE.local.md");
    load_rules(l, rules, 0);
    free(rules);
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
    for (size_t i = 0; i < c.n; i++)
        free(c.dirs[i]);
    free(c.dirs);
    free(dir);
}
