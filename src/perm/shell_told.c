/* Substitutions whose text is known, or of a kind that is: the folder a command tells of, and the names of revisions. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/repo.h"
#include "base/text.h"
#include "perm/looks.h"
#include "perm/shell.h"

/* $(COMMAND) or $(COMMAND 2>/dev/null): the leaf of the one simple command in it, which is known in full; NULL: something else. */
static const struct perm_leaf *
only_command(struct sh *sh, TSNode node, size_t first)
{
    const struct perm_leaf *l = leaf_at(sh, first);
    if (!l || sh->ret->n_leaves != first + 1 || ts_node_child_count(node) != 3 ||
        node_text(sh, node).ptr[0] == '`')
        return NULL;
    TSNode st = ts_node_child(node, 1);
    if (node_is(st, "redirected_statement")) {
        if (ts_node_child_count(st) != 2 ||
            !str_is(node_text(sh, ts_node_child(st, 1)), "2>/dev/null"))
            return NULL;
        st = ts_node_child(st, 0);
    }
    bool plain = node_is(st, "command") && l->n_argv && l->argv_known && l->name_known &&
                 !l->n_assigns && !l->bad_env && !funcs_have(sh, l->argv[0].text);
    return plain ? l : NULL;
}

static bool
words_are(const struct perm_leaf *l, const char *text)
{
    struct str rest = str_from(text), word;
    size_t i = 0;
    while (str_split(&rest, ' ', &word))
        if (i >= l->n_argv || l->argv[i].glob || !str_eq(l->argv[i++].text, word))
            return false;
    return i == l->n_argv;
}

/* ---- folders ---- */

static bool
read_small(const char *dir, const char *name, struct buf *ret)
{
    char *path = fs_join(dir, name);
    struct stat st;
    bool found = false;
    bool ok = lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
              fs_read_if(path, 65536, ret, &found, NULL) && found;
    free(path);
    return ok;
}

static bool
is_own_folder(const char *dir, const char *name)
{
    char *path = name ? fs_join(dir, name) : xstrdup(dir);
    struct stat st;
    bool is = lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
    free(path);
    return is;
}

static bool
head_is_sound(struct str s)
{
    s = str_trim(s);
    bool hex = s.len == 40 || s.len == 64;
    for (size_t i = 0; i < s.len; i++)
        hex = hex && strchr("0123456789abcdef", s.ptr[i]);
    return hex || (str_starts(s, "ref: refs/heads/") && !memchr(s.ptr + 5, ' ', s.len - 5));
}

/* Words that say where the work tree is, or what git may not know, in any case. */
static bool
is_odd_config(struct str text)
{
    static const char *const odd[] = {"worktree", "extensions", "include", "\\"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (text_has_fold(text, str_from(odd[i])))
            return true;
    return false;
}

/* Sections, "key = value" and comments, each on a line of its own; a repository that says of itself no more than that it is not bare. */
static bool
config_is_sound(struct str text)
{
    struct str line;
    if (is_odd_config(text))
        return false;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        if (!line.len || line.ptr[0] == '#' || line.ptr[0] == ';')
            continue;
        if (line.ptr[0] == '[') {
            if (str_find(line, ']', 0) != line.len - 1)
                return false;
            continue;
        }
        size_t eq = str_find(line, '=', 0);
        if (eq == (size_t)-1)
            return false;
        struct str key = str_trim(str_sub(line, 0, eq)),
                   value = str_trim(str_sub(line, eq + 1, line.len));
        if (text_equal_fold(key, STR("bare")) && !str_is(value, "false"))
            return false;
        if (text_equal_fold(key, STR("repositoryformatversion")) && !str_is(value, "0"))
            return false;
    }
    return true;
}

/* git takes the repository at `top` for one that is in order and this person's own, and its work tree is that folder. */
static bool
repo_is_sound(const char *top)
{
    char *git = fs_join(top, ".git");
    struct buf head, config;
    buf_init(&head, 65536);
    buf_init(&config, 65536);
    bool ok = is_own_folder(top, NULL) && is_own_folder(top, ".git") &&
              is_own_folder(git, "objects") && is_own_folder(git, "refs") &&
              read_small(git, "HEAD", &head) && head_is_sound(buf_str(&head)) &&
              read_small(git, "config", &config) && config_is_sound(buf_str(&config));
    char *common = fs_join(git, "commondir"), *own = fs_join(git, "config.worktree");
    ok = ok && !fs_exists(common) && !fs_exists(own);
    free(common);
    free(own);
    buf_release(&head);
    buf_release(&config);
    free(git);
    return ok;
}

bool
substitution_folder(struct sh *sh, TSNode node, size_t first, struct str *ret)
{
    const struct perm_leaf *l = only_command(sh, node, first);
    const struct cwdset *cwd = &sh->st.cwd;
    if (!l || cwd->n != 1 || cwd->unknown)
        return false;
    if (words_are(l, "pwd")) {
        *ret = str_from(cwd->dir[0]);
        return true;
    }
    if (!words_are(l, "git rev-parse --show-toplevel") || l->cls != CLASS_GIT_READ ||
        changed_before(sh, first))
        return false;
    char *top = repo_find_top(cwd->dir[0]), real[4096];
    bool known = top && repo_is_sound(top) && realpath(top, real);
    free(top);
    if (known)
        *ret = str_from(arena_dup(sh->a, real, strlen(real)));
    return known;
}

