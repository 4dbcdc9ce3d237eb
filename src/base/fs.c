#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"

bool
fs_read_fd(int fd, const char *path, size_t max, struct buf *out, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_sys(err, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "'%s' is not a regular file", path);
    size_t total = 0;
    for (;;) {
        size_t want = st.st_size > (off_t)total ? (size_t)st.st_size - total + 1 : 4096;
        if (total > max || (size_t)st.st_size > max)
            return err_set(err, ERR_LIMIT, "'%s' is larger than %zu bytes", path, max);
        /* Without room left one more byte is asked for, to tell the end from too much. */
        char more, *at = &more;
        if (want > out->max - out->len)
            want = out->max - out->len;
        if (want)
            at = buf_reserve(out, want);
        ssize_t n = read(fd, at, want ? want : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, errno, "cannot read '%s'", path);
        if (n == 0)
            return true;
        if (!want)
            return err_set(err, ERR_LIMIT, "'%s' is larger than %zu bytes", path, out->max);
        buf_commit(out, (size_t)n);
        total += (size_t)n;
    }
}

bool
fs_read(const char *path, size_t max, struct buf *out, struct err *err)
{
    bool found;
    if (!fs_read_if(path, max, out, &found, err))
        return false;
    return found || err_sys(err, ENOENT, "cannot open '%s'", path);
}

bool
fs_read_if(const char *path, size_t max, struct buf *out, bool *ret_found, struct err *err)
{
    /* O_NONBLOCK: a FIFO in the place of a file must not hold us. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *ret_found = fd >= 0;
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || err_sys(err, errno, "cannot open '%s'", path);
    bool ok = fs_read_fd(fd, path, max, out, err);
    close(fd);
    return ok;
}

bool
fs_write_all(int fd, struct str data, struct err *err)
{
    while (data.len) {
        ssize_t n = write(fd, data.ptr, data.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            poll(&p, 1, -1);
            continue;
        }
        if (n < 0)
            return err_sys(err, errno, "cannot write");
        data = str_sub(data, (size_t)n, data.len);
    }
    return true;
}

void
fs_sync_dir_of(const char *path)
{
    char *dir = fs_dirname(path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        /* What was written in it is synced by itself; the name is all that could be lost. */
        (void)fsync(fd);
        close(fd);
    }
    free(dir);
}

static bool
write_temp(int fd, const char *path, struct str data, mode_t mode, bool sync, struct err *err)
{
    struct stat old;
    if (stat(path, &old) == 0) {
        mode = old.st_mode & 07777;
        /* Keeping the owner is best effort: only root can give files away. */
        if (fchown(fd, old.st_uid, old.st_gid) != 0 && errno != EPERM)
            return err_sys(err, errno, "cannot set the owner of '%s'", path);
    }
    if (fchmod(fd, mode) != 0)
        return err_sys(err, errno, "cannot set the mode of '%s'", path);
    if (!fs_write_all(fd, data, err))
        return err_wrap(err, "'%s'", path);
    if (sync && fdatasync(fd) != 0)
        return err_sys(err, errno, "cannot sync '%s'", path);
    return true;
}

char *
fs_replaceable(const char *path, struct err *err)
{
    struct stat st;
    char *target = fs_resolve(path, err);
    if (!target || stat(target, &st) != 0 || S_ISREG(st.st_mode))
        return target;
    err_set(err, ERR_INVALID, "'%s' is not a regular file: it is left as it is", target);
    free(target);
    return NULL;
}

static bool
replace(const char *path, struct str data, mode_t mode, bool sync, struct err *err)
{
    char *target = fs_replaceable(path, err), *temp = NULL;
    bool ok = false;
    if (!target)
        return false;
    temp = xasprintf("%s.yare-XXXXXX", target);
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0) {
        err_sys(err, errno, "cannot write beside '%s'", target);
        goto out;
    }
    ok = write_temp(fd, target, data, mode, sync, err);
    if (close(fd) != 0 && ok)
        ok = err_sys(err, errno, "cannot write '%s'", target);
    if (ok && rename(temp, target) != 0)
        ok = err_sys(err, errno, "cannot replace '%s'", target);
    if (!ok)
        unlink(temp);
    else if (sync)
        fs_sync_dir_of(target);
