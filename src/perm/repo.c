/* Which repository a git command speaks to: another one's configuration may run programs. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

static bool
has(const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    bool exists = fs_exists(path);
    free(path);
    return exists;
}

/* git takes a folder with these three for a repository even when it is not called .git. */
static bool
is_repo(const char *dir)
{
    return has(dir, ".git") || (has(dir, "HEAD") && has(dir, "objects") && has(dir, "refs"));
}

/* Is the repository that git would use in dir the project's own? */
static bool
repo_is_own(const struct chain *c, const char *dir)
{
    struct path_names n;
    path_names_init(&n, c->root, dir, false);
    bool own = n.n > 0 && !n.lost;
    char *root = path_resolve(c->root);
    /* Only the resolved place counts; the root is the first repository on the way up, or there is none at all. */
    char *at = own && root ? xstrdup(n.v[n.n - 1]) : NULL;
    own = at && path_inside(at, root, c->fold);
    while (own && strcmp(at, root) != 0) {
        if (is_repo(at)) {
            own = false;
            break;
        }
        char *up = fs_dirname(at);
        own = strlen(up) < strlen(at);
        free(at);
        at = up;
    }
    if (own && !has(root, ".git"))
        for (char *up; own && strcmp(at, "/") != 0; at = up) {
            up = fs_dirname(at);
            free(at);
            own = !is_repo(up);
        }
    free(at);
    free(root);
    path_names_release(&n);
    return own;
}

/* The next word is the value of that option. */
static bool
takes_value(struct str option)
{
    return str_is(option, "-c") || str_is(option, "--config-env") ||
           str_is(option, "--namespace") || str_is(option, "--super-prefix") ||
           str_is(option, "--attr-source");
}

char *
repo_git_folder(const struct perm_leaf *leaf, const char *from)
{
    char *dir = xstrdup(from);
    for (size_t i = 1; dir && i < leaf->n_argv; i++) {
        const struct perm_word *w = &leaf->argv[i];
        bool odd = !w->known || w->glob || str_starts(w->text, "--git-dir") ||
                   str_starts(w->text, "--work-tree") || str_starts(w->text, "--bare");
        if (!odd && !str_is(w->text, "-C")) {
            if (!w->text.len || w->text.ptr[0] != '-')
                break; /* the sub-command */
            i += takes_value(w->text);
            continue;
        }
        char *to = NULL;
        if (!odd && i + 1 < leaf->n_argv && leaf->argv[i + 1].known && !leaf->argv[i + 1].glob) {
            char *text = str_dup(leaf->argv[++i].text);
            to = fs_join(dir, text);
            free(text);
        }
        free(dir);
        dir = to;
    }
    return dir;
}

bool
repo_git_is_own(const struct chain *c, const struct perm_leaf *leaf)
{
    bool own = leaf->n_cwds > 0;
    for (size_t i = 0; i < leaf->n_cwds && own; i++) {
        const char *from = leaf->cwds[i];
        char *dir = repo_git_folder(leaf, from);
        char *real = dir && strcmp(dir, from) != 0 ? fs_resolve(dir, NULL) : xstrdup(dir);
        own = real && repo_is_own(c, real);
        free(real);
        free(dir);
    }
    return own;
}
