#include "base/walk_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/glob.h"
#include "base/log.h"
#include "base/repo.h"

/* Names of one folder that are looked at; with their entries some 100 MB, in the worst case. */
enum { NAMES_MAX = 64 << 20, DENTS = 32 << 10, CANCEL_EACH = 4096, SORT_RUN = 8192 };

struct walk_scope {
    atomic_int refs;
    struct walk_scope *parent;
    /* .ignore files, which always win, and those of git, ending in the repository's excludes */
    struct ignore *dot, *git;
    struct repo *repo;
    size_t repo_at; /* where the repository's own paths start in `full` */
};

struct special {
    bool gitignore, ignore, git;
};

/* A scope like its parent. Takes the caller's reference of it. */
static struct walk_scope *
scope_new(struct walk_scope *take_parent)
{
    struct walk_scope *s = xcalloc(1, sizeof *s);

    atomic_init(&s->refs, 1);
    s->parent = take_parent;
    if (take_parent) {
        s->dot = take_parent->dot;
        s->git = take_parent->git;
        s->repo = take_parent->repo;
        s->repo_at = take_parent->repo_at;
    }
    return s;
}

struct walk_scope *
walk_scope_ref(struct walk_scope *s)
{
    if (s)
        atomic_fetch_add(&s->refs, 1);
    return s;
}

/* What is not the parent's is this one's. */
static void
scope_release(struct walk_scope *s)
{
    const struct walk_scope *p = s->parent;

    if (s->dot && !(p && p->dot == s->dot))
        ignore_free(s->dot);
    if (s->git && !(p && p->git == s->git) && s->git != repo_excludes(s->repo))
        ignore_free(s->git);
    if (s->repo && !(p && p->repo == s->repo))
        repo_free(s->repo);
    free(s);
}

void
walk_scope_free(struct walk_scope *s)
{
    while (s && atomic_fetch_sub(&s->refs, 1) == 1) {
        struct walk_scope *parent = s->parent;
        scope_release(s);
        s = parent;
    }
}

/* A repository's top: its own excludes count there, and none of git's rules above it. */
static struct walk_scope *
enter_repo(struct walk_scope *take_parent, const char *top, const char *full)
{
    struct walk_scope *s = scope_new(take_parent);

    s->repo = repo_open(top, full);
    s->git = repo_excludes(s->repo);
    s->repo_at = full[0] ? strlen(full) + 1 : 0;
    return s;
}

static struct walk_scope *
enter_rules(struct walk_scope *take_parent, const char *path, const char *full, struct special has)
{
    struct walk_scope *s = scope_new(take_parent);

    if (has.gitignore) {
        s->git = ignore_new(s->git, full);
        repo_load_ignore(s->git, path, ".gitignore");
    }
    if (has.ignore) {
        s->dot = ignore_new(s->dot, full);
        repo_load_ignore(s->dot, path, ".ignore");
    }
    return s;
}

static bool
is_skipped(struct walk_scope *s, struct str full, bool is_dir, bool *tracked_only)
{
    enum ignore_verdict dot = ignore_check(s->dot, full, is_dir);

    if (dot == IGNORE_NONE && !*tracked_only && ignore_check(s->git, full, is_dir) != IGNORE_SKIP)
        return false;
    *tracked_only = false;
    if (dot != IGNORE_NONE)
        return dot == IGNORE_SKIP;
    struct str own = str_sub(full, s->repo_at, full.len);
    if (repo_tracks(s->repo, own))
        return false; /* a file, or a submodule */
    *tracked_only = is_dir && repo_tracks_below(s->repo, own);
    return !*tracked_only;
}

/* Rules of the folders from the repository's top down to above root. */
static struct walk_scope *
enter_parents(struct walk_scope *s, const char *top, const char *below)
{
    const struct special both = {.gitignore = true, .ignore = true};

    for (size_t len = 0;;) {
        char *rel = str_dup(str_make(below, len)), *dir = *rel ? fs_join(top, rel) : xstrdup(top);
        s = enter_rules(s, dir, rel, both);
        free(dir);
        free(rel);
        const char *slash = below[len] ? strchr(below + len + (len > 0), '/') : NULL;
        if (!slash)
            return s;
        len = (size_t)(slash - below);
    }
}

