/* Is the sandbox what stands between a command and a path? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/protected.h"
#include "perm/sandbox_blame.h"

/* The longest of the list that holds path; 0: none. */
static size_t
depth_in(const struct sandbox_paths *l, const char *path)
{
    size_t best = 0;
    for (size_t i = 0; i < l->n; i++) {
        char *bare = xstrdup(l->v[i]);
        size_t n = strlen(bare);
        if (n > 1 && bare[n - 1] == '/')
            bare[--n] = '\0';
        if (fs_is_within(path, bare) && n > best)
            best = n;
        free(bare);
    }
    return best;
}

static enum blame
judge(const struct sandbox_plan *p, const char *path)
{
    bool bwrap = p->kind == SANDBOX_BWRAP;
    size_t writable = depth_in(&p->writable, path), hidden = depth_in(&p->unreadable, path);
    size_t kept = depth_in(&p->read_only, path), guarded = depth_in(&p->missing, path);
    if (fs_is_within(path, p->tmp))
        return BLAME_NOT;
    if (hidden > writable && hidden > depth_in(&p->readable, path))
        return BLAME_HIDDEN;
    if (bwrap && hidden)
        return BLAME_HIDDEN;
    if (bwrap && (kept > writable || (kept && kept == writable)))
        return BLAME_PROTECTED;
    if (bwrap && guarded > writable)
        return BLAME_PROTECTED;
    if (writable)
        return BLAME_NOT;
    if (bwrap && (fs_is_within(path, "/run") || fs_is_within(path, "/var/run")))
        return BLAME_RUN;
    if (bwrap && fs_is_within(path, "/tmp"))
        return BLAME_TMP;
    return BLAME_OUTSIDE;
}

enum blame
sandbox_blame(const struct sandbox_plan *p, const char *cwd, struct str word, char **ret_path)
{
    char *text = str_dup(word), *home = NULL;
    enum blame b = BLAME_NOT;
    if (text[0] == '~' && text[1] == '/')
        home = fs_normalize(p->home, text + 2);
    char *clean = home ? home : fs_normalize(cwd, text);
    char *real = fs_resolve(clean, NULL);
    if (strlen(text) < 4096 && clean[0] == '/')
        b = judge(p, real ? real : clean);
    free(real);
    free(text);
    if (b == BLAME_NOT) {
        free(clean);
        return b;
    }
    *ret_path = clean;
    return b;
}

/* Would it have worked without? By this program's own rights, which are the command's outside. */
bool
sandbox_writable_outside(const char *path)
{
    if (access(path, W_OK) == 0)
        return true;
    if (errno != ENOENT)
        return false;
    char *dir = fs_dirname(path);
    bool ok = access(dir, W_OK) == 0;
    free(dir);
    return ok;
}

void
sandbox_blame_text(const struct sandbox_plan *p, enum blame b, const char *path, struct buf *out)
{
    const char *what =
        protected_by_name(fs_is_within(path, p->root) ? path + strlen(p->root) : path);
    switch (b) {
    case BLAME_OUTSIDE:
        buf_addf(out,
                 "The sandbox lets commands write only below '%s'%s and TMPDIR; '%s' lies outside. "
                 "sandbox.filesystem.allowWrite in the settings opens a folder.",
                 p->root, p->writable.n > 1 ? ", the other writable folders" : "", path);
        break;
    case BLAME_PROTECTED:
        buf_addf(out,
                 "In the sandbox '%s' is read-only (%s) and no command may make, change or replace "
                 "it%s.",
                 path, what ? what : "a denyWrite or Edit deny rule names it",
                 what ? "; no setting lifts that for a sandboxed command" : "");
        break;
    case BLAME_HIDDEN:
        buf_addf(out,
                 "The sandbox hides '%s' (credentials, yare's own data, or a deny rule names it). "
                 "sandbox.filesystem.allowRead in the settings shows it to commands.",
                 path);
        break;
    case BLAME_RUN:
        buf_addf(out,
                 "The sandbox hides /run, and with it the sockets of the machine's services: '%s' "
                 "cannot be reached from a sandboxed command.",
                 path);
        break;
    case BLAME_TMP:
        buf_addf(out,
                 "In the sandbox /tmp is the commands' own folder ('%s' outside), so '%s' is not "
                 "there; sandbox.filesystem.allowRead or allowWrite in the settings shows it.",
                 p->tmp, path);
        break;
    case BLAME_NOT:
        break;
    }
}
