/*
 * A command that failed inside and kept quiet about it (curl -s, wget -q, 2>/dev/null). What it was told to do is read from its own words, as
 * the chain reads them, and the sandbox is named only where the way it ended is that program's way of saying so, or where a file that the
 * plan closes is what it was about.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "perm/confine.h"
#include "perm/leaf.h"
#include "perm/sandbox_blame.h"

static bool
is_program(const struct perm_leaf *l, const char *name)
{
    struct str s = l->n_argv && l->argv[0].known ? l->argv[0].text : STR("");
    size_t n = strlen(name);
    return str_is(s, name) || (s.len > n && s.ptr[s.len - n - 1] == '/' && str_ends(s, name));
}

static bool
has_word(const struct perm_leaf *l, const char *list)
{
    struct str rest = str_from(list), word;
    while (rest.len && str_split(&rest, ' ', &word))
        for (size_t i = 1; i < l->n_argv; i++)
            if (l->argv[i].known && str_eq(l->argv[i].text, word))
                return true;
    return false;
}

/* ---- the network ---- */

/* Programs by the exit codes that they keep for "no connection". Where a code says less (git's 128, 1), it has to have said nothing at all,
 * and to have been told one of these words. */
static const struct {
    const char *program, *words;
    int codes[4];
    bool mute;
} nets[] = {
    {"curl", "", {5, 6, 7, 97}, false},
    {"wget", "", {4, 4, 4, 4}, false},
    {"git", "fetch pull push clone ls-remote", {128, 1, 1, 1}, true},
    {"npm", "install i ci add update up view info audit publish outdated", {1, 1, 1, 1}, true},
    {"pnpm", "install i add update up", {1, 1, 1, 1}, true},
    {"yarn", "install add up", {1, 1, 1, 1}, true},
    {"pip", "install download", {1, 1, 1, 1}, true},
    {"pip3", "install download", {1, 1, 1, 1}, true},
    {"cargo", "fetch update install add", {101, 101, 101, 101}, true},
    {"ssh", "", {255, 255, 255, 255}, true},
    {"scp", "", {255, 1, 1, 1}, true},
    {"rsync", "", {255, 10, 12, 30}, true},
};

static bool
is_local(struct str s)
{
    static const char *const own[] = {
        "file:",       "localhost",    "127.",        "http://localhost", "https://localhost",
        "http://127.", "https://127.", "http://[::1]"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_starts(s, own[i]))
            return true;
    return s.len && (s.ptr[0] == '/' || s.ptr[0] == '.' || s.ptr[0] == '~');
}

/* A word that may name another machine; git and package managers know one without. */
static bool
names_machine(const struct perm_leaf *l, bool mute, bool *ret_local)
{
    bool far = mute;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (!l->argv[i].known || !s.len)
            far = true;
        else if (is_local(s))
            *ret_local = true;
        else if (s.ptr[0] != '-' && (str_contains(s, STR("://")) || str_contains(s, STR("."))))
            far = true;
    }
    return far;
}

static bool
net_leaf(const struct sandbox_plan *p, const struct perm_leaf *l, int code, bool silent,
         struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(nets); i++) {
        bool ends_so = false, local = false;
        for (size_t k = 0; k < ARRAY_LEN(nets[i].codes); k++)
            ends_so |= code == nets[i].codes[k];
        if (!ends_so || !is_program(l, nets[i].program) || (nets[i].mute && !silent) ||
            (nets[i].words[0] && !has_word(l, nets[i].words)))
            continue;
        bool far = names_machine(l, nets[i].mute, &local);
        if (local && !nets[i].mute && p->kind == SANDBOX_BWRAP) {
            buf_addf(out,
                     "%s ended with %d: in the sandbox the loopback is the command's own, and a "
                     "server that another command or program runs cannot be reached.",
                     nets[i].program, code);
            return true;
        }
        if (local || !far)
            return false;
        if (p->proxy_socket)
            buf_addf(out,
                     "%s ended with %d: the sandbox's network is its proxy, which lets through "
                     "only the hosts of sandbox.network.allowedDomains.",
                     nets[i].program, code);
        else
            buf_addf(
                out,
                "%s ended with %d%s: the sandbox has no network; sandbox.network.allowedDomains in "
                "the settings lets commands reach the hosts it names.",
                nets[i].program, code, silent ? " and said nothing" : "");
        return true;
    }
    return false;
}

/* ---- files ---- */

static bool
is_muted(const struct perm_leaf *l, struct str script)
{
    return str_contains(script, STR("/dev/null")) || str_contains(script, STR("2>&-")) ||
           has_word(l, "-q -s --quiet --silent -qs -sq");
}

static bool
file_leaf(const struct sandbox_plan *p, const struct sandbox_command *c, const struct perm_leaf *l,
          struct buf *out)
{
    for (size_t i = 0; i < l->n_effects; i++) {
        const struct perm_effect *e = &l->effects[i];
        bool read = e->kind == EFFECT_READ || e->kind == EFFECT_READ_TREE;
        bool write =
            e->kind == EFFECT_WRITE || e->kind == EFFECT_DELETE || e->kind == EFFECT_DELETE_TREE;
        char *path = NULL;
        if (!e->path || e->glob || !(read || write) || strncmp(e->path, "/dev/", 5) == 0)
            continue;
        enum blame b = sandbox_blame(p, c->cwd, str_from(e->path), &path);
        bool kept =
            b == BLAME_HIDDEN ||
            (write && (b == BLAME_PROTECTED || (b == BLAME_OUTSIDE && p->kind == SANDBOX_BWRAP)));
        if (kept)
            sandbox_blame_text(p, b, path, out);
        free(path);
        if (kept)
            return true;
    }
    return false;
}

/* The last that runs: the exit code is its own. */
static const struct perm_leaf *
last_leaf(const struct perm_analysis *a)
{
    for (size_t i = a->n_leaves; i-- > 0;)
        if (a->leaves[i].n_argv && a->leaves[i].role != LEAF_INNER)
            return &a->leaves[i];
    return NULL;
}

static bool
is_only_blank(struct str s)
{
    return str_trim(s).len == 0;
}

bool
sandbox_silent(const struct sandbox_plan *p, const struct sandbox_command *c, int wait_status,
               struct str output, struct buf *out)
{
    if (!c->script || !WIFEXITED(wait_status))
        return false;
    struct perm_analysis a;
    struct str script = str_from(c->script);
    const struct perm_shell_env env = {
        .cwd = c->cwd, .home = p->home, .root = p->root, .shell = "bash"};
    perm_shell_analyse(script, &env, &a);
    bool told = false;
    for (size_t i = 0; i < a.n_leaves && !told && !p->network; i++)
        told = net_leaf(p, &a.leaves[i], WEXITSTATUS(wait_status), is_only_blank(output), out);
    const struct perm_leaf *last = last_leaf(&a);
    if (!told && last && is_only_blank(output) && is_muted(last, script))
        told = file_leaf(p, c, last, out);
    perm_analysis_release(&a);
    return told;
}
