#include "base/file_tree.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/walk_scan.h"

enum { THREADS_MAX = 8, FILES_MAX = 5000000, CANCEL_EACH = 512 };

/* Written by the thread that scans it, read by others once that is over. */
struct folder {
    struct folder *next; /* waiting */
    struct walk_scope *scope;
    char *rel; /* "" or "src/" */
    bool tracked_only;
    struct walk_listing l;
    struct folder **sub; /* of each entry that is a folder */
    int64_t *mtimes;
};

struct file {
    const struct folder *folder;
    uint32_t entry;
};

struct file_tree {
    char *root; /* with a closing slash */
    struct folder *top;
    struct file *files;
    size_t n, cap;
    bool incomplete;
};

struct reader {
    const struct file_tree_options *o;
    struct file_tree *tree;
    struct str full;      /* of root */
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t more;
    struct folder *waiting;
    size_t open; /* folders waiting or being scanned; 0: done */
    size_t files;
};

static struct folder *
folder_new(struct walk_scope *scope, const char *parent, const char *name, bool tracked_only)
{
    struct folder *d = xcalloc(1, sizeof *d);

    d->scope = walk_scope_ref(scope);
    d->rel = name[0] ? xasprintf("%s%s/", parent, name) : xstrdup("");
    d->tracked_only = tracked_only;
    d->l.fd = -1;
    return d;
}

/* Not by recursion: folders may lie thousands deep. */
static void
folder_free(struct folder *top)
{
    struct folder *list = top;

    while (list) {
        struct folder *d = list;
        list = d->next;
        for (size_t i = 0; d->sub && i < d->l.n; i++) {
            if (!d->sub[i])
                continue;
            d->sub[i]->next = list;
            list = d->sub[i];
        }
        walk_listing_release(&d->l);
        walk_scope_free(d->scope);
        free(d->sub);
        free(d->mtimes);
        free(d->rel);
        free(d);
    }
}

static int64_t
mtime_of(int fd, const char *name)
{
    struct stat st;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    return fs_mtime_ns(&st);
}

static bool
stopped(const struct reader *r)
{
    return cancel_fired(r->o->cancel) != CANCEL_NONE;
}

/* Keeps the wanted files and makes the folders below. Their number of files comes back. */
static size_t
take_entries(struct reader *r, struct folder *d)
{
    struct walk_listing *l = &d->l;
    size_t kept = 0, files = 0, at;
    struct buf rel;

    buf_init(&rel, BUF_MAX);
    buf_adds(&rel, d->rel);
    at = rel.len;
    d->sub = l->n ? xcalloc(l->n, sizeof *d->sub) : NULL;
    d->mtimes = l->n && r->o->want_mtime ? xcalloc(l->n, sizeof *d->mtimes) : NULL;
    for (size_t i = 0; i < l->n && !(i % CANCEL_EACH == 0 && stopped(r)); i++) {
        struct walk_entry e = l->entries[i];
        const char *name = walk_entry_name(l, i);
        if (e.is_link && r->o->no_links)
            continue;
        buf_truncate(&rel, at);
        buf_adds(&rel, name);
        if (!e.is_dir && r->o->want && !r->o->want(r->o->user, buf_str(&rel)))
            continue;
        if (e.is_dir)
            d->sub[kept] = folder_new(l->scope, d->rel, name, e.tracked_only);
        else if (d->mtimes)
            d->mtimes[kept] = mtime_of(l->fd, name);
        files += !e.is_dir;
        l->entries[kept++] = e;
    }
    l->n = kept;
    buf_release(&rel);
    return files;
}

static size_t
scan(struct reader *r, struct folder *d)
{
    char *path = xasprintf("%s%s", r->tree->root, d->rel);
    bool is_root = !d->rel[0];
    struct buf full;
    size_t files = 0;

    buf_init(&full, BUF_MAX);
    buf_add_str(&full, r->full);
    if (full.len && !is_root)
        buf_addc(&full, '/');
    buf_adds(&full, d->rel);
    if (!is_root)
        buf_truncate(&full, full.len - 1);
    const struct walk_folder f = {.path = path,
                                  .full = buf_str(&full),
                                  .scope = d->scope,
                                  .tracked_only = d->tracked_only,
                                  .is_root = is_root};
    if (walk_scan(&f, r->o->cancel, &d->l))
        files = take_entries(r, d);
    else
        d->l.n = 0;
    if (d->l.fd >= 0)
        close(d->l.fd);
    d->l.fd = -1;
    walk_scope_free(d->scope);
    walk_scope_free(d->l.scope);
    d->scope = d->l.scope = NULL;
    buf_release(&full);
    free(path);
    return files;
}

/* Names of folders in which nothing is kept are not. */
static void
shrink(struct folder *d)
{
    struct walk_listing *l = &d->l;

    if (!l->n)
        buf_release(&l->names);
    else if (l->names.cap > l->names.len + 64)
        l->names.data = xrealloc(l->names.data, l->names.cap = l->names.len + 1);
    if (l->cap > l->n + 8)
        l->entries = xreallocarray(l->entries, l->cap = l->n ? l->n : 1, sizeof *l->entries);
}

