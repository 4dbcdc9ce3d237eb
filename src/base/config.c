/* Finding and reading the files of every scope. What they say is asked in config_get.c. */
#include "base/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/config_impl.h"
#include "base/fs.h"

#define FILE_MAX ((size_t)4 << 20)

const char *
scope_name(enum scope s)
{
    static const char *const names[SCOPE_COUNT] = {"managed", "cli", "local", "project", "user"};
    return names[s];
}

void
config_note(struct config_notes *notes, const char *file, int line, const char *fmt, ...)
{
    struct buf text;
    va_list ap;
    buf_init(&text, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    ARRAY_GROW(notes->list, notes->n, notes->cap);
    notes->list[notes->n++] =
        (struct config_problem){.file = xstrdup(file), .line = line, .text = buf_take(&text)};
}

/* The JSON scanner ends its texts with "(line N)". */
static int
line_in(const struct err *err)
{
    const char *p = strstr(err->text, "(line ");
    return p ? atoi(p + 6) : 0;
}

static void
add_source(struct config *c, enum scope scope, bool claude, const char *file, struct buf *take_text,
           struct cJSON *take_tree)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 8;
        c->sources = xreallocarray(c->sources, c->cap, sizeof *c->sources);
        c->files = xreallocarray(c->files, c->cap, sizeof *c->files);
    }
    c->sources[c->n] =
        (struct config_source){.scope = scope, .claude = claude, .file = xstrdup(file)};
    c->files[c->n] = (struct config_file){.text = *take_text, .tree = take_tree};
    c->n++;
}

/* The file is bad: as it stood when it was read last it stays in force, or its deny rules would go with it. */
static void
keep_last(struct config *c, enum scope scope, bool claude, const char *file, int line,
          const char *problem)
{
    const struct config *last = c->last;
    size_t i = 0;
    while (last && i < last->n &&
           (last->sources[i].scope != scope || strcmp(last->sources[i].file, file)))
        i++;
    if (!last || i == last->n) {
        config_note(&c->problems, file, line,
                    "%s; the file is ignored until it is mended, and until then every call asks",
                    problem);
        c->problems.list[c->problems.n - 1].broken = true;
        return;
    }
    struct buf text;
    buf_init(&text, FILE_MAX + 1);
    buf_add_str(&text, buf_str(&last->files[i].text));
    struct cJSON *tree = json_parse(buf_str(&text), NULL);
    config_note(&c->problems, file, line, "%s; until it is mended it counts as it was before",
                problem);
    add_source(c, scope, claude, file, &text, tree);
}

static void
accept_text(struct config *c, enum scope scope, bool claude, const char *file,
            struct buf *take_text)
{
    struct err err = {0};
    struct str text = buf_str(take_text);
    if (str_starts(text, "\xEF\xBB\xBF"))
        buf_remove_front(take_text, 3);
    text = buf_str(take_text);
    struct cJSON *tree = NULL;
    if (str_trim(text).len == 0) { /* somebody made the file and did not fill it yet */
        buf_release(take_text);
        return;
    }
    tree = json_parse(text, &err);
    if (tree && !json_is_object(tree)) {
        json_free(tree);
        tree = NULL;
        err_set(&err, ERR_PARSE, "settings must be a JSON object (line 1)");
    }
    if (!tree) {
        keep_last(c, scope, claude, file, line_in(&err), err.text);
        buf_release(take_text);
        return;
    }
    add_source(c, scope, claude, file, take_text, tree);
}

static struct config_place
look_at(char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (struct config_place){.path = path, .mtime_ns = -1};
    return (struct config_place){.path = path,
                                 .mtime_ns = fs_mtime_ns(&st),
                                 .size = (int64_t)st.st_size,
                                 .inode = (uint64_t)st.st_ino};
}

/* Before it is read: what changes from then on makes the config stale. */
static void
add_place(struct config *c, const char *path)
{
    ARRAY_GROW(c->places, c->n_places, c->cap_places);
    c->places[c->n_places++] = look_at(xstrdup(path));
}

bool
config_is_stale(const struct config *c)
{
    for (size_t i = 0; i < c->n_places; i++) {
        const struct config_place *was = &c->places[i];
        struct config_place now = look_at(was->path);
        if (now.mtime_ns != was->mtime_ns || now.size != was->size || now.inode != was->inode)
            return true;
    }
    return false;
}