/* Is the folder at `below`, or one above it, left out by the rules in s? */
static bool
is_left_out(struct walk_scope *s, const char *below)
{
    for (size_t len = 0; below[len];) {
        bool tracked = false;
        len += strcspn(below + len + 1, "/") + 1;
        if (is_skipped(s, str_make(below, len), true, &tracked) || tracked)
            return true;
    }
    return false;
}

struct walk_scope *
walk_scope_root(const char *root, struct buf *ret_full)
{
    char *real = fs_resolve(root, NULL), *top = real ? repo_find_top(real) : NULL;
    struct walk_scope *s = enter_repo(NULL, top, "");

    if (top && strcmp(top, real) != 0) {
        const char *below = real + (strcmp(top, "/") == 0 ? 1 : strlen(top) + 1);
        s = enter_parents(s, top, below);
        buf_adds(ret_full, below);
        if (is_left_out(s, below)) {
            /* Who names an ignored folder wants to see it: only the rules in it count. */
            walk_scope_free(s);
            s = enter_repo(NULL, top, "");
            s->git = NULL;
        }
    }
    free(top);
    free(real);
    return s;
}

/* False: neither a file nor a link nor a folder; git does not list those. */
static bool
kind_of(int fd, const struct dirent *d, struct walk_entry *ret)
{
    struct stat st;

    if (d->d_type != DT_UNKNOWN) {
        ret->is_dir = d->d_type == DT_DIR;
        ret->is_link = d->d_type == DT_LNK;
        return ret->is_dir || ret->is_link || d->d_type == DT_REG;
    }
    if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    ret->is_dir = S_ISDIR(st.st_mode);
    ret->is_link = S_ISLNK(st.st_mode);
    return ret->is_dir || ret->is_link || S_ISREG(st.st_mode);
}

static void
add_entry(struct walk_listing *l, const struct dirent *d, struct special *has)
{
    const char *name = d->d_name;
    struct walk_entry e = {.name = (uint32_t)l->names.len};

    if (name[0] == '.') {
        if (name[1] == '\0' || strcmp(name, "..") == 0)
            return;
        if (strcmp(name, ".git") == 0) {
            has->git = true;
            return;
        }
        has->gitignore |= strcmp(name, ".gitignore") == 0;
        has->ignore |= strcmp(name, ".ignore") == 0;
    }
    if (!kind_of(l->fd, d, &e) || !buf_add(&l->names, name, strlen(name) + 1))
        return;
    ARRAY_GROW(l->entries, l->n, l->cap);
    l->entries[l->n++] = e;
}

static bool
read_names(struct walk_listing *l, const char *path, struct cancel *cancel, struct special *has)
{
    _Alignas(struct dirent64) char dents[DENTS];

    for (;;) {
        ssize_t n = getdents64(l->fd, dents, sizeof dents);
        if (n < 0)
            log_debug("walk", "cannot read folder '%s': %s", path, strerror(errno));
        if (n <= 0)
            return n == 0;
        for (char *p = dents; p < dents + n; p += ((struct dirent *)(void *)p)->d_reclen)
            add_entry(l, (struct dirent *)(void *)p, has);
        if (cancel_fired(cancel) != CANCEL_NONE) {
            l->incomplete = true;
            return true;
        }
    }
}

static struct walk_scope *
scope_of(const struct walk_folder *f, struct special has)
{
    struct walk_scope *s = walk_scope_ref(f->scope);
    char *full = NULL;

    if (!s)
        return NULL;
    if (has.git || has.gitignore || has.ignore)
        full = str_dup(f->full);
    if (has.git && !f->is_root && repo_is_top(f->path))
        s = enter_repo(s, f->path, full);
    if (has.gitignore || has.ignore)
        s = enter_rules(s, f->path, full, has);
    free(full);
    return s;
}