/* Under the lock: the folders below d wait, the first on top, and d is done. */
static void
push_below(struct reader *r, struct folder *d, size_t files)
{
    for (size_t i = d->l.n; i-- > 0;) {
        if (!d->sub[i])
            continue;
        d->sub[i]->next = r->waiting;
        r->waiting = d->sub[i];
        r->open++;
    }
    r->files += files;
    r->tree->incomplete |= d->l.incomplete || r->files > FILES_MAX;
    r->open--;
}

static struct folder *
pop(struct reader *r)
{
    while (!r->waiting && r->open && !stopped(r))
        pthread_cond_wait(&r->more, &r->lock);
    struct folder *d = stopped(r) || r->files > FILES_MAX ? NULL : r->waiting;
    if (d) {
        r->waiting = d->next;
        d->next = NULL;
    }
    return d;
}

static void *
work(void *arg)
{
    struct reader *r = arg;

    pthread_mutex_lock(&r->lock);
    for (struct folder *d; (d = pop(r));) {
        pthread_mutex_unlock(&r->lock);
        size_t files = scan(r, d);
        shrink(d);
        pthread_mutex_lock(&r->lock);
        push_below(r, d, files);
        pthread_cond_broadcast(&r->more);
    }
    pthread_cond_broadcast(&r->more);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

unsigned
file_tree_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

/* The root alone first: where it has no folders, no thread is worth its start. */
static void
read_folders(struct reader *r)
{
    pthread_t ids[THREADS_MAX];
    unsigned want = r->o->threads ? r->o->threads : file_tree_threads(), started = 0;
    struct folder *top = r->tree->top;

    r->open = 1;
    push_below(r, top, scan(r, top));
    shrink(top);
    if (r->open > 1)
        while (started + 1 < want && started < THREADS_MAX &&
               pthread_create(&ids[started], NULL, work, r) == 0)
            started++;
    work(r);
    while (started > 0)
        pthread_join(ids[--started], NULL);
}

/* Lists the files in the order of the walk; an explicit stack, as folders may lie deep. */
static void
flatten(struct file_tree *t, size_t n_files)
{
    struct level {
        const struct folder *d;
        size_t at;
    } *stack = NULL;
    size_t n = 0, cap = 0;

    t->cap = n_files ? n_files : 1;
    t->files = xcalloc(t->cap, sizeof *t->files);
    ARRAY_GROW(stack, n, cap);
    stack[n++] = (struct level){t->top, 0};
    while (n) {
        struct level *top = &stack[n - 1];
        const struct folder *d = top->d;
        if (top->at == d->l.n) {
            n--;
            continue;
        }
        size_t i = top->at++;
        if (d->sub[i]) {
            ARRAY_GROW(stack, n, cap);
            stack[n++] = (struct level){d->sub[i], 0};
        } else if (t->n < t->cap) {
            t->files[t->n++] = (struct file){d, (uint32_t)i};
        }
    }
    free(stack);
}

struct file_tree *
file_tree_read(const struct file_tree_options *o)
{
    struct file_tree *t = xcalloc(1, sizeof *t);
    struct walk_scope *scope = NULL;
    struct buf full;
    struct reader r = {.o = o, .tree = t};

    buf_init(&full, BUF_MAX);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.more, NULL);
    t->root = xasprintf("%s%s", o->root, str_ends(str_from(o->root), "/") ? "" : "/");
    if (!o->no_ignore)
        scope = walk_scope_root(o->root, &full);
    r.full = buf_str(&full);
    t->top = folder_new(scope, "", "", false);
    read_folders(&r);
    walk_scope_free(scope);
    buf_release(&full);
    pthread_cond_destroy(&r.more);
    pthread_mutex_destroy(&r.lock);
    if (!stopped(&r)) {
        flatten(t, r.files);
        return t;
    }
    file_tree_free(t);
    return NULL;
}

void
file_tree_free(struct file_tree *t)
{
    if (!t)
        return;
    folder_free(t->top);
    free(t->files);
    free(t->root);
    free(t);
}

size_t
file_tree_count(const struct file_tree *t)
{
    return t->n;
}

const char *
file_tree_path(const struct file_tree *t, size_t i, struct buf *out, size_t *ret_rel)
{
    const struct file *f = &t->files[i];

    buf_clear(out);
    buf_adds(out, t->root);
    if (ret_rel)
        *ret_rel = out->len;
    buf_adds(out, f->folder->rel);
    buf_adds(out, walk_entry_name(&f->folder->l, f->entry));
    return buf_cstr(out);
}

void
file_tree_entry(const struct file_tree *t, size_t i, const char **ret_folder, const char **ret_name)
{
    const struct file *f = &t->files[i];

    *ret_folder = f->folder->rel;
    *ret_name = walk_entry_name(&f->folder->l, f->entry);
}

int64_t
file_tree_mtime(const struct file_tree *t, size_t i)
{
    const struct file *f = &t->files[i];

    return f->folder->mtimes ? f->folder->mtimes[f->entry] : 0;
}

bool
file_tree_complete(const struct file_tree *t)
{
    return !t->incomplete;
}
