/* Names of files: what they lead to and whether they lie inside. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/text.h"
#include "perm/chain_ctx.h"

/* Code points that some volumes do not see in a name at all. */
static bool
is_ignorable(int32_t cp)
{
    return cp == 0xAD || (cp >= 0x200B && cp <= 0x200F) || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2060 && cp <= 0x206F) || cp == 0xFEFF;
}

static char *
without_ignorable(const char *path)
{
    struct buf b;
    struct str s = str_from(path);
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < s.len;) {
        int32_t cp;
        size_t n = text_decode(s, i, &cp);
        if (!is_ignorable(cp))
            buf_add(&b, s.ptr + i, n);
        i += n;
    }
    return buf_take(&b);
}

bool
path_inside(const char *path, const char *dir, bool fold)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    if (n == 1 && dir[0] == '/')
        return true;
    if (!fold)
        return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
    if (strlen(path) < n || (path[n] && path[n] != '/'))
        return false;
    return text_equal_fold(str_make(path, n), str_make(dir, n));
}

/* Takes the name. */
static void
add_name(struct path_names *n, char *take)
{
    for (size_t i = 0; take && i < n->n; i++)
        if (strcmp(n->v[i], take) == 0) {
            free(take);
            return;
        }
    if (!take)
        n->lost = true;
    else
        n->v[n->n++] = take;
}

/* ---- where links lead ---- */

/* Most files of a decision lie in a few folders, and many are judged more than once: where they lead is asked once. */
enum { SEEN_MAX = 256 };
struct path_cache {
    char *dir[64], *real[64];
    size_t n;
    struct {
        char *path, *real;
    } seen[SEEN_MAX];             /* by hash, the last one stays */
    struct file *files[SEEN_MAX]; /* so are these */
};
struct file {
    char *path;
    struct stat st;
    bool there;
};
static _Thread_local struct path_cache *cache;

struct path_cache *
path_cache_begin(void)
{
    struct path_cache *before = cache;
    cache = xcalloc(1, sizeof *cache);
    return before;
}

static void
file_free(struct file *f)
{
    if (f)
        free(f->path);
    free(f);
}

void
path_cache_end(struct path_cache *before)
{
    for (size_t i = 0; i < cache->n; i++) {
        free(cache->dir[i]);
        free(cache->real[i]);
    }
    for (size_t i = 0; i < SEEN_MAX; i++) {
        free(cache->seen[i].path);
        free(cache->seen[i].real);
        file_free(cache->files[i]);
    }
    free(cache);
    cache = before;
}

/* Link after link, and part after part of what is not there. NULL also: no more may be looked at. */
static char *
follow_all(const char *path)
{
    enum { MANY = 32 };
    size_t parts = 0;
    for (const char *p = path; *p; p++)
        parts += *p == '/';
    size_t each = parts > MANY ? LOOK_PATH : LOOK_PATH / 4;
    char *real = may_look(LOOK_PATH + each * parts) ? fs_resolve(path, NULL) : NULL;
    if (!real) /* a loop: as many as are followed */
        (void)may_look(LOOK_LINKS);
    return real;
}

/* Borrowed; of a folder that is not there where it would be; NULL: that is not known, or no room. */
static const char *
real_folder(const char *path, size_t len)
{
    for (size_t i = 0; i < cache->n; i++)
        if (strncmp(cache->dir[i], path, len) == 0 && !cache->dir[i][len])
            return cache->real[i];
    if (cache->n == ARRAY_LEN(cache->dir))
        return NULL;
    char *dir = str_dup(str_make(path, len)), *real = follow_all(dir);
    if (!real) {
        free(dir);
        return NULL;
    }
    cache->dir[cache->n] = dir;
    cache->real[cache->n] = real;
    return cache->real[cache->n++];
}

