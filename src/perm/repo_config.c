/* What the project's own git configuration would make git run. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

#define CONFIG_MAX ((size_t)1 << 20)

/* The environment of commands already sets core.fsmonitor, core.pager and log.showSignature. */
static const char *const sections[] = {"filter", "include", "includeif", "gpg"};
static const char *const keys[] = {
    "external", "textconv",       "command", "hookspath",
    "worktree", "attributesfile", "driver", /* log --remerge-diff merges again */
    "promisor", "partialclone" /* missing objects are fetched */};

static bool
is_one_of(struct str word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (word.len == strlen(list[i]) && strncasecmp(word.ptr, list[i], word.len) == 0)
            return true;
    return false;
}

static struct str
word_of(struct str s)
{
    size_t n = 0;
    while (n < s.len && !strchr(" \t=.\"];#", s.ptr[n]))
        n++;
    return str_sub(s, 0, n);
}

static bool
line_runs(struct str line)
{
    line = str_trim(line);
    if (!line.len || line.ptr[0] == '#' || line.ptr[0] == ';')
        return false;
    if (line.ptr[0] != '[')
        return is_one_of(word_of(line), keys, ARRAY_LEN(keys));
    if (is_one_of(word_of(str_trim(str_sub(line, 1, line.len))), sections, ARRAY_LEN(sections)))
        return true;
    /* "[section "name"] key = value" may share a line, and the name may hold brackets */
    for (size_t end = str_find(line, ']', 0); end != (size_t)-1; end = str_find(line, ']', end + 1))
        if (is_one_of(word_of(str_trim(str_sub(line, end + 1, line.len))), keys, ARRAY_LEN(keys)))
            return true;
    return false;
}

static bool
file_runs(const char *dir, const char *name)
{
    struct buf text;
    bool found = false;
    char *path = fs_join(dir, name);
    buf_init(&text, CONFIG_MAX);
    bool runs = !fs_read_if(path, CONFIG_MAX, &text, &found, NULL);
    struct str rest = buf_str(&text), line;
    while (!runs && str_split(&rest, '\n', &line))
        runs = line_runs(line);
    buf_release(&text);
    free(path);
    return runs;
}

/* Reads "prefix<path>" from a file of one line; the path resolved against dir, NULL when it is not there. */
static char *
pointer(const char *dir, const char *name, const char *prefix)
{
    struct buf text;
    bool found = false;
    char *path = fs_join(dir, name), *to = NULL;
    buf_init(&text, 65536);
    if (fs_read_if(path, 65536, &text, &found, NULL) && found &&
        str_starts(buf_str(&text), prefix)) {
        char *target = str_dup(str_trim(str_sub(buf_str(&text), strlen(prefix), text.len)));
        to = fs_normalize(dir, target);
        free(target);
    }
    buf_release(&text);
    free(path);
    return to;
}

/* Even status and diff write the index when times have changed, and this hook runs then. */
static bool
hook_runs(const char *dir)
{
    char *path = fs_join(dir, "hooks/post-index-change");
    bool runs = access(path, X_OK) == 0;
    free(path);
    return runs;
}

bool
repo_config_runs_at(const char *root, int depth)
{
    char *git = fs_join(root, ".git");
    if (!fs_is_dir(git)) { /* a linked work tree or a submodule points to its folder */
        free(git);
        git = pointer(root, ".git", "gitdir: ");
        if (!git)
            return false; /* no repository at all */
    }
    char *common = pointer(git, "commondir", "");
    const char *shared = common ? common : git;
    bool runs = file_runs(shared, "config") || file_runs(git, "config.worktree") ||
                hook_runs(shared) || repo_modules_run(root, git, depth);
    free(common);
    free(git);
    return runs;
}

bool
repo_config_runs(const char *root)
{
    return repo_config_runs_at(root, 0);
}