out:
    free(temp);
    free(target);
    return ok;
}

bool
fs_write_atomic(const char *path, struct str data, mode_t mode, struct err *err)
{
    return replace(path, data, mode, true, err);
}

bool
fs_write_soon(const char *path, struct str data, mode_t mode, struct err *err)
{
    return replace(path, data, mode, false, err);
}

bool
fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
    char *copy = xstrdup(path);
    bool ok = true;
    for (char *p = copy + 1; ok && *copy; p++) {
        if (*p && *p != '/')
            continue;
        char c = *p;
        *p = '\0';
        if (mkdir(copy, mode) != 0 && errno != EEXIST)
            ok = err_sys(err, errno, "cannot make the folder '%s'", copy);
        *p = c;
        if (!c)
            break;
    }
    free(copy);
    if (ok && !fs_is_dir(path))
        return err_set(err, ERR_INVALID, "'%s' is in the way: it is not a folder", path);
    return ok;
}

/* Who waited for a lock may get that of a file which fs_unlock has removed meanwhile. */
static bool
is_still_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

int
fs_lock(const char *path, int timeout_ms, struct err *err)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            err_sys(err, errno, "cannot open the lock file '%s'", path);
            return -1;
        }
        bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_still_at(fd, path))
            return fd;
        bool busy = locked || errno == EWOULDBLOCK || errno == EINTR;
        close(fd);
        if (!busy || clock_mono_ms() >= until) {
            err_set(err, ERR_TIMEOUT, "'%s' is locked by another process", path);
            return -1;
        }
        if (!locked)
            poll(NULL, 0, 5);
    }
}

void
fs_unlock(const char *path, int fd)
{
    if (fd < 0)
        return;
    (void)unlink(path); /* while it is held: a file in a project is one that git shows */
    close(fd);
}

int64_t
fs_mtime_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

