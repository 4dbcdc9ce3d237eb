#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/glob.h"
#include "base/log.h"

enum { IGNORE_FILE_MAX = 1 << 20, MAX_PARENTS = 64 };

struct entry {
    size_t name; /* offset into listing.names */
    bool is_dir;
};

/* One folder, read whole before its files are visited, so that the walk holds one descriptor however deep it goes. */
struct listing {
    struct buf names;
    struct entry *entries;
    size_t n, cap;
    bool gitignore, ignore;
};

struct walk {
    const struct glob_walk *w;
    struct buf path; /* root, "/", then the path below it */
    size_t rel_at;   /* where that path starts */
    struct buf full; /* path below the repository's top, which ignore patterns speak of */
    size_t prefix;   /* its part above root */
};

static int
by_name(const void *a, const void *b, void *names)
{
    const char *base = names;
    return strcmp(base + ((const struct entry *)a)->name, base + ((const struct entry *)b)->name);
}

static bool
entry_is_dir(int fd, const struct dirent *d)
{
    struct stat st;

    if (d->d_type != DT_UNKNOWN)
        return d->d_type == DT_DIR;
    return fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void
add_entry(struct listing *l, int fd, const struct dirent *d)
{
    const char *name = d->d_name;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0)
        return;
    if (strcmp(name, ".gitignore") == 0)
        l->gitignore = true;
    if (strcmp(name, ".ignore") == 0)
        l->ignore = true;
    size_t at = l->names.len;
    if (!buf_add(&l->names, name, strlen(name) + 1))
        return;
    ARRAY_GROW(l->entries, l->n, l->cap);
    l->entries[l->n++] = (struct entry){at, entry_is_dir(fd, d)};
}

static bool
list_dir(const char *path, struct listing *l)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        log_debug("walk", "cannot read folder '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (const struct dirent *d; (d = readdir(dir));)
        add_entry(l, fd, d);
    closedir(dir);
    if (buf_full(&l->names))
        log_warn("walk", "folder '%s' holds more names than are looked at", path);
    if (l->n > 1)
        qsort_r(l->entries, l->n, sizeof *l->entries, by_name, l->names.data);
    return true;
}

static void
load_ignore_file(struct ignore *ig, const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    struct buf text;
    struct stat st;
    struct err err;
    bool found = false;

    buf_init(&text, IGNORE_FILE_MAX);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        if (!fs_read_if(path, IGNORE_FILE_MAX, &text, &found, &err))
            log_warn("walk", "ignore file not used: %s", err.text);
        else if (found)
            ignore_add_text(ig, buf_str(&text));
    }
    buf_release(&text);
    free(path);
}

static bool walk_dir(struct walk *k, struct ignore *parent);

static bool
visit_entry(struct walk *k, struct ignore *ig, const char *name, bool is_dir)
{
    const struct glob_walk *w = k->w;
    size_t path_len = k->path.len, full_len = k->full.len;
    bool go = true;

    if (w->cancel && cancel_fired(w->cancel) != CANCEL_NONE)
        return false;
    if (path_len > k->rel_at)
        buf_addc(&k->path, '/');
    buf_adds(&k->path, name);
    if (full_len)
        buf_addc(&k->full, '/');
    buf_adds(&k->full, name);
    if (w->no_ignore || !ignore_match(ig, buf_str(&k->full), is_dir)) {
        go = w->visit(w->user, k->path.data + k->rel_at, is_dir);
        if (go && is_dir)
            go = walk_dir(k, ig);
    }
    buf_truncate(&k->path, path_len);
    buf_truncate(&k->full, full_len);
    return go;
}

static bool
walk_dir(struct walk *k, struct ignore *parent)
{
    struct listing l = {.n = 0};
    struct ignore *own = NULL;
    bool go = true;

    buf_init(&l.names, BUF_MAX);
    if (list_dir(k->path.data, &l) && l.n) {
        if (!k->w->no_ignore && (l.gitignore || l.ignore)) {
            own = ignore_new(parent, buf_cstr(&k->full));
            if (l.gitignore)
                load_ignore_file(own, k->path.data, ".gitignore");
            if (l.ignore)
                load_ignore_file(own, k->path.data, ".ignore");
        }
        for (size_t i = 0; i < l.n && go; i++)
            go = visit_entry(k, own ? own : parent, l.names.data + l.entries[i].name,
                             l.entries[i].is_dir);
    }
    ignore_free(own);
    free(l.entries);
    buf_release(&l.names);
    return go;
}

static void
load_ignore_files(struct ignore *ig, const char *top, const char *rel)
{
    char *dir = *rel ? fs_join(top, rel) : xstrdup(top);

    load_ignore_file(ig, dir, ".gitignore");
    load_ignore_file(ig, dir, ".ignore");
    free(dir);
}

/* Ignore files from the repository's top down to above root; `chain` has one node a folder, the excludes first. */
static size_t
load_parents(struct walk *k, struct ignore *chain[MAX_PARENTS])
{
    char *root = fs_normalize("/", k->w->root), *top = fs_find_up(root, ".git");
    size_t n = 0;

    if (top) {
        size_t top_len = strcmp(top, "/") == 0 ? 0 : strlen(top);
        const char *below = root[top_len] ? root + top_len + 1 : "";
        chain[n++] = ignore_new(NULL, "");
        load_ignore_file(chain[0], top, ".git/info/exclude");
        for (size_t len = 0; *below && n < MAX_PARENTS; n++) {
            char *rel = str_dup(str_make(below, len));
            chain[n] = ignore_new(chain[n - 1], rel);
            load_ignore_files(chain[n], top, rel);
            free(rel);
            const char *slash = strchr(below + (len ? len + 1 : 0), '/');
            if (!slash) {
                n++;
                break;
            }
            len = (size_t)(slash - below);
        }
        buf_adds(&k->full, below);
    }
    free(top);
    free(root);
    return n;
}

bool
glob_walk(const struct glob_walk *w)
{
    struct walk k = {.w = w};
    struct ignore *chain[MAX_PARENTS];
    size_t n = 0;
    bool done;

    buf_init(&k.path, BUF_MAX);
    buf_init(&k.full, BUF_MAX);
    buf_adds(&k.path, w->root);
    if (!str_ends(buf_str(&k.path), "/"))
        buf_addc(&k.path, '/');
    k.rel_at = k.path.len;
    if (!w->no_ignore)
        n = load_parents(&k, chain);
    done = walk_dir(&k, n ? chain[n - 1] : NULL);
    while (n)
        ignore_free(chain[--n]);
    buf_release(&k.path);
    buf_release(&k.full);
    return done;
}
