/* Places that are guarded in themselves: settings that run code later, yare's own files, devices, credentials, and what must
 * never be removed. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "perm/chain_ctx.h"
#include "perm/overlap.h"
#include "perm/protected.h"

/* A component anywhere in the path. own: asked in bypass mode too. guard: must not come to be where a confined command may write: in
 * the top folder of a project (kept by an empty folder, whatever it would be: git and `git add` see none), or in the home folder. */
enum guard { UNGUARDED, PROJECT, HOME_FILE, HOME_FOLDER };
static const struct {
    const char *name;
    bool own;
    const char *what;
    enum guard guard;
} names[] = {
    {".yare", true, "yare's own settings", PROJECT},
    {".claude", true, "an agent's own settings", PROJECT},
    {".claude.json", true, "an agent's own settings", HOME_FILE},
    {".mcp.json", false, "tool servers that are started from here", PROJECT},
    {".git", false, "the repository's own data and hooks", PROJECT},
    {"git~1", false, "the repository's own data and hooks", UNGUARDED},
    {".vscode", false, "the editor runs tasks from here", PROJECT},
    {".idea", false, "the editor runs tasks from here", PROJECT},
    {".husky", false, "git hooks", PROJECT},
    {".devcontainer", false, "a container is built and started from here", UNGUARDED},
    {".devcontainer.json", false, "a container is built and started from here", UNGUARDED},
    {".cargo", false, "build settings that run programs", UNGUARDED},
    {".yarn", false, "build settings that run programs", UNGUARDED},
    {".mvn", false, "build settings that run programs", UNGUARDED},
    {".envrc", false, "direnv runs it", PROJECT},
    {".npmrc", false, "package settings that run programs", PROJECT},
    {".yarnrc", false, "package settings that run programs", UNGUARDED},
    {".yarnrc.*", false, "package settings that run programs", UNGUARDED},
    {".pnp*", false, "package settings that run programs", UNGUARDED},
    {"bunfig.toml", false, "package settings that run programs", UNGUARDED},
    {".bazel*", false, "build settings that run programs", UNGUARDED},
    {"gradle-wrapper.properties", false, "build settings that run programs", UNGUARDED},
    {"maven-wrapper.properties", false, "build settings that run programs", UNGUARDED},
    {".pre-commit-config.yaml", false, "git hooks", UNGUARDED},
    {"lefthook*.yml", false, "git hooks", UNGUARDED},
    {"lefthook*.yaml", false, "git hooks", UNGUARDED},
    {"lefthook*.toml", false, "git hooks", UNGUARDED},
    {".lefthook*", false, "git hooks", UNGUARDED},
    {".ripgreprc", false, "settings that run programs", UNGUARDED},
    {"pyrightconfig.json", false, "settings that run programs", UNGUARDED},
    {".gitconfig", false, "git settings that run programs", HOME_FILE},
    {".gitmodules", false, "git settings that run programs", UNGUARDED},
    {".ssh", false, "keys and who may log in", HOME_FOLDER},
    {".direnvrc", false, "a start-up file of the shell", HOME_FILE},
    {".bashrc", false, "a start-up file of the shell", HOME_FILE},
    {".bash_profile", false, "a start-up file of the shell", HOME_FILE},
    {".bash_login", false, "a start-up file of the shell", HOME_FILE},
    {".bash_*", false, "a start-up file of the shell", UNGUARDED},
    {".profile", false, "a start-up file of the shell", HOME_FILE},
    {".zshrc", false, "a start-up file of the shell", HOME_FILE},
    {".zshenv", false, "a start-up file of the shell", HOME_FILE},
    {".zprofile", false, "a start-up file of the shell", HOME_FILE},
    {".zlogin", false, "a start-up file of the shell", HOME_FILE},
    {".zlogout", false, "a start-up file of the shell", UNGUARDED},
    {".kshrc", false, "a start-up file of the shell", HOME_FILE},
    {".cshrc", false, "a start-up file of the shell", UNGUARDED},
    {".tcshrc", false, "a start-up file of the shell", UNGUARDED},
    {".login", false, "a start-up file of the shell", HOME_FILE},
    {".logout", false, "a start-up file of the shell", UNGUARDED},
    {".inputrc", false, "a start-up file of the shell", HOME_FILE},
    {".xprofile", false, "a start-up file of the desktop", HOME_FILE},
    {".xinitrc", false, "a start-up file of the desktop", UNGUARDED},
    {".xsession", false, "a start-up file of the desktop", UNGUARDED},
    {".xsessionrc", false, "a start-up file of the desktop", UNGUARDED},
    {".pam_environment", false, "a start-up file of the session", HOME_FILE},
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
    ".config/git/credentials",
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
static const char *const system_secrets[] = {"/etc/shadow",      "/etc/gshadow", "/etc/shadow-",
                                             "/etc/ssl/private", "/root",        "/var/run/secrets",
                                             "/run/secrets"};

static char
lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch + 'a' - 'A') : ch;
}

/* Names are compared without case everywhere: no project needs a ".GIT" of its own. A closing dot or blank is no
 * difference on some volumes. */
static bool
name_is(struct str part, const char *pattern)
{
    /* Nearly all differ in their first letter, which no pattern leaves open. One that is no ASCII may still fold to it. */
    if (!part.len || ((unsigned char)part.ptr[0] < 0x80 && lower(part.ptr[0]) != lower(pattern[0])))
        return false;
    while (part.len > 1 && strchr(". ", part.ptr[part.len - 1]))
        part.len--;
    if (!strchr(pattern, '*'))
        return text_equal_fold(part, str_from(pattern));
    char *copy = str_dup(part);
    bool match = fnmatch(pattern, copy, FNM_CASEFOLD) == 0;
    free(copy);
    return match;
}

