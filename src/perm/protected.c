/* Places that are guarded in themselves: settings that run code later, yare's own files, devices, credentials, and what must
 * never be removed. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "perm/chain_ctx.h"

/* A component anywhere in the path. own: asked in bypass mode too. */
static const struct {
    const char *name;
    bool own;
    const char *what;
} names[] = {
    {".yare", true, "yare's own settings"},
    {".claude", true, "an agent's own settings"},
    {".claude.json", true, "an agent's own settings"},
    {".mcp.json", false, "tool servers that are started from here"},
    {".git", false, "the repository's own data and hooks"},
    {"git~1", false, "the repository's own data and hooks"},
    {".vscode", false, "the editor runs tasks from here"},
    {".idea", false, "the editor runs tasks from here"},
    {".husky", false, "git hooks"},
    {".devcontainer", false, "a container is built and started from here"},
    {".devcontainer.json", false, "a container is built and started from here"},
    {".cargo", false, "build settings that run programs"},
    {".yarn", false, "build settings that run programs"},
    {".mvn", false, "build settings that run programs"},
    {".envrc", false, "direnv runs it"},
    {".npmrc", false, "package settings that run programs"},
    {".yarnrc", false, "package settings that run programs"},
    {".yarnrc.*", false, "package settings that run programs"},
    {".pnp*", false, "package settings that run programs"},
    {"bunfig.toml", false, "package settings that run programs"},
    {".bazel*", false, "build settings that run programs"},
    {"gradle-wrapper.properties", false, "build settings that run programs"},
    {"maven-wrapper.properties", false, "build settings that run programs"},
    {".pre-commit-config.yaml", false, "git hooks"},
    {"lefthook*.yml", false, "git hooks"},
    {"lefthook*.yaml", false, "git hooks"},
    {"lefthook*.toml", false, "git hooks"},
    {".lefthook*", false, "git hooks"},
    {".ripgreprc", false, "settings that run programs"},
    {"pyrightconfig.json", false, "settings that run programs"},
    {".gitconfig", false, "git settings that run programs"},
    {".gitmodules", false, "git settings that run programs"},
    {".ssh", false, "keys and who may log in"},
    {".direnvrc", false, "a start-up file of the shell"},
    {".bashrc", false, "a start-up file of the shell"},
    {".bash_*", false, "a start-up file of the shell"},
    {".profile", false, "a start-up file of the shell"},
    {".zshrc", false, "a start-up file of the shell"},
    {".zshenv", false, "a start-up file of the shell"},
    {".zprofile", false, "a start-up file of the shell"},
    {".zlogin", false, "a start-up file of the shell"},
    {".zlogout", false, "a start-up file of the shell"},
    {".kshrc", false, "a start-up file of the shell"},
    {".cshrc", false, "a start-up file of the shell"},
    {".tcshrc", false, "a start-up file of the shell"},
    {".login", false, "a start-up file of the shell"},
    {".logout", false, "a start-up file of the shell"},
    {".inputrc", false, "a start-up file of the shell"},
    {".xprofile", false, "a start-up file of the desktop"},
    {".xinitrc", false, "a start-up file of the desktop"},
    {".xsession", false, "a start-up file of the desktop"},
    {".xsessionrc", false, "a start-up file of the desktop"},
    {".pam_environment", false, "a start-up file of the session"},
};
/* Two components. */
static const struct {
    const char *dir, *name, *what;
} pairs[] = {
    {".config", "git", "git settings that run programs"},
    {".config", "fish", "a start-up file of the shell"},
    {".config", "autostart", "a start-up file of the desktop"},
    {".config", "systemd", "services of the user"},
    {".config", "environment.d", "a start-up file of the session"},
};
static const char *const secrets[] = {
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/gh",
    ".config/gcloud",
    ".docker/config.json",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".claude/.credentials.json",
    ".bash_history",
    ".zsh_history",
    ".vault-token",
};

/* Names are compared without case everywhere: no project needs a ".GIT" of its own. A closing dot or blank is no
 * difference on some volumes. */
static bool
name_is(struct str part, const char *pattern)
{
    while (part.len > 1 && strchr(". ", part.ptr[part.len - 1]))
        part.len--;
    if (!strchr(pattern, '*'))
        return text_equal_fold(part, str_from(pattern));
    char *copy = str_dup(part);
    bool match = fnmatch(pattern, copy, FNM_CASEFOLD) == 0;
    free(copy);
    return match;
}

static const char *
parts_protected(const char *path, bool *ret_own)
{
    struct str rest = str_from(path), part, before = {0};
    const char *found = NULL;
    bool in_claude = false;
    *ret_own = false;
    while (str_split(&rest, '/', &part)) {
        if (!part.len)
            continue;
        /* Worktrees that an agent made are ordinary projects. */
        if (in_claude && str_is(part, "worktrees") && rest.ptr && memchr(rest.ptr, '/', rest.len)) {
            found = NULL;
            *ret_own = false;
            str_split(&rest, '/', &part);
        }
        in_claude = name_is(part, ".claude");
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (name_is(part, names[i].name) && (!found || names[i].own)) {
                found = names[i].what;
                *ret_own = *ret_own || names[i].own;
            }
        for (size_t i = 0; !found && before.len && i < ARRAY_LEN(pairs); i++)
            if (name_is(before, pairs[i].dir) && name_is(part, pairs[i].name))
                found = pairs[i].what;
        before = part;
    }
    return found;
}

