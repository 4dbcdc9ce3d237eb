/* Placeholders. Their mark is a time nobody else sets and a mode that allows no writing: one left by a program that was shot is known again
 * and taken over. A shared lock on it says that somebody's mount stands on it; who gets the exclusive one is the last. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perm/sandbox_parts.h"

enum { MARK_TIME = 1, MARK_FILE_MODE = 0444, MARK_FOLDER_MODE = 0555, MARK_SIZE_MAX = 16 };

struct placed {
    char *path;
    int fd, refs;
    bool folder;
};
struct sandbox_marks {
    pthread_mutex_t lock; /* guards the rest */
    struct placed *v;
    size_t n, cap;
};

struct sandbox_marks *
marks_new(void)
{
    struct sandbox_marks *m = xcalloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

static bool
is_mark(const struct stat *st, bool *ret_folder)
{
    *ret_folder = S_ISDIR(st->st_mode);
    if (st->st_mtim.tv_sec != MARK_TIME || st->st_mtim.tv_nsec != 0 || st->st_uid != geteuid())
        return false;
    if (*ret_folder)
        return (st->st_mode & 07777) == MARK_FOLDER_MODE;
    return S_ISREG(st->st_mode) && (st->st_mode & 07777) == MARK_FILE_MODE &&
           st->st_size <= MARK_SIZE_MAX;
}

static int
open_mark(const char *path, bool folder)
{
    return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (folder ? O_DIRECTORY : 0));
}

/* Made under another name and moved into place, so that it never stands there without its mark. -1 with errno. */
static int
make(const char *path, bool folder, const char *content)
{
    char *beside = xasprintf("%s.yare-XXXXXX", path);
    const struct timespec times[2] = {{MARK_TIME, 0}, {MARK_TIME, 0}};
    int fd = -1;
    if (folder)
        fd = mkdtemp(beside) ? open_mark(beside, true) : -1;
    else
        fd = mkostemp(beside, O_CLOEXEC);
    bool ok = fd >= 0;
    if (ok && content)
        ok = write(fd, content, strlen(content)) == (ssize_t)strlen(content);
    ok = ok && fchmod(fd, folder ? MARK_FOLDER_MODE : MARK_FILE_MODE) == 0 &&
         futimens(fd, times) == 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 &&
         renameat2(AT_FDCWD, beside, AT_FDCWD, path, RENAME_NOREPLACE) == 0;
    int saved = errno;
    if (!ok && fd >= 0) {
        close(fd);
        if (folder)
            rmdir(beside);
        else
            unlink(beside);
        fd = -1;
    }
    free(beside);
    errno = saved;
    return fd;
}

/* Takes part in a placeholder that is there; -1: it is none (any more). */
static int
join(const char *path, bool *ret_folder)
{
    struct stat st, now;
    if (lstat(path, &st) < 0 || !is_mark(&st, ret_folder))
        return -1;
    int fd = open_mark(path, *ret_folder);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(fd, &st) == 0 && is_mark(&st, ret_folder) &&
        lstat(path, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev)
        return fd;
    close(fd);
    return -1;
}

static struct placed *
find(struct sandbox_marks *m, const char *path)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->v[i].path, path) == 0)
            return &m->v[i];
    return NULL;
}

static bool
place(struct sandbox_marks *m, const char *path, bool folder, const char *content, enum mark *ret,
      struct err *err)
{
    struct stat st;
    for (int tries = 0; tries < 20; tries++) {
        bool of_folder = folder;
        int fd = join(path, &of_folder);
        if (fd < 0 && lstat(path, &st) == 0) {
            bool ours = is_mark(&st, &of_folder);
            if (!ours) {
                *ret = MARK_REAL;
                return true;
            }
            usleep(1000); /* another program is taking it away right now */
            continue;
        }
        if (fd < 0)
            fd = make(path, folder, content);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0) {
            *ret = MARK_IMPOSSIBLE;
            return errno == EACCES || errno == EROFS || errno == EPERM || errno == ENOENT ||
                           errno == ENOTDIR
                       ? true
                       : err_sys(err, errno, "cannot keep '%s' from being made", path);
        }
        ARRAY_GROW(m->v, m->n, m->cap);
        m->v[m->n++] =
            (struct placed){.path = xstrdup(path), .fd = fd, .refs = 1, .folder = of_folder};
        *ret = MARK_PLACED;
        return true;
    }
    return err_set(err, ERR_SYS, "cannot keep '%s' from being made: it comes and goes", path);
}

bool
marks_acquire(struct sandbox_marks *m, const char *path, bool folder, const char *content,
              enum mark *ret, struct err *err)
{
    pthread_mutex_lock(&m->lock);
    struct placed *p = find(m, path);
    struct stat st, ours;
    bool ok = true;
    /* The person may have put something of their own there meanwhile. */
    if (p && lstat(path, &st) == 0 && fstat(p->fd, &ours) == 0 && st.st_ino == ours.st_ino) {
        p->refs++;
        *ret = MARK_PLACED;
    } else if (p) {
        *ret = MARK_REAL;
    } else {
        ok = place(m, path, folder, content, ret, err);
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}

static void
take_away(struct placed *p)
{
    struct stat st, now;
    bool folder;
    if (flock(p->fd, LOCK_EX | LOCK_NB) == 0 && fstat(p->fd, &st) == 0 && is_mark(&st, &folder) &&
        lstat(p->path, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev) {
        if (folder)
            rmdir(p->path);
        else
            unlink(p->path);
    }
    close(p->fd);
    free(p->path);
}

void
marks_release(struct sandbox_marks *m, const char *path)
{
    pthread_mutex_lock(&m->lock);
    struct placed *p = find(m, path);
    if (p && --p->refs == 0) {
        take_away(p);
        *p = m->v[--m->n];
    }
    pthread_mutex_unlock(&m->lock);
}

void
marks_free(struct sandbox_marks *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        take_away(&m->v[i]);
    free(m->v);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
