#include "tools/newfile.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "tools/text_file.h"

static mode_t mask = 022;
static pthread_once_t mask_once = PTHREAD_ONCE_INIT;

/* umask() can only be asked by setting it, which other threads would feel. */
static void
read_mask(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    unsigned m;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Umask: %o", &m) == 1)
            mask = (mode_t)m & 0777;
    if (f)
        fclose(f);
}

bool
new_file_create(const char *path, struct str bytes, int64_t *ret_mtime_ns, struct err *err)
{
    char *dir = fs_dirname(path);
    struct stat st;
    bool ok = fs_mkdirs(dir, 0777, err);

    free(dir);
    if (!ok)
        return false;
    if (lstat(path, &st) == 0)
        return err_set(err, ERR_STALE, "'%s' exists by now; read it first", path);
    pthread_once(&mask_once, read_mask);
    if (!fs_write_atomic(path, bytes, 0666 & ~mask, err))
        return false;
    if (lstat(path, &st) != 0)
        return err_sys(err, errno, "cannot look at '%s' after writing it", path);
    *ret_mtime_ns = text_file_mtime(&st);
    return true;
}
