/* What a command's file system is made of: the machine's, read-only, and on it these, parents before children. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/sandbox_parts.h"

enum { SOCKETS_MAX = 256, SOCKET_LIST_MAX = 4 << 20 };

void
mounts_add(struct mounts *m, enum mount_kind kind, const char *path)
{
    ARRAY_GROW(m->v, m->n, m->cap);
    m->v[m->n++] = (struct mount){.path = xstrdup(path), .kind = kind};
}

void
mounts_release(struct mounts *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->v[i].path);
    free(m->v);
    *m = (struct mounts){0};
}

/* By components: "/a/b" comes before "/a-b". */
static int
compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    unsigned char x = (unsigned char)*a, y = (unsigned char)*b;
    return (x == '/' ? 1 : x ? x + 1 : 0) - (y == '/' ? 1 : y ? y + 1 : 0);
}

static int
compare(const void *a, const void *b)
{
    const struct mount *x = a, *y = b;
    int c = compare_paths(x->path, y->path);
    return c ? c : (int)x->kind - (int)y->kind;
}

static const struct mount *
nearest(const struct mounts *m, const char *path, size_t among)
{
    const struct mount *best = NULL;
    for (size_t i = 0; i < among; i++)
        if (fs_is_within(path, m->v[i].path))
            best = &m->v[i]; /* sorted: a later one is the longer one */
    return best;
}

bool
mounts_at(const struct mounts *m, const char *path, enum mount_kind *ret)
{
    const struct mount *at = nearest(m, path, m->n);
    if (at)
        *ret = at->kind;
    return at;
}

static bool
has_effect(const struct mounts *m, size_t i, size_t settled)
{
    const struct mount *above = nearest(m, m->v[i].path, settled);
    enum mount_kind under = above ? above->kind : MOUNT_READ_ONLY;
    bool gone =
        under == MOUNT_HIDE || under == MOUNT_EMPTY || under == MOUNT_DEV || under == MOUNT_PROC;
    switch (m->v[i].kind) {
    case MOUNT_FIXED:
        return under == MOUNT_WRITE;
    case MOUNT_SHOW:
        return gone || under == MOUNT_TMP;
    case MOUNT_READ_ONLY:
        return under == MOUNT_WRITE;
    case MOUNT_HIDE:
        return !gone && under != MOUNT_TMP;
    default:
        return true;
    }
}

void
mounts_settle(struct mounts *m)
{
    size_t to = 0;
    if (m->n)
        qsort(m->v, m->n, sizeof *m->v, compare);
    for (size_t i = 0; i < m->n; i++) {
        bool last = i + 1 == m->n || strcmp(m->v[i].path, m->v[i + 1].path) != 0;
        if (last && has_effect(m, i, to)) {
            struct mount keep = m->v[i];
            m->v[i].path = NULL;
            if (keep.kind == MOUNT_FIXED)
                keep.kind = MOUNT_WRITE;
            m->v[to++] = keep;
        } else {
            free(m->v[i].path);
            m->v[i].path = NULL;
        }
    }
    m->n = to;
}

static void
arg(struct buf *out, const char *word)
{
    buf_add(out, word, strlen(word) + 1);
}

static void
args(struct buf *out, const char *a, const char *b, const char *c)
{
    arg(out, a);
    arg(out, b);
    if (c)
        arg(out, c);
}

/* Is something shown below this hidden folder? */
static bool
has_hole(const struct mounts *m, size_t at)
{
    return at + 1 < m->n && fs_is_within(m->v[at + 1].path, m->v[at].path);
}

static void
write_one(const struct mounts *m, size_t i, const char *tmp, struct buf *out)
{
    const char *path = m->v[i].path;
    struct stat st;
    switch (m->v[i].kind) {
    case MOUNT_FIXED:
    case MOUNT_WRITE:
        args(out, "--bind", path, path);
        break;
    case MOUNT_SHOW:
    case MOUNT_READ_ONLY:
        args(out, "--ro-bind", path, path);
        break;
    case MOUNT_TMP:
        args(out, "--bind", tmp, path);
        break;
    case MOUNT_DEV:
        args(out, "--dev", path, NULL);
        break;
    case MOUNT_PROC:
        args(out, "--proc", path, NULL);
        break;
    case MOUNT_HIDE:
    case MOUNT_EMPTY:
        if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
            args(out, "--ro-bind", "/dev/null", path); /* no device is opened there: refused */
            break;
        }
        /* Closed by its mode; who opens it again writes to a file system that ends with the command. */
        args(out, "--perms",
             m->v[i].kind == MOUNT_EMPTY ? "0555"
             : has_hole(m, i)            ? "0111"
                                         : "0000",
             NULL);
        args(out, "--tmpfs", path, NULL);
        break;
    }
}

/* Of the kernel's own files in a new /proc many are the superuser's by owner alone, which needs no capability. */
static void
write_proc(struct buf *out)
{
    static const char *const kept[] = {"/proc/sys",  "/proc/sysrq-trigger", "/proc/fs",
                                       "/proc/mtrr", "/proc/acpi",          "/proc/scsi",
                                       "/proc/irq",  "/proc/bus",           "/proc/pressure"};
    for (size_t i = 0; geteuid() == 0 && i < ARRAY_LEN(kept); i++)
        if (fs_exists(kept[i]))
            args(out, "--ro-bind", kept[i], kept[i]);
}

void
mounts_write(const struct mounts *m, const char *tmp, const char *proxy, const char *inside_proxy,
             struct buf *out)
{
    for (size_t i = 0; i < m->n; i++)
        write_one(m, i, tmp, out);
    write_proc(out);
    if (proxy)
        args(out, "--bind", proxy, inside_proxy);
}

/* "Num RefCount Protocol Flags Type St Inode Path" */
static const char *
socket_path(char *line)
{
    char *at = line;
    for (int field = 0; field < 7; field++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    at += strspn(at, " ");
    return *at == '/' ? at : NULL;
}

static void
find_socket(const struct mounts *m, const char *path, const char *own_tmp,
            struct sandbox_paths *ret)
{
    struct stat st;
    char *real = lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) ? paths_real(path) : NULL;
    enum mount_kind kind = MOUNT_READ_ONLY;
    if (real && ret->n < SOCKETS_MAX && !fs_is_within(real, own_tmp)) {
        mounts_at(m, real, &kind);
        if (kind == MOUNT_WRITE || kind == MOUNT_READ_ONLY || kind == MOUNT_SHOW)
            paths_add(ret, real);
    }
    free(real);
}

void
mounts_find_sockets(const struct mounts *m, const char *own_tmp, struct sandbox_paths *ret)
{
    struct buf text;
    buf_init(&text, SOCKET_LIST_MAX);
    int fd = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);
    for (ssize_t n = 1; fd >= 0 && n > 0;) {
        char *at = buf_reserve(&text, 65536);
        n = at ? read(fd, at, 65536) : 0;
        buf_commit(&text, n > 0 ? (size_t)n : 0);
    }
    if (fd >= 0)
        close(fd);
    for (char *line = text.data, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        const char *path = socket_path(line);
        if (path)
            find_socket(m, path, own_tmp, ret);
    }
    buf_release(&text);
}
