#include "tools/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

enum { TRIES = 1000 };

/* Ids come from the network: only plain characters may become part of a name. */
static void
safe_name(const char *id, char out[65])
{
    size_t n = 0;

    for (; id && *id && n < 64; id++)
        if ((*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z') ||
            (*id >= '0' && *id <= '9') || *id == '_' || *id == '-')
            out[n++] = *id;
    out[n] = '\0';
    if (!n)
        memcpy(out, "result", 7);
}

int
spill_open(const struct tool_ctx *ctx, char **ret_path, struct err *err)
{
    char name[65];

    if (!ctx->spill_dir) {
        err_set(err, ERR_UNSUPPORTED, "there is no folder for long results");
        return -1;
    }
    if (!fs_mkdirs(ctx->spill_dir, 0700, err))
        return -1;
    safe_name(ctx->tool_use_id, name);
    for (int i = 0; i < TRIES; i++) {
        char *path = i ? xasprintf("%s/%s-%d.txt", ctx->spill_dir, name, i)
                       : xasprintf("%s/%s.txt", ctx->spill_dir, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            *ret_path = path;
            return fd;
        }
        int errnum = errno;
        if (errnum != EEXIST) {
            err_sys(err, errnum, "cannot make '%s'", path);
            free(path);
            return -1;
        }
        free(path);
    }
    err_set(err, ERR_LIMIT, "too many results of one call in '%s'", ctx->spill_dir);
    return -1;
}

char *
spill_text(const struct tool_ctx *ctx, struct str text, struct err *err)
{
    char *path = NULL;
    int fd = spill_open(ctx, &path, err);

    if (fd < 0)
        return NULL;
    bool ok = fs_write_all(fd, text, err);
    if (close(fd) != 0 && ok)
        ok = err_sys(err, errno, "cannot write '%s'", path);
    if (ok)
        return path;
    unlink(path);
    free(path);
    return NULL;
}
