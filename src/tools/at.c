#include "tools/at.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "tools/text_file.h"
#include "tools/tool.h"

enum { TEMP_TRIES = 100 };

/* ---- names ---- */

static bool
was_judged(const struct tool_ctx *ctx, const char *real)
{
    for (const char *const *j = ctx->judged; *j; j++)
        if (strcmp(*j, real) == 0)
            return true;
    return false;
}

char *
at_resolve(const struct tool_ctx *ctx, const char *path, struct err *err)
{
    char *real = fs_resolve(path, err);
    if (!real || !ctx->judged || was_judged(ctx, real))
        return real;
    err_set(err, ERR_STALE,
            "'%s' changed between the decision and the use: it leads to another place now. Nothing "
            "was done; try again.",
            path);
    free(real);
    return NULL;
}

/* ---- opening ---- */

static bool
stale_link(const char *real, struct err *err)
{
    return err_set(err, ERR_STALE,
                   "'%s' changed between the decision and the use: a link stands in its path now. "
                   "Nothing was done; try again.",
                   real);
}

/* Kernels before 5.6, and sandboxes that do not know the call: component by component. */
static int
open_stepwise(const char *real, int flags)
{
    struct str rest = str_from(real), part;
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && str_split(&rest, '/', &part)) {
        if (!part.len)
            continue;
        bool last = !rest.ptr || !rest.len;
        char *name = str_dup(part);
        int next = openat(at, name, (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW);
        int saved = errno == ENOTDIR && !last ? ELOOP : errno;
        free(name);
        close(at);
        at = next;
        errno = saved;
    }
    return at;
}

static int
open_no_links(const char *real, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == E2BIG))
        return open_stepwise(real, flags | O_CLOEXEC);
    return (int)fd;
}

int
at_open(const char *real, int flags, struct err *err)
{
    int fd = open_no_links(real, flags);
    if (fd < 0 && errno == ELOOP)
        stale_link(real, err);
    else if (fd < 0)
        err_sys(err, errno, "cannot open '%s'", real);
    return fd;
}

/* The folder `path`, made when missing, its parents first. */
static int
folder_open(const char *path, bool make)
{
    int flags = O_RDONLY | O_DIRECTORY, fd = open_no_links(path, flags);
    if (fd >= 0 || errno != ENOENT || !make || strcmp(path, "/") == 0)
        return fd;
    char *up = fs_dirname(path);
    int parent = folder_open(up, true);
    free(up);
    if (parent < 0)
        return -1;
    const char *name = fs_basename(path);
    fd = mkdirat(parent, name, 0777) == 0 || errno == EEXIST
             ? openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC)
             : -1;
    int saved = errno;
    close(parent);
    errno = saved;
    return fd;
}

int
at_open_folder(const char *real, bool make, const char **ret_name, struct err *err)
{
    char *dir = fs_dirname(real);
    int fd = folder_open(dir, make);
    struct stat st;
    if (fd < 0 && (errno == ELOOP || (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))))
        stale_link(real, err);
    else if (fd < 0 && errno == ENOTDIR)
        err_set(err, ERR_INVALID, "'%s' is in the way: it is not a folder", dir);
    else if (fd < 0)
        err_sys(err, errno, make ? "cannot make the folder '%s'" : "cannot open the folder '%s'",
                dir);
    free(dir);
    *ret_name = fs_basename(real);
    return fd;
}

/* ---- writing ---- */

static int
make_temp(int dir, const char *name, char ret[300])
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        uint64_t r = 0;
        if (getrandom(&r, sizeof r, 0) != (ssize_t)sizeof r)
            return -1;
        snprintf(ret, 300, "%.240s.yare-%08x", name, (unsigned)r);
        int fd = openat(dir, ret, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static bool
fill(int fd, const char *shown, struct str bytes, const struct stat *old, mode_t mode,
     int64_t *ret_mtime_ns, struct err *err)
{
    struct stat st;
    /* Keeping the owner is best effort: only root can give files away. */
    if (old && fchown(fd, old->st_uid, old->st_gid) != 0 && errno != EPERM)
        return err_sys(err, errno, "cannot set the owner of '%s'", shown);
    if (fchmod(fd, old ? old->st_mode & 07777 : mode) != 0)
        return err_sys(err, errno, "cannot set the mode of '%s'", shown);
    if (!fs_write_all(fd, bytes, err))
        return err_wrap(err, "'%s'", shown);
    if (fdatasync(fd) != 0 || fstat(fd, &st) != 0)
        return err_sys(err, errno, "cannot sync '%s'", shown);
    *ret_mtime_ns = fs_mtime_ns(&st);
    return true;
}

/* Is what stands there the file that was looked at? */
static bool
is_old(int dir, const char *name, const struct stat *old)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           st.st_ino == old->st_ino && st.st_dev == old->st_dev &&
           fs_mtime_ns(&st) == fs_mtime_ns(old);
}

/* A rename puts the name there itself, whatever stands in its place: a link is replaced, never followed. */
static bool
put(int dir, const char *temp, const char *name, const char *shown, const struct stat *old,
    struct err *err)
{
    if (old && !is_old(dir, name, old))
        return err_set(err, ERR_STALE, "'%s' was changed at this very moment; read it again",
                       shown);
    if (old && faccessat(dir, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0)
        return err_sys(err, errno, "'%s' is not writable", shown);
    bool done = old ? renameat(dir, temp, dir, name) == 0
                    : renameat2(dir, temp, dir, name, RENAME_NOREPLACE) == 0;
    /* File systems without that flag: a second name, which also fails where something stands. */
    if (!done && !old && errno == EINVAL) {
        done = linkat(dir, temp, dir, name, 0) == 0;
        if (done)
            unlinkat(dir, temp, 0);
    }
    if (done)
        return true;
    if (!old && errno == EEXIST)
        return err_set(err, ERR_STALE, "'%s' exists by now; read it first", shown);
    return err_sys(err, errno, "cannot replace '%s'", shown);
}

bool
at_replace(int dir, const char *name, const char *shown, struct str bytes, const struct stat *old,
           mode_t mode, int64_t *ret_mtime_ns, struct err *err)
{
    char temp[300];
    int fd = make_temp(dir, name, temp);
    if (fd < 0)
        return err_sys(err, errno, "cannot write beside '%s'", shown);
    bool ok = fill(fd, shown, bytes, old, mode, ret_mtime_ns, err);
    if (close(fd) != 0 && ok)
        ok = err_sys(err, errno, "cannot write '%s'", shown);
    ok = ok && put(dir, temp, name, shown, old, err);
    if (ok)
        (void)fsync(dir); /* best effort: some file systems cannot */
    else
        unlinkat(dir, temp, 0);
    return ok;
}