const char *
path_name_protected(const char *path)
{
    bool own;
    return parts_protected(path, &own);
}

/* The part of a path below the folder that the person opened; the folders above are theirs. */
static const char *
below_roots(const struct chain *c, const char *path)
{
    const char *rest = path;
    for (size_t i = 0; i < c->n_roots; i++) {
        size_t n = strlen(c->roots[i]);
        if (n > 1 && path_inside(path, c->roots[i], c->fold) && path + n > rest)
            rest = path + n;
    }
    return rest;
}

const char *
path_protected(const struct chain *c, const char *path, bool tree, bool *ret_own)
{
    const char *what = parts_protected(below_roots(c, path), ret_own);
    for (size_t i = 0; i < c->n_own && !*ret_own; i++) {
        bool in_own = path_inside(path, c->own[i], true);
        bool worktree = in_own && strcmp(fs_basename(c->own[i]), ".claude") == 0 && !what &&
                        below_roots(c, path) > path + strlen(c->own[i]);
        if ((in_own && !worktree) || (tree && path_inside(c->own[i], path, true))) {
            *ret_own = true;
            what = "yare's own settings and data";
        }
    }
    return what;
}

bool
path_device_harmless(const char *path)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/stdin",
                                          "/dev/stdout", "/dev/stderr"};
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (strcmp(path, devices[i]) == 0)
            return true;
    return false;
}

/* /proc/self, /proc/123: environments, memory and links that lead anywhere. */
static bool
process_file(const char *path)
{
    if (strncmp(path, "/proc/", 6) != 0)
        return false;
    const char *s = path + 6;
    size_t digits = strspn(s, "0123456789");
    return (digits && (!s[digits] || s[digits] == '/')) || path_inside(path, "/proc/self", true) ||
           path_inside(path, "/proc/thread-self", true);
}

const char *
path_special(const char *path, bool write)
{
    if (process_file(path))
        return "a process's own files hold its environment and lead anywhere";
    if (path_inside(path, "/dev", false) && !path_inside(path, "/dev/shm", false) &&
        !path_device_harmless(path))
        return "it is a device, no file";
    if (write && (path_inside(path, "/proc", false) || path_inside(path, "/sys", false)))
        return "it changes the running system";
    return NULL;
}

const char *
path_secret(const struct chain *c, const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        char *dir = fs_join(c->home, secrets[i]);
        bool inside = path_inside(path, dir, true);
        free(dir);
        if (inside)
            return "it holds credentials";
    }
    if (path_inside(path, "/etc/shadow", false) || path_inside(path, "/root", false) ||
        path_inside(path, "/var/run/secrets", false) || path_inside(path, "/run/secrets", false))
        return "it holds credentials";
    return NULL;
}

/* ---- what must not be removed ---- */

static bool
is_first_level(const char *path)
{
    return !strchr(path + 1, '/');
}

/* dir is `of` or holds it. */
static bool
holds(const struct chain *c, const char *dir, const char *of)
{
    return of && path_inside(of, dir, c->fold);
}

/* A pattern for all that lies in a folder: that folder, yours, or NULL. */
static char *
whole_content(const char *path)
{
    const char *slash = strrchr(path, '/');
    static const char *const all[] = {"*", ".*", "**", "{*,.*}", ".[!.]*", "?*", "[!.]*", ".??*"};
    for (size_t i = 0; slash && i < ARRAY_LEN(all); i++)
        if (strcmp(slash + 1, all[i]) == 0)
            return slash == path ? xstrdup("/") : str_dup(str_make(path, (size_t)(slash - path)));
    return NULL;
}

static const char *
critical_folder(const struct chain *c, const char *dir)
{
    if (strcmp(dir, "/") == 0)
        return "the whole system";
    if (is_first_level(dir))
        return "a first-level folder of the system";
    return holds(c, dir, c->home) ? "the home folder" : NULL;
}

static bool
critical_project(const struct chain *c, const char *dir)
{
    for (size_t i = 0; i < c->n_roots; i++)
        if (holds(c, dir, c->roots[i]))
            return true;
    return false;
}

const char *
path_critical(const struct chain *c, const struct access *a, const char *path)
{
    char *content = a->glob ? whole_content(path) : NULL;
    const char *what = critical_folder(c, content ? content : path);
    if (!what && !a->by_name && critical_project(c, content ? content : path))
        what = "the project";
    if (!what && !content && !a->by_name &&
        (holds(c, path, c->cwd) || (a->cwd && holds(c, path, a->cwd))))
        what = "the working folder";
    free(content);
    return what;
}
