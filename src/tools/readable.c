#include "tools/readable.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"

void
readable_init(struct readable *a, const struct tool_ctx *ctx, const char *root)
{
    *a = (struct readable){.ctx = ctx, .root = root};
    if (!ctx->may_read)
        return;
    a->resolved = fs_resolve(root, NULL);
    if (a->resolved && strcmp(a->resolved, root) == 0) {
        free(a->resolved);
        a->resolved = NULL;
    }
}

void
readable_release(struct readable *a)
{
    free(a->resolved);
    a->resolved = NULL;
}

static char *
below(const char *folder, struct str rel)
{
    bool slash = rel.len && folder[strlen(folder) - 1] != '/';
    return xasprintf("%s%s%.*s", folder, slash ? "/" : "", (int)rel.len, rel.ptr ? rel.ptr : "");
}

static bool
may_read(const struct tool_ctx *ctx, const char *path)
{
    return ctx->may_read(ctx->user, path);
}

/* A link: what it leads to. One that leads nowhere has only its name. */
static bool
target_may_be_read(const struct tool_ctx *ctx, const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        return true;
    char *target = fs_resolve(path, NULL);
    bool yes = !target || may_read(ctx, target);
    free(target);
    return yes;
}

bool
readable_below(struct readable *a, struct str rel)
{
    if (!a->ctx->may_read)
        return true;
    char *named = below(a->root, rel);
    bool yes = may_read(a->ctx, named) && target_may_be_read(a->ctx, named);
    free(named);
    if (yes && a->resolved) {
        char *real = below(a->resolved, rel);
        yes = may_read(a->ctx, real);
        free(real);
    }
    if (!yes)
        atomic_fetch_add(&a->left_out, 1);
    return yes;
}

void
readable_tell(struct readable *a, struct buf *out)
{
    size_t n = atomic_load(&a->left_out);
    if (!n)
        return;
    buf_addf(out, "\n\n[%zu file%s left out by %s]", n, n == 1 ? "" : "s",
             a->ctx->kept_by ? a->ctx->kept_by : "a deny rule");
}