/* ---- revisions ---- */

/* No tag begins with a dash, which a program would take for an option. */
static bool
tags_are_plain(const char *top)
{
    char *git = fs_join(top, ".git"), *tags = fs_join(git, "refs/tags"),
         *packed = fs_join(git, "packed-refs");
    struct buf text;
    bool found = false;
    DIR *d = opendir(tags);
    buf_init(&text, 4 << 20);
    bool plain = d && fs_read_if(packed, 4 << 20, &text, &found, NULL) &&
                 !str_contains(buf_str(&text), STR("refs/tags/-"));
    for (struct dirent *e = plain ? readdir(d) : NULL; e && plain; e = readdir(d))
        plain = e->d_name[0] != '-' && may_walk(LOOK_NAME);
    if (d)
        closedir(d);
    buf_release(&text);
    free(packed);
    free(tags);
    free(git);
    return plain;
}

static bool
branch_is_plain(const char *top)
{
    char *git = fs_join(top, ".git");
    struct buf head;
    buf_init(&head, 65536);
    bool plain =
        read_small(git, "HEAD", &head) && !str_contains(buf_str(&head), STR("refs/heads/-"));
    buf_release(&head);
    free(git);
    return plain;
}

/* Names of refs hold no blank, no special of patterns and no colon, but nothing keeps a dash from standing in front. */
static bool
is_ref_name(struct sh *sh, const struct perm_leaf *l)
{
    static const char *const branches[] = {"git branch --show-current",
                                           "git rev-parse --abbrev-ref HEAD",
                                           "git symbolic-ref --short HEAD"};
    const struct cwdset *cwd = &sh->st.cwd;
    bool tag = words_are(l, "git describe --tags --abbrev=0"), branch = false;
    for (size_t i = 0; i < ARRAY_LEN(branches); i++)
        branch = branch || words_are(l, branches[i]);
    if ((!tag && !branch) || cwd->n != 1 || cwd->unknown)
        return false;
    char *top = repo_find_top(cwd->dir[0]);
    bool plain = top && repo_is_sound(top) && (tag ? tags_are_plain(top) : branch_is_plain(top));
    free(top);
    return plain;
}

/* "git log --format=%h" with options that choose commits alone: hashes, a line each. */
static bool
lists_hashes(const struct perm_leaf *l)
{
    static const char *const plain[] = {"--all", "--no-merges", "--merges", "--reverse",
                                        "--first-parent"};
    static const char *const valued[] = {
        "--since=", "--until=", "--author=", "--grep=", "--max-count="};
    static const char *const formats[] = {"--format=%h",        "--format=%H",
                                          "--pretty=%h",        "--pretty=%H",
                                          "--pretty=format:%h", "--pretty=format:%H"};
    bool hashes = false;
    if (l->n_argv < 3 || !str_is(l->argv[0].text, "git") || !str_is(l->argv[1].text, "log"))
        return false;
    for (size_t i = 2; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool ok = s.len && s.ptr[0] != '-' && !l->argv[i].glob, format = false;
        for (size_t k = 0; k < ARRAY_LEN(formats); k++)
            format = format || str_is(s, formats[k]);
        for (size_t k = 0; k < ARRAY_LEN(plain); k++)
            ok = ok || str_is(s, plain[k]) || str_starts(s, valued[k]);
        for (size_t k = 1; s.len > 1 && s.ptr[0] == '-' && k < s.len; k++)
            if (!(s.ptr[k] >= '0' && s.ptr[k] <= '9') && !(k == 1 && s.ptr[k] == 'n'))
                break;
            else
                ok = ok || k + 1 == s.len;
        if (!ok && !format)
            return false;
        hashes = hashes || format;
    }
    return hashes;
}

bool
substitution_revision(struct sh *sh, TSNode node, size_t first)
{
    static const char *const hashes[] = {
        "git rev-parse HEAD",     "git rev-parse --short HEAD", "git log -1 --format=%h",
        "git log -1 --format=%H", "git log -1 --pretty=%h",     "git log -1 --pretty=%H",
        "git rev-list -n 1 HEAD", "git rev-list -1 HEAD",
    };
    const struct perm_leaf *l = only_command(sh, node, first);
    if (!l || l->cls != CLASS_GIT_READ || changed_before(sh, first))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(hashes); i++)
        if (words_are(l, hashes[i]))
            return true;
    bool base =
        l->n_argv == 4 && str_is(l->argv[0].text, "git") && str_is(l->argv[1].text, "merge-base");
    for (size_t i = 2; base && i < 4; i++)
        base = l->argv[i].text.len && l->argv[i].text.ptr[0] != '-' && !l->argv[i].glob;
    return base || lists_hashes(l) || is_ref_name(sh, l);
}
