/* git's own places: commits must work, hooks and settings must stay as they are, also by way of a renamed or made-up folder. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/git_config.h"
#include "perm/protected.h"
#include "perm/sandbox_parts.h"

enum { POINTER_MAX = 65536, MODULES_DEPTH = 4, MODULES_MAX = 200 };

static bool
kind_at(const char *path, mode_t *ret)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return false;
    *ret = st.st_mode & S_IFMT;
    return true;
}

/* "prefix<path>" of a file of one line, resolved; yours or NULL. */
static char *
pointer(const char *dir, const char *name, const char *prefix)
{
    struct buf text;
    bool found = false;
    char *file = fs_join(dir, name), *to = NULL;
    buf_init(&text, POINTER_MAX);
    if (fs_read_if(file, POINTER_MAX, &text, &found, NULL) && found &&
        str_starts(buf_str(&text), prefix)) {
        char *target = str_dup(str_trim(str_sub(buf_str(&text), strlen(prefix), text.len)));
        char *joined = fs_join(dir, target);
        to = paths_real(joined);
        free(joined);
        free(target);
    }
    buf_release(&text);
    free(file);
    return to;
}

static void
guard(const struct sandbox_guards *g, const char *dir, const char *name, bool folder)
{
    char *path = fs_join(dir, name);
    char *marked = xasprintf("%s%s", path, folder ? "/" : "");
    paths_take(g->missing, marked);
    free(path);
}

static void
keep(const struct sandbox_guards *g, const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    mode_t mode;
    if (kind_at(path, &mode) && !S_ISLNK(mode))
        paths_add(g->read_only, path);
    else if (fs_exists(path))
        paths_take(g->read_only, paths_real(path));
    free(path);
}

/* What is not there is kept from being made, from the first folder on that is missing. A way through a link is left: what git follows
 * there, it finds elsewhere. */
static void
guard_way(const struct sandbox_guards *g, const char *path, bool folder)
{
    char *at = xstrdup(path), *up = fs_dirname(path);
    while (!fs_exists(up) && paths_hold(g->writable, up)) {
        free(at);
        at = up;
        up = fs_dirname(at);
        folder = true;
    }
    if (paths_hold(g->writable, up) && fs_is_dir(up))
        guard(g, "/", at + 1, folder);
    free(up);
    free(at);
}

/* A file or folder that git's settings name, where commands may write it. */
static void
keep_named(const struct sandbox_guards *g, const char *path, bool folder)
{
    if (!paths_hold(g->writable, path) || paths_has(g->writable, path))
        return;
    if (fs_exists(path))
        keep(g, "/", path + 1);
    else
        guard_way(g, path, folder);
}

struct key_of {
    const char *wanted;
    char *value;
};
static void
note_key(void *user, const char *key, const char *value)
{
    struct key_of *k = user;
    if (strcmp(key, k->wanted) != 0)
        return;
    free(k->value);
    k->value = xstrdup(value);
}

static char *
config_key(const char *git_dir, const char *key)
{
    struct key_of k = {.wanted = key};
    char *file = fs_join(git_dir, "config");
    git_config_read(file, note_key, &k);
    free(file);
    return k.value;
}

enum { INCLUDES_MAX = 32 };
struct includes {
    const char *dir; /* of the settings that are read */
    struct sandbox_paths found;
};

/* "include.path", and under a condition that need not hold now. */
static void
note_include(void *user, const char *key, const char *value)
{
    struct includes *in = user;
    struct str k = str_from(key);
    bool names =
        strcmp(key, "include.path") == 0 || (str_starts(k, "includeif.") && str_ends(k, ".path"));
    if (!names || !*value || in->found.n >= INCLUDES_MAX)
        return;
    if (value[0] == '~' && value[1] == '/')
        paths_take(&in->found, fs_normalize(fs_home(), value + 2));
    else
        paths_take(&in->found, fs_normalize(in->dir, value));
}

/* Settings in the work tree that those of the repository take in, and what these take in. */
static void
keep_includes(const struct sandbox_guards *g, const char *config)
{
    struct includes in = {0};
    paths_add(&in.found, config);
    for (size_t i = 0; i < in.found.n; i++) {
        char *file = xstrdup(in.found.v[i]), *dir = fs_dirname(file);
        in.dir = dir;
        git_config_read(file, note_include, &in);
        if (i)
            keep_named(g, file, false);
        free(dir);
        free(file);
    }
    paths_release(&in.found);
}

/* Hooks that stand in the work tree. */
static void
keep_hooks_path(const struct sandbox_guards *g, const char *common, const char *top)
{
    char *hooks = git_config_get(common, "core.hookspath");
    if (hooks && *hooks) {
        char *path = hooks[0] == '~' && hooks[1] == '/' ? fs_normalize(fs_home(), hooks + 2)
                                                        : fs_normalize(top, hooks);
        keep_named(g, path, true);
        free(path);
    }
    free(hooks);
}