/* before: the part in front of the path, or nothing. */
static const char *
parts_protected(struct str before, const char *path, bool *ret_own)
{
    struct str rest = str_from(path), part;
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
        /* Asked of every file: nearly all differ in their first letter (as name_is sees it), which the table has in lower case. */
        char first = (unsigned char)part.ptr[0] < 0x80 ? lower(part.ptr[0]) : '\0';
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if ((!first || first == names[i].name[0]) && name_is(part, names[i].name) &&
                (!found || names[i].own)) {
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
    return parts_protected((struct str){0}, path, &own);
}

/* A working copy in there is an ordinary project: those that an agent made, and those of git. */
static bool
is_worktree(const char *root, size_t end, bool own)
{
    if (own)
        return strncmp(root + end, "/worktrees/", 11) == 0 && root[end + 11];
    char *git = fs_join(root, ".git");
    bool has = root[end] && fs_exists(git);
    free(git);
    return has;
}

/* How much of a root does not count: the folders above are the person's. But what is guarded in itself stays so when it was opened,
 * and so does what lies in settings or in the repository's own folder. */
static size_t
root_length(const char *root)
{
    size_t n = strlen(root);
    for (size_t from = 0, end; from < n; from = end) {
        while (root[from] == '/')
            from++;
        end = from + strcspn(root + from, "/");
        if (root[from] != '.' && (unsigned char)root[from] < 0x80)
            continue;
        bool own = false;
        char *name = str_dup(str_make(root + from, end - from));
        bool guarded = parts_protected((struct str){0}, name, &own) &&
                       (own || end == n || name_is(str_from(name), ".git"));
        free(name);
        if (guarded && !is_worktree(root, end, own))
            return from;
    }
    return n;
}

/* The part of a path that is judged by its names: below the outermost of the folders that were opened. */
static const char *
below_roots(const struct chain *c, const char *path)
{
    const char *rest = NULL;
    for (size_t i = 0; i < c->n_roots; i++) {
        if (strlen(c->roots[i]) <= 1 || !path_inside(path, c->roots[i], c->fold))
            continue;
        const char *from = path + root_length(c->roots[i]);
        if (!rest || from < rest)
            rest = from;
    }
    return rest ? rest : path;
}

const char *
path_pattern_protected(const struct chain *c, const char *pattern, bool *ret_own)
{
    struct str rest = str_from(below_roots(c, pattern)), part;
    const char *found = NULL;
    while (str_split(&rest, '/', &part))
        for (size_t i = 0; part.len && i < ARRAY_LEN(names); i++)
            if (names[i].name[0] == '.' && (!found || names[i].own) &&
                path_overlap(str_from(names[i].name), part, false, true)) {
                found = names[i].what;
                *ret_own = *ret_own || names[i].own;
            }
    return found;
}

/* The last part of what stands before rest. */
static struct str
part_before(const char *path, const char *rest)
{
    size_t end = (size_t)(rest - path), from;
    while (end > 0 && path[end - 1] == '/')
        end--;
    for (from = end; from > 0 && path[from - 1] != '/';)
        from--;
    return str_make(path + from, end - from);
}

const char *
path_protected(const struct chain *c, const char *path, bool tree, bool *ret_own)
{
    const char *below = below_roots(c, path);
    const char *what = parts_protected(part_before(path, below), below, ret_own);
    const struct own_dirs *own = chain_own(c);
    for (size_t i = 0; i < own->n && !*ret_own; i++) {
        bool in_own = path_inside(path, own->v[i], true);
        bool worktree = in_own && strcmp(fs_basename(own->v[i]), ".claude") == 0 && !what &&
                        below > path + strlen(own->v[i]);
        if ((in_own && !worktree) || (tree && path_inside(own->v[i], path, true))) {
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

bool
path_leads_anywhere(const char *path)
{
    return process_file(path) || path_inside(path, "/dev/fd", false);
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
    for (size_t i = 0; i < ARRAY_LEN(system_secrets); i++)
        if (path_inside(path, system_secrets[i], false))
            return "it holds credentials";
    return NULL;
}

/* ---- the same as lists ---- */

const char *
protected_by_name(const char *path)
{
    bool own;
    return parts_protected((struct str){0}, path, &own);
}

bool
protected_guarded(size_t i, struct protected_name *ret)
{
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        enum guard g = names[n].guard;
        if (g != UNGUARDED && i-- == 0) {
            *ret = (struct protected_name){.name = names[n].name,
                                           .folder = g != HOME_FILE,
                                           .home_only = g == HOME_FILE || g == HOME_FOLDER};
            return true;
        }
    }
    return false;
}

const char *const *
secret_home_names(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(secrets);
    return secrets;
}

const char *const *
secret_system_paths(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(system_secrets);
    return system_secrets;
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

/* A folder that the command may run in, or what that lies in. */
static bool
holds_working_folder(const struct chain *c, const struct access *a, const char *path)
{
    bool any = holds(c, path, c->cwd) || (a->cwd && holds(c, path, a->cwd));
    for (size_t i = 0; a->leaf && i < a->leaf->n_cwds && !any; i++)
        any = holds(c, path, a->leaf->cwds[i]);
    return any;
}

const char *
path_critical(const struct chain *c, const struct access *a, const char *path)
{
    char *content = a->glob ? whole_content(path) : NULL;
    char *real = content ? path_resolve(content) : NULL; /* link to home, then all in it */
    const char *what = critical_folder(c, content ? content : path);
    if (!what && real)
        what = critical_folder(c, real);
    if (!what && !a->by_name && critical_project(c, content ? content : path))
        what = "the project";
    if (!what && !content && !a->by_name && holds_working_folder(c, a, path))
        what = "the working folder";
    free(real);
    free(content);
    return what;
}