static void
read_file(struct config *c, enum scope scope, bool claude, const char *file, bool required)
{
    struct buf text;
    struct err err = {0};
    bool found = false;
    add_place(c, file);
    buf_init(&text, FILE_MAX + 1);
    if (!fs_read_if(file, FILE_MAX, &text, &found, &err)) {
        keep_last(c, scope, claude, file, 0, err.text);
    } else if (found) {
        accept_text(c, scope, claude, file, &text);
        return;
    } else if (required) {
        config_note(&c->problems, file, 0, "there is no such settings file");
    }
    buf_release(&text);
}

static void
read_in(struct config *c, enum scope scope, bool claude, const char *dir, const char *name)
{
    char *file = fs_join(dir, name);
    read_file(c, scope, claude, file, false);
    free(file);
}

static int
is_json(const struct dirent *d)
{
    return d->d_name[0] != '.' && str_ends(str_from(d->d_name), ".json");
}

static int
backwards(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

static void
read_managed(struct config *c, const char *system_dir)
{
    char *claude = fs_join(system_dir, "claude-code"), *drop_in = NULL;
    struct dirent **names = NULL;
    read_in(c, SCOPE_MANAGED, false, system_dir, "yare/settings.json");
    drop_in = fs_join(claude, "managed-settings.d");
    add_place(c, drop_in);
    int n = scandir(drop_in, &names, is_json, backwards); /* the later name wins */
    if (n < 0 && errno != ENOENT && errno != ENOTDIR) {
        config_note(&c->problems, drop_in, 0, "cannot be listed: %s", strerror(errno));
        c->problems.list[c->problems.n - 1].broken = true;
    }
    for (int i = 0; i < n; i++) {
        read_in(c, SCOPE_MANAGED, true, drop_in, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    read_in(c, SCOPE_MANAGED, true, claude, "managed-settings.json");
    free(drop_in);
    free(claude);
}

static void
read_cli(struct config *c, const char *settings)
{
    if (str_starts(str_trim(str_from(settings)), "{")) {
        struct buf text;
        buf_init(&text, FILE_MAX);
        if (!buf_adds(&text, settings)) {
            config_note(&c->problems, "", 0, "--settings is too long");
            buf_release(&text);
            return;
        }
        accept_text(c, SCOPE_CLI, false, "", &text);
        return;
    }
    read_file(c, SCOPE_CLI, false, settings, true);
}

static bool
same_place(const char *a, const char *b)
{
    char *x = fs_resolve(a, NULL), *y = fs_resolve(b, NULL);
    bool same = x && y && !strcmp(x, y);
    free(x);
    free(y);
    return same;
}

static void
read_folders(struct config *c, const struct config_paths *p)
{
    const char *moved = getenv("CLAUDE_CONFIG_DIR");
    char *claude = moved && *moved ? xstrdup(moved) : fs_join(p->home, ".claude");
    if (p->project_root) {
        char *shared = fs_join(p->project_root, ".claude");
        read_in(c, SCOPE_LOCAL, false, p->project_root, ".yare/settings.local.json");
        read_in(c, SCOPE_LOCAL, true, p->project_root, ".claude/settings.local.json");
        read_in(c, SCOPE_PROJECT, false, p->project_root, ".yare/settings.json");
        if (!same_place(shared, claude)) /* at home that file is the user's */
            read_in(c, SCOPE_PROJECT, true, p->project_root, ".claude/settings.json");
        free(shared);
    }
    read_in(c, SCOPE_USER, false, p->config_dir, "settings.json");
    read_in(c, SCOPE_USER, true, claude, "settings.json");
    free(claude);
}

struct config *
config_load(const struct config_paths *paths)
{
    return config_reload(paths, NULL);
}

struct config *
config_reload(const struct config_paths *paths, const struct config *last)
{
    struct config *c = xcalloc(1, sizeof *c);
    c->last = last;
    read_managed(c, paths->system_dir ? paths->system_dir : "/etc");
    if (paths->cli_settings)
        read_cli(c, paths->cli_settings);
    read_folders(c, paths);
    for (size_t i = 0; i < c->n; i++)
        config_check_keys(c, i);
    c->last = NULL;
    return c;
}

const struct config_problem *
config_broken(const struct config *c)
{
    for (size_t i = 0; i < c->problems.n; i++)
        if (c->problems.list[i].broken)
            return &c->problems.list[i];
    return NULL;
}

static void
release_notes(struct config_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++) {
        free(notes->list[i].file);
        free(notes->list[i].text);
    }
    free(notes->list);
}

void
config_free(struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        free(c->sources[i].file);
        buf_release(&c->files[i].text);
        json_free(c->files[i].tree);
    }
    for (size_t i = 0; i < c->n_places; i++)
        free(c->places[i].path);
    free(c->places);
    free(c->sources);
    free(c->files);
    release_notes(&c->problems);
    release_notes(&c->unknown);
    free(c);
}
