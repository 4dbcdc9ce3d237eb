#include "base/repo.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/git_config.h"
#include "base/git_index.h"
#include "base/glob.h"
#include "base/log.h"

enum { IGNORE_FILE_MAX = 4 << 20 };

struct repo {
    char *git_dir, *common_dir; /* NULL: no repository */
    struct ignore *global, *info;
    pthread_mutex_t lock; /* guards the reading of the index, which does not change afterwards */
    bool index_read;
    struct git_index *index; /* NULL: nothing is tracked */
};

bool
repo_is_top(const char *dir)
{
    char *git = fs_git_dir(dir), *head = git ? fs_join(git, "HEAD") : NULL;
    struct stat st;
    bool is = head && lstat(head, &st) == 0; /* an old HEAD may be a link to nowhere */

    free(head);
    free(git);
    return is;
}

char *
repo_find_top(const char *dir)
{
    char *at = fs_find_up(dir, ".git");

    while (at && !repo_is_top(at)) {
        char *up = strcmp(at, "/") == 0 ? NULL : fs_dirname(at);
        free(at);
        at = up ? fs_find_up(up, ".git") : NULL;
        free(up);
    }
    return at;
}

void
repo_load_ignore(struct ignore *ig, const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    struct buf text;
    struct stat st;
    struct err err;
    bool found = false;

    buf_init(&text, IGNORE_FILE_MAX);
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        if (!fs_read_if(path, IGNORE_FILE_MAX, &text, &found, &err))
            log_warn("repo", "ignore file not used: %s", err.text);
        else if (found)
            ignore_add_text(ig, buf_str(&text));
    }
    buf_release(&text);
    free(path);
}

/* A worktree's settings and excludes are those of the repository it came from. Yours. */
static char *
common_dir_of(const char *git_dir)
{
    char *path = fs_join(git_dir, "commondir"), *dir = NULL;
    struct buf text;
    bool found = false;

    buf_init(&text, 8192);
    if (fs_read_if(path, 4096, &text, &found, NULL) && found) {
        char *name = str_dup(str_trim(buf_str(&text)));
        dir = fs_normalize(git_dir, name);
        free(name);
    }
    buf_release(&text);
    free(path);
    return dir ? dir : xstrdup(git_dir);
}

/* The person's excludes may be a link, as dotfiles often are. */
static void
load_global(struct repo *r, const char *top)
{
    char *path = git_config_excludes(r->common_dir);
    char *whole = top ? fs_join(top, path) : xstrdup(path), *real = fs_resolve(whole, NULL);

    if (real && path[0])
        repo_load_ignore(r->global, "/", real);
    free(real);
    free(whole);
    free(path);
}

static bool
has_line(struct str text, const char *line)
{
    struct str one;
    while (text.len && str_split(&text, '\n', &one))
        if (str_is(str_trim(one), line))
            return true;
    return false;
}

static bool
add_line(const char *file, const char *line, bool *ret_added, struct err *err)
{
    struct buf text;
    struct stat st;
    bool found = false;
    if (lstat(file, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "'%s' is no plain file: '%s' was not added", file, line);
    buf_init(&text, IGNORE_FILE_MAX);
    bool ok = fs_read_if(file, IGNORE_FILE_MAX / 2, &text, &found, err);
    if (ok && !has_line(buf_str(&text), line)) {
        if (text.len && text.data[text.len - 1] != '\n')
            buf_addc(&text, '\n');
        buf_addf(&text, "%s\n", line);
        ok = *ret_added = fs_write_atomic(file, buf_str(&text), 0644, err);
    }
    buf_release(&text);
    return ok;
}

bool
repo_exclude_add(const char *top, const char *pattern, bool *ret_added, struct err *err)
{
    char *git = fs_git_dir(top);
    *ret_added = false;
    if (!git)
        return err_set(err, ERR_INVALID, "'%s' is no git repository", top);
    char *common = common_dir_of(git), *info = fs_join(common, "info"),
         *file = fs_join(info, "exclude");
    bool ok = fs_mkdirs(info, 0755, err) && add_line(file, pattern, ret_added, err);
    free(file);
    free(info);
    free(common);
    free(git);
    return ok;
}

struct repo *
repo_open(const char *top, const char *prefix)
{
    struct repo *r = xcalloc(1, sizeof *r);

    pthread_mutex_init(&r->lock, NULL);
    r->git_dir = top ? fs_git_dir(top) : NULL;
    r->common_dir = r->git_dir ? common_dir_of(r->git_dir) : NULL;
    r->global = ignore_new(NULL, prefix);
    load_global(r, top);
    r->info = ignore_new(r->global, prefix);
    if (r->common_dir)
        repo_load_ignore(r->info, r->common_dir, "info/exclude");
    return r;
}

void
repo_free(struct repo *r)
{
    if (!r)
        return;
    ignore_free(r->info);
    ignore_free(r->global);
    git_index_free(r->index);
    pthread_mutex_destroy(&r->lock);
    free(r->git_dir);
    free(r->common_dir);
    free(r);
}

struct ignore *
repo_excludes(const struct repo *r)
{
    return r->info;
}

static struct git_index *
read_index(const struct repo *r)
{
    char *format = git_config_get(r->common_dir, "extensions.objectformat");
    size_t hash_len = format && strcmp(format, "sha256") == 0 ? 32 : 20;
    struct err err;
    struct git_index *ix = git_index_read(r->git_dir, hash_len, &err);

    if (!ix)
        log_warn("repo", "no file counts as tracked: %s", err.text);
    free(format);
    return ix;
}

bool
repo_each_tracked(const char *top, bool (*told)(void *arg, struct str name), void *arg,
                  bool *ret_found)
{
    char *git = fs_git_dir(top), *common = git ? common_dir_of(git) : NULL;
    char *path = git ? fs_join(git, "index") : NULL;
    const struct repo r = {.git_dir = git, .common_dir = common};
    *ret_found = path && fs_exists(path);
    struct git_index *ix = *ret_found ? read_index(&r) : NULL;
    bool ok = ix && git_index_each(ix, told, arg);

    git_index_free(ix);
    free(path);
    free(common);
    free(git);
    return ok;
}

static const struct git_index *
index_of(struct repo *r)
{
    pthread_mutex_lock(&r->lock);
    if (!r->index_read && r->git_dir)
        r->index = read_index(r);
    r->index_read = true;
    pthread_mutex_unlock(&r->lock);
    return r->index;
}

bool
repo_tracks(struct repo *r, struct str path)
{
    const struct git_index *ix = index_of(r);

    return ix && git_index_has(ix, path);
}

bool
repo_tracks_below(struct repo *r, struct str path)
{
    const struct git_index *ix = index_of(r);

    return ix && git_index_has_below(ix, path);
}