bool
fs_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool
fs_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool
fs_is_within(const char *path, const char *root)
{
    size_t n = strlen(root);
    if (strcmp(root, "/") == 0)
        return path[0] == '/';
    return strncmp(path, root, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

char *
fs_find_up(const char *dir, const char *name)
{
    for (char *at = xstrdup(dir);;) {
        char *entry = fs_join(at, name);
        bool found = fs_exists(entry);
        free(entry);
        if (found)
            return at;
        bool top = strcmp(at, "/") == 0 || strcmp(at, ".") == 0;
        char *up = top ? NULL : fs_dirname(at);
        free(at);
        if (top)
            return NULL;
        at = up;
    }
}

char *
fs_git_dir(const char *root)
{
    char *git = fs_join(root, ".git"), *dir = NULL;
    struct buf text;
    bool found;
    if (fs_is_dir(git))
        return git;
    buf_init(&text, 8192);
    if (fs_read_if(git, 4096, &text, &found, NULL) && str_starts(buf_str(&text), "gitdir:")) {
        char *name = str_dup(str_trim(str_sub(buf_str(&text), 7, text.len)));
        dir = fs_normalize(root, name);
        free(name);
    }
    buf_release(&text);
    free(git);
    return dir;
}

char *
fs_join(const char *dir, const char *name)
{
    if (name[0] == '/')
        return xstrdup(name);
    size_t n = strlen(dir), len = strlen(name);
    bool slash = n == 0 || dir[n - 1] != '/';
    char *joined = xmalloc(n + slash + len + 1);
    memcpy(joined, dir, n);
    if (slash)
        joined[n] = '/';
    memcpy(joined + n + slash, name, len + 1);
    return joined;
}

char *
fs_dirname(const char *path)
{
    char *copy = xstrdup(path);
    char *dir = xstrdup(dirname(copy));
    free(copy);
    return dir;
}

const char *
fs_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Appends the components of path to out, which holds a clean absolute path without a closing slash. */
static void
add_components(struct buf *out, struct str path)
{
    for (size_t from = 0, end; from < path.len; from = end + 1) {
        for (end = from; end < path.len && path.ptr[end] != '/';)
            end++;
        struct str part = {path.ptr + from, end - from};
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            while (out->len && out->data[out->len - 1] != '/')
                buf_truncate(out, out->len - 1);
            if (out->len)
                buf_truncate(out, out->len - 1);
            continue;
        }
        buf_addc(out, '/');
        buf_add_str(out, part);
    }
}

char *
fs_normalize(const char *base, const char *path)
{
    struct buf out;
    buf_init(&out, BUF_MAX);
    buf_reserve(&out, strlen(base) + strlen(path) + 2);
    if (path[0] != '/')
        add_components(&out, str_from(base));
    add_components(&out, str_from(path));
    if (out.len == 0)
        buf_addc(&out, '/');
    return buf_take(&out);
}

/* Where the link at `path` points, seen from its folder; yours, NULL when it is none. */
static char *
link_target(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return NULL;
    target[n] = '\0';
    char *dir = fs_dirname(path), *next = fs_join(dir, target);
    free(dir);
    return next;
}

/* "/name" before what is there. */
static void
prepend(struct buf *tail, const char *name)
{
    struct buf joined;
    buf_init(&joined, tail->max);
    buf_addf(&joined, "/%s", name);
    buf_add_str(&joined, buf_str(tail));
    buf_release(tail);
    *tail = joined;
}

char *
fs_resolve(const char *path, struct err *err)
{
    char cwd[PATH_MAX];
    if (path[0] != '/' && !getcwd(cwd, sizeof cwd)) {
        err_sys(err, errno, "the working folder is gone");
        return NULL;
    }
    char *head = path[0] == '/' ? xstrdup(path) : fs_join(cwd, path);
    struct buf tail; /* missing components, in order */
    char *real = NULL;
    buf_init(&tail, PATH_MAX);
    for (int links = 0;;) {
        if ((real = realpath(head, NULL)) != NULL)
            break;
        if (errno != ENOENT && errno != ENOTDIR) {
            err_sys(err, errno, "cannot resolve '%s'", path);
            goto out;
        }
        /* A dangling link still says where a write would land. */
        char *next = link_target(head);
        if (next) {
            free(head);
            head = next;
            if (++links > 40) {
                err_sys(err, ELOOP, "cannot resolve '%s'", path);
                goto out;
            }
            continue;
        }
        char *slash = strrchr(head, '/');
        prepend(&tail, slash + 1);
        if (slash == head)
            slash++;
        *slash = '\0';
        if (buf_full(&tail)) {
            err_sys(err, ENAMETOOLONG, "cannot resolve '%s'", path);
            goto out;
        }
    }
    if (tail.len) {
        char *whole = fs_normalize(real, buf_cstr(&tail) + 1);
        free(real);
        real = whole;
    }
out:
    buf_release(&tail);
    free(head);
    return real;
}

const char *
fs_home(void)
{
    const char *home = getenv("HOME");
    if (home && home[0] == '/')
        return home;
    const struct passwd *pw = getpwuid(getuid());
    return pw && pw->pw_dir && pw->pw_dir[0] == '/' ? pw->pw_dir : "/";
}

char *
fs_slug(const char *path)
{
    struct buf out;
    buf_init(&out, 4096);
    for (const char *p = path; *p; p++) {
        bool alnum =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        buf_addc(&out, alnum ? *p : '-');
    }
    if (out.len > 200) {
        buf_truncate(&out, 200);
        buf_addf(&out, "-%016llx", (unsigned long long)str_hash(str_from(path)));
    }
    return buf_take(&out);
}