static size_t
slot_of(const char *path)
{
    uint32_t h = 2166136261u;
    for (const char *p = path; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    return h % SEEN_MAX;
}

static void
file_note(const char *path, bool there, const struct stat *st)
{
    struct file **f = &cache->files[slot_of(path)];
    file_free(*f);
    *f = xmalloc(sizeof **f);
    **f = (struct file){.path = xstrdup(path), .st = *st, .there = there};
}

static char *
resolve(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool plain = path[0] == '/' && slash != path && *name && strcmp(name, ".") != 0 &&
                 strcmp(name, "..") != 0;
    const char *dir = cache && plain ? real_folder(path, (size_t)(slash - path)) : NULL;
    if (!dir)
        return follow_all(path);
    if (!may_look(LOOK_STAT))
        return NULL;
    struct stat st = {0};
    char *at = fs_join(dir, name);
    bool there = lstat(at, &st) == 0;
    if (there ? !S_ISLNK(st.st_mode) : errno == ENOENT) {
        file_note(path, there, &st); /* no link: stat would say the same */
        return at;
    }
    free(at);
    return may_look(LOOK_LINKS) ? follow_all(path) : NULL; /* it is one, maybe to many more */
}

bool
path_stat(const char *path, struct stat *ret_st)
{
    if (!cache)
        return stat(path, ret_st) == 0;
    struct file **f = &cache->files[slot_of(path)];
    if (!*f || strcmp((*f)->path, path) != 0) {
        struct stat st = {0};
        bool there = stat(path, &st) == 0;
        file_note(path, there, &st);
    }
    *ret_st = (*f)->st;
    return (*f)->there;
}

char *
path_resolve(const char *path)
{
    if (!cache)
        return resolve(path);
    size_t at = slot_of(path);
    char **seen = &cache->seen[at].path, **real = &cache->seen[at].real;
    if (!*seen || strcmp(*seen, path) != 0) {
        free(*seen);
        free(*real);
        *seen = xstrdup(path);
        *real = resolve(path);
    }
    return *real ? xstrdup(*real) : NULL;
}

void
path_names_init(struct path_names *n, const char *base, const char *path, bool fold)
{
    *n = (struct path_names){0};
    char *joined = fs_join(base, path), *named = fs_normalize(base, path);
    if (fold) {
        char *plain = without_ignorable(named);
        free(named);
        named = plain;
    }
    add_name(n, named);
    add_name(n, path_resolve(n->v[0]));
    if (strcmp(joined, n->v[0]) != 0) /* ".." behind a link */
        add_name(n, path_resolve(joined));
    free(joined);
}

void
path_names_init_itself(struct path_names *n, const char *base, const char *path, bool fold)
{
    char *named = fs_normalize(base, path), *slash = strrchr(named, '/');
    if (!slash || !slash[1]) {
        free(named);
        path_names_init(n, base, path, fold);
        return;
    }
    struct path_names folder;
    *slash = '\0';
    path_names_init(&folder, base, slash == named ? "/" : named, fold);
    *n = (struct path_names){.lost = folder.lost};
    for (size_t i = 0; i < folder.n; i++)
        add_name(n, fs_join(folder.v[i], slash + 1));
    path_names_release(&folder);
    free(named);
}

void
path_names_release(struct path_names *n)
{
    for (size_t i = 0; i < n->n; i++)
        free(n->v[i]);
    *n = (struct path_names){0};
}

static bool
inside_any(char *const *dirs, size_t n, const char *path, bool fold)
{
    for (size_t i = 0; i < n; i++)
        if (path_inside(path, dirs[i], fold))
            return true;
    return false;
}

bool
path_in_roots(const struct chain *c, const struct path_names *n, bool for_read)
{
    for (size_t i = 0; i < n->n; i++)
        if (!inside_any(c->roots, c->n_roots, n->v[i], c->fold) &&
            !(for_read && inside_any(c->read_roots, c->n_read_roots, n->v[i], c->fold)))
            return false;
    return n->n > 0 && !n->lost;
}

/* The same file under a name whose letters are turned round? */
static bool
same_when_turned(const char *path)
{
    struct stat a, b;
    char *turned = xstrdup(path), *name = strrchr(turned, '/');
    bool changed = false;
    for (char *p = name ? name + 1 : turned; *p; p++) {
        unsigned char ch = (unsigned char)*p;
        changed |= isalpha(ch) != 0;
        *p = (char)(islower(ch) ? toupper(ch) : tolower(ch));
    }
    bool same = changed && stat(path, &a) == 0 && stat(turned, &b) == 0 && a.st_dev == b.st_dev &&
                a.st_ino == b.st_ino;
    free(turned);
    return same;
}

bool
path_probe_fold(const char *dir)
{
    char *git = fs_join(dir, ".git");
    bool fold = same_when_turned(dir) || same_when_turned(git);
    free(git);
    return fold;
}
