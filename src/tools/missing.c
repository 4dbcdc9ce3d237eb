#include "tools/missing.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "tools/args.h"

enum { MAX_LOOKED_AT = 5000 };

static size_t
stem_len(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* A name in the same folder that differs in case or extension alone. Yours, or NULL. */
static char *
similar_name(const char *path)
{
    const char *name = fs_basename(path);
    char *dir_path = fs_dirname(path), *found = NULL;
    DIR *dir = opendir(dir_path);
    size_t stem = stem_len(name);
    const struct dirent *d;

    for (int i = 0; dir && !found && i < MAX_LOOKED_AT && (d = readdir(dir)); i++) {
        bool same_stem = stem_len(d->d_name) == stem && strncasecmp(d->d_name, name, stem) == 0;
        if (d->d_name[0] != '.' && (same_stem || strcasecmp(d->d_name, name) == 0))
            found = fs_join(dir_path, d->d_name);
    }
    if (dir)
        closedir(dir);
    free(dir_path);
    return found;
}

void
tool_fail_missing(const struct tool_ctx *ctx, struct tool_result *ret, const char *path)
{
    char *similar = similar_name(path);

    tool_result_fail(ret, "File does not exist: %s (the current folder is %s).", path, ctx->cwd);
    if (similar)
        buf_addf(&ret->text, " Did you mean %s?", tool_path_shown(similar, ctx->cwd));
    free(similar);
}
