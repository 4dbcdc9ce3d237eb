#include "tools/filestate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tools/hash.h"

enum { KEEP_FILE = 128 << 10, KEEP_ALL = 4 << 20, MAX_FILES = 10000 };

struct seen_file {
    char *path;
    int64_t mtime_ns;
    uint64_t size, hash[2], used; /* used: a counter, for dropping the longest unused */
    bool hashed;
    char *content; /* NULL: not kept */
};

struct file_state {
    atomic_int refs;
    pthread_mutex_t lock; /* guards everything below */
    struct seen_file *files;
    size_t n, cap, kept;
    uint64_t counter;
};

struct file_state *
file_state_new(void)
{
    struct file_state *fs = xcalloc(1, sizeof *fs);

    atomic_init(&fs->refs, 1);
    pthread_mutex_init(&fs->lock, NULL);
    return fs;
}

struct file_state *
file_state_ref(struct file_state *fs)
{
    if (fs)
        atomic_fetch_add(&fs->refs, 1);
    return fs;
}

static void
drop_content(struct file_state *fs, struct seen_file *f)
{
    if (f->content)
        fs->kept -= (size_t)f->size;
    free(f->content);
    f->content = NULL;
}

static void
drop(struct file_state *fs, size_t i)
{
    drop_content(fs, &fs->files[i]);
    free(fs->files[i].path);
    fs->files[i] = fs->files[--fs->n];
}

void
file_state_unref(struct file_state *fs)
{
    if (!fs || atomic_fetch_sub(&fs->refs, 1) > 1)
        return;
    while (fs->n)
        drop(fs, fs->n - 1);
    free(fs->files);
    pthread_mutex_destroy(&fs->lock);
    free(fs);
}

static struct seen_file *
find(struct file_state *fs, const char *path)
{
    for (size_t i = 0; i < fs->n; i++)
        if (strcmp(fs->files[i].path, path) == 0) {
            fs->files[i].used = ++fs->counter;
            return &fs->files[i];
        }
    return NULL;
}

static size_t
oldest(const struct file_state *fs, bool with_content)
{
    size_t best = fs->n;

    for (size_t i = 0; i < fs->n; i++)
        if ((!with_content || fs->files[i].content) &&
            (best == fs->n || fs->files[i].used < fs->files[best].used))
            best = i;
    return best;
}

static struct seen_file *
find_or_add(struct file_state *fs, const char *path)
{
    struct seen_file *f = find(fs, path);

    if (f) {
        drop_content(fs, f);
        return f;
    }
    if (fs->n >= MAX_FILES)
        drop(fs, oldest(fs, false));
    ARRAY_GROW(fs->files, fs->n, fs->cap);
    f = &fs->files[fs->n++];
    *f = (struct seen_file){.path = xstrdup(path), .used = ++fs->counter};
    return f;
}

static void
hash_of(struct str content, uint64_t ret[2])
{
    struct file_hash h;

    file_hash_init(&h);
    file_hash_add(&h, content);
    file_hash_end(&h, ret);
}

void
file_state_note(struct file_state *fs, const char *path, int64_t mtime_ns, struct str content)
{
    uint64_t hash[2];

    hash_of(content, hash);
    pthread_mutex_lock(&fs->lock);
    struct seen_file *f = find_or_add(fs, path);
    f->mtime_ns = mtime_ns;
    f->size = content.len;
    f->hashed = true;
    memcpy(f->hash, hash, sizeof hash);
    if (content.len <= KEEP_FILE) {
        while (fs->kept + content.len > KEEP_ALL)
            drop_content(fs, &fs->files[oldest(fs, true)]);
        f->content = str_dup(content);
        fs->kept += content.len;
    }
    pthread_mutex_unlock(&fs->lock);
}

void
file_state_note_hash(struct file_state *fs, const char *path, int64_t mtime_ns, uint64_t size,
                     const uint64_t hash[2])
{
    pthread_mutex_lock(&fs->lock);
    struct seen_file *f = find_or_add(fs, path);
    f->mtime_ns = mtime_ns;
    f->size = size;
    f->hashed = hash != NULL;
    if (hash)
        memcpy(f->hash, hash, sizeof f->hash);
    pthread_mutex_unlock(&fs->lock);
}

enum file_seen
file_state_check(struct file_state *fs, const char *path, int64_t mtime_ns, struct str content)
{
    enum file_seen seen = FILE_UNSEEN;
    uint64_t hash[2];

    pthread_mutex_lock(&fs->lock);
    struct seen_file *f = find(fs, path);
    if (f && f->mtime_ns == mtime_ns && f->size == content.len) {
        seen = FILE_FRESH;
    } else if (f) {
        hash_of(content, hash);
        bool same = f->hashed && f->size == content.len && memcmp(hash, f->hash, sizeof hash) == 0;
        seen = same ? FILE_FRESH : FILE_CHANGED;
    }
    pthread_mutex_unlock(&fs->lock);
    return seen;
}

bool
file_state_content(struct file_state *fs, const char *path, struct buf *out)
{
    pthread_mutex_lock(&fs->lock);
    struct seen_file *f = find(fs, path);
    bool kept = f && f->content && buf_add(out, f->content, (size_t)f->size);
    pthread_mutex_unlock(&fs->lock);
    return kept;
}

static int
newest_first(const void *a, const void *b)
{
    const struct seen_file *const *x = a, *const *y = b;
    return (*x)->used < (*y)->used ? 1 : (*x)->used > (*y)->used ? -1 : 0;
}

size_t
file_state_recent(struct file_state *fs, struct file_noted *ret, size_t max)
{
    pthread_mutex_lock(&fs->lock);
    const struct seen_file **by_use = xcalloc(fs->n + 1, sizeof(const struct seen_file *));
    for (size_t i = 0; i < fs->n; i++)
        by_use[i] = &fs->files[i];
    if (fs->n)
        qsort((void *)by_use, fs->n, sizeof(const struct seen_file *), newest_first);
    size_t n = fs->n < max ? fs->n : max;
    for (size_t i = 0; i < n; i++)
        ret[i] =
            (struct file_noted){xstrdup(by_use[i]->path), by_use[i]->mtime_ns, by_use[i]->size};
    free((void *)by_use);
    pthread_mutex_unlock(&fs->lock);
    return n;
}