/* Each work tree's own settings count where the repository says so. */
static void
keep_worktree_config(const struct sandbox_guards *g, const char *common, const char *dir)
{
    char *on = config_key(common, "extensions.worktreeconfig");
    if (on && strcmp(on, "false") != 0)
        guard(g, dir, "config.worktree", false);
    free(on);
    keep(g, dir, "config.worktree");
}

/* A repository's folder. commondir in a main one would send git to another one's settings. */
static void
git_folder(const struct sandbox_guards *g, const char *dir)
{
    paths_add(g->writable, dir);
    char *config = fs_join(dir, "config");
    keep(g, dir, "config");
    keep_worktree_config(g, dir, dir);
    keep_includes(g, config);
    free(config);
    keep(g, dir, "hooks");
    guard(g, dir, "config", false);
    guard(g, dir, "hooks", true);
    guard(g, dir, "commondir", false);
}

static void
modules(const struct sandbox_guards *g, const char *dir, int depth, int *left)
{
    struct sandbox_paths names = {0};
    char *at = fs_join(dir, "modules");
    if (depth < MODULES_DEPTH && fs_is_dir(at))
        paths_add(&names, at);
    for (size_t i = 0; i<names.n && * left> 0; i++) {
        char *head = fs_join(names.v[i], "HEAD");
        if (i && fs_exists(head)) {
            git_folder(g, names.v[i]);
            --*left;
            modules(g, names.v[i], depth + 1, left);
        } else { /* modules may be called a/b */
            sandbox_subfolders(names.v[i], &names, MODULES_MAX);
        }
        free(head);
    }
    free(at);
    paths_release(&names);
}

static bool
points_back(const char *git_dir, const char *dot_git, const char *top)
{
    char *back = pointer(git_dir, "gitdir", ""), *worktree = config_key(git_dir, "core.worktree");
    char *joined = worktree ? fs_join(git_dir, worktree) : NULL;
    char *real = joined ? paths_real(joined) : NULL;
    bool ok = (back && strcmp(back, dot_git) == 0) || (real && strcmp(real, top) == 0);
    free(back);
    free(worktree);
    free(joined);
    free(real);
    return ok;
}

bool
sandbox_is_repository(const char *dir)
{
    char *head = fs_join(dir, "HEAD"), *objects = fs_join(dir, "objects");
    bool ok = fs_exists(head) && fs_is_dir(objects);
    free(head);
    free(objects);
    return ok;
}

static void
linked(const struct sandbox_guards *g, const char *top, const char *dot_git)
{
    char *git_dir = pointer(top, ".git", "gitdir: ");
    char *common = git_dir ? pointer(git_dir, "commondir", "") : NULL;
    int left = MODULES_MAX;
    paths_add(g->read_only, dot_git);
    if (git_dir && points_back(git_dir, dot_git, top)) {
        const char *shared = common ? common : git_dir;
        if (sandbox_is_repository(shared) && (!common || fs_is_within(git_dir, common))) {
            git_folder(g, shared);
            modules(g, shared, 0, &left);
            keep_hooks_path(g, shared, top);
            if (common) {
                paths_add(g->writable, git_dir);
                keep(g, git_dir, "commondir");
                keep(g, git_dir, "gitdir");
                keep_worktree_config(g, common, git_dir);
            }
        }
    }
    free(common);
    free(git_dir);
}

void
sandbox_git(const struct sandbox_guards *g, const char *top)
{
    char *dot_git = fs_join(top, ".git");
    mode_t mode;
    int left = MODULES_MAX;
    if (kind_at(dot_git, &mode)) {
        if (S_ISDIR(mode) && sandbox_is_repository(dot_git)) {
            git_folder(g, dot_git);
            modules(g, dot_git, 0, &left);
            keep_hooks_path(g, dot_git, top);
        } else if (S_ISREG(mode)) {
            linked(g, top, dot_git);
        }
    }
    free(dot_git);
}

void
sandbox_guard_top(const struct sandbox_guards *g, const char *top, bool is_home)
{
    struct protected_name name;
    char *yarn = fs_join(top, "yarn.lock"), *git = fs_join(top, ".git");
    for (size_t i = 0; protected_guarded(i, &name); i++) {
        /* Yarn 1 ends when it cannot read one. */
        bool skip = strcmp(name.name, ".npmrc") == 0 && fs_exists(yarn);
        if (!skip && (is_home || !name.home_only))
            guard(g, top, name.name, name.folder);
    }
    /* Without a .git, or with one that was spoilt, a HEAD beside objects and refs would make the folder itself a repository. Where there is
     * one, git takes the word HEAD for its own. */
    char *refs = fs_join(top, "refs"), *objects = fs_join(top, "objects");
    if (!fs_exists(git))
        guard(g, top, "HEAD", true);
    else if (!fs_exists(refs))
        guard(g, top, "refs", true);
    else if (!fs_exists(objects))
        guard(g, top, "objects", true);
    free(refs);
    free(objects);
    free(yarn);
    free(git);
}
