#include "perm/sandbox_tmp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/log.h"

enum { DEPTH_MAX = 200 };

bool
sandbox_tmp_make(const char *given, char **ret, bool *ret_own, struct err *err)
{
    const char *base = getenv("TMPDIR");
    *ret_own = false;
    if (given) {
        *ret = realpath(given, NULL);
        return *ret || err_sys(err, errno, "the sandbox cannot open its folder '%s'", given);
    }
    char *real = base && *base == '/' ? realpath(base, NULL) : NULL;
    char *made = xasprintf("%s/yare-XXXXXX", real ? real : "/tmp");
    free(real);
    if (!mkdtemp(made)) {
        err_sys(err, errno, "the sandbox cannot make its temporary folder '%s'", made);
        free(made);
        return false;
    }
    *ret = made;
    *ret_own = true;
    return true;
}

static void empty_folder(int fd, int depth);

static void
remove_entry(int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
        fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        empty_folder(fd, depth + 1);
    unlinkat(dir, name, AT_REMOVEDIR);
}

/* Takes fd. */
static void
empty_folder(int fd, int depth)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
        fchmod(fd, 0700);
    DIR *d = depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_entry(dirfd(d), e->d_name, depth);
    closedir(d);
}

void
sandbox_tmp_remove(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        empty_folder(fd, 0);
    if (rmdir(dir) < 0)
        log_warn("sandbox", "cannot remove '%s': %s", dir, strerror(errno));
}