/* Leaves out what the rules say; the names stay. */
static void
filter(const struct walk_folder *f, struct cancel *cancel, struct walk_listing *l)
{
    bool tracked_only = f->tracked_only && l->scope->repo_at <= f->full.len;
    struct buf full;
    size_t kept = 0;

    if (!l->scope->dot && !l->scope->git && !tracked_only)
        return;
    buf_init(&full, BUF_MAX);
    buf_add_str(&full, f->full);
    if (full.len)
        buf_addc(&full, '/');
    size_t at = full.len;
    for (size_t i = 0; i < l->n; i++) {
        struct walk_entry e = l->entries[i];
        if (i % CANCEL_EACH == 0 && cancel_fired(cancel) != CANCEL_NONE)
            break;
        buf_truncate(&full, at);
        buf_adds(&full, l->names.data + e.name);
        e.tracked_only = tracked_only;
        if (!is_skipped(l->scope, buf_str(&full), e.is_dir, &e.tracked_only))
            l->entries[kept++] = e;
    }
    l->n = kept;
    buf_release(&full);
}

static int
by_name(const void *a, const void *b, void *names)
{
    const char *base = names;

    return strcmp(base + ((const struct walk_entry *)a)->name,
                  base + ((const struct walk_entry *)b)->name);
}

/* Merges the sorted runs a[0..mid) and a[mid..n) into out. */
static void
merge(const struct walk_entry *a, size_t mid, size_t n, char *names, struct walk_entry *out)
{
    size_t i = 0, j = mid;

    while (i < mid && j < n)
        *out++ = by_name(&a[j], &a[i], names) < 0 ? a[j++] : a[i++];
    memcpy(out, a + i, (mid - i) * sizeof *out);
    memcpy(out + (mid - i), a + j, (n - j) * sizeof *out);
}

/* A million names take half a second, so that it looks at the token on the way. False: cancelled, and in no order. */
static bool
sort_entries(struct walk_listing *l, struct cancel *cancel)
{
    struct walk_entry *from = l->entries, *to = NULL;

    for (size_t at = 0; at < l->n; at += SORT_RUN) {
        if (cancel_fired(cancel) != CANCEL_NONE)
            return false;
        size_t n = l->n - at < SORT_RUN ? l->n - at : SORT_RUN;
        qsort_r(from + at, n, sizeof *from, by_name, l->names.data);
    }
    if (l->n <= SORT_RUN)
        return true;
    to = xreallocarray(NULL, l->cap, sizeof *to);
    for (size_t run = SORT_RUN; run < l->n; run *= 2) {
        for (size_t at = 0; at < l->n && cancel_fired(cancel) == CANCEL_NONE; at += 2 * run) {
            size_t n = l->n - at < 2 * run ? l->n - at : 2 * run;
            merge(from + at, n < run ? n : run, n, l->names.data, to + at);
        }
        struct walk_entry *other = from;
        from = to;
        to = other;
    }
    l->entries = from;
    free(to);
    return cancel_fired(cancel) == CANCEL_NONE;
}

bool
walk_scan(const struct walk_folder *f, struct cancel *cancel, struct walk_listing *ret)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (f->is_root ? 0 : O_NOFOLLOW);
    struct special has = {false, false, false};

    *ret = (struct walk_listing){.fd = open(f->path, flags)};
    buf_init(&ret->names, NAMES_MAX);
    if (ret->fd < 0) {
        log_debug("walk", "cannot read folder '%s': %s", f->path, strerror(errno));
        return false;
    }
    bool ok = read_names(ret, f->path, cancel, &has);
    if (buf_full(&ret->names)) {
        ret->incomplete = true;
        log_warn("walk", "folder '%s' holds more names than are looked at", f->path);
    }
    ret->scope = scope_of(f, has);
    if (ret->scope)
        filter(f, cancel, ret);
    if (!sort_entries(ret, cancel))
        ret->n = 0;
    return ok;
}

void
walk_listing_release(struct walk_listing *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    walk_scope_free(l->scope);
    l->scope = NULL;
    buf_release(&l->names);
    free(l->entries);
    l->entries = NULL;
    l->n = l->cap = 0;
}

const char *
walk_entry_name(const struct walk_listing *l, size_t i)
{
    return l->names.data + l->entries[i].name;
}
